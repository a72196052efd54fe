"""Steps can be halved without changing what they prescribe."""

import numpy as np

from supple.solve import AddPin, Gravity, Inputs, Moment, NodalForce
from supple.solve.forces import external_force
from supple.solve.integrator import implicit_euler, newmark


def test_halves_meet_in_the_middle_and_events_belong_to_the_first() -> None:
    force = [NodalForce(np.array([0, 2], np.int32), np.array([0.5, 0.5]), np.array([f, 0.0, 0.0])) for f in (2.0, 4.0)]
    gravity = [Gravity(np.array([0.0, g, 0.0])) for g in (0.0, -10.0)]
    begin = Moment(1.0, np.zeros((1, 3)), (gravity[0], force[0]))
    end = Moment(2.0, np.ones((1, 3)), (gravity[1], force[1]))
    first, second = Inputs(begin, end, (AddPin((0,)),)).halves()
    assert first.events
    assert not second.events
    assert first.end.time == second.begin.time == 1.5
    assert np.array_equal(first.end.targets, np.full((1, 3), 0.5))
    total = external_force(first.end.forces, np.array([1.0, 2.0, 3.0]))
    assert np.allclose(total, [[1.5, -5.0, 0.0], [0.0, -10.0, 0.0], [1.5, -15.0, 0.0]])


def test_integrators_reproduce_constant_acceleration() -> None:
    x, v, a, h = np.zeros((1, 3)), np.ones((1, 3)), np.full((1, 3), 2.0), 0.1
    end = newmark(x, v, a, h)
    arrived = x + h * v + 0.5 * h**2 * a
    assert np.allclose(end.acceleration(arrived), a)
    assert np.allclose(end.velocity(arrived), v + h * a)
    end = implicit_euler(x, v, a, h)
    arrived = x + h * (v + h * a)
    assert np.allclose(end.acceleration(arrived), a)
    assert np.allclose(end.velocity(arrived), v + h * a)
