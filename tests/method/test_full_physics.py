"""The full solver against mechanics: momentum, theory of beams and bars, energy, order in time."""

from itertools import pairwise

import numpy as np
import pytest
from helpers import DOWN, interval, simulate, total_energy

from supple.elastic import Body, Damping, Pins
from supple.material import Linear, StableNeoHookean, StVK
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment, NodalForce, RemovePin


def bar(resolution: int, width=0.1, material=None, axes: str = "xyz", **options) -> Body:
    """A bar of 1 m along x, held at x = 0."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, width, width), resolution)
    low = mesh.bounds()[0][0]
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < low + 1e-9), axes) if axes else Pins.none()
    return Body.build(mesh, material or Linear(young=1e6, poisson=0.0), pins, **options)


def test_free_flight_keeps_linear_momentum_to_round_off() -> None:
    mesh = make_shape("box", resolution=3)
    body = Body.build(mesh, StableNeoHookean(young=1e5))
    for integrator in ("implicit_euler", "newmark"):
        solver = FullSolver(body, integrator=integrator, tolerance=1e-8)
        x = mesh.vertices
        v = np.array([1.0, 2.0, -0.5]) + 0.8 * np.random.default_rng(0).normal(size=x.shape)
        states, _ = simulate(solver, solver.from_full(x, v, np.zeros_like(x)), 0.01, 20)
        momenta = np.array([body.mass @ s.v for s in states])
        assert np.abs(momenta - momenta[0]).max() < 1e-10 * np.abs(body.mass[:, None] * v).sum()


def test_free_fall_follows_the_parabola_of_the_integrator() -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean())
    solver, h, steps = FullSolver(body), 0.01, 30
    states, _ = simulate(solver, solver.start(interval(body, 0.0, h, DOWN)), h, steps, DOWN)
    fall = body.mass @ (states[-1].x - states[0].x) / body.mass.sum()
    assert np.allclose(fall, [0.0, -9.81 * h**2 * steps * (steps + 1) / 2, 0.0], atol=1e-9)


def test_bar_under_its_own_weight_extends_as_theory_says() -> None:
    # Hanging along -x: extension of the tip is ρ g L² / (2 E)
    errors = []
    for n in (5, 10, 20):
        body = bar(n, 0.2)
        solver = FullSolver(body, integrator="static", tolerance=1e-10)
        pull = Gravity(np.array([9.81, 0.0, 0.0]))
        state, _ = solver.step(solver.start(), interval(body, 0.0, 1.0, pull))
        tip = body.mesh.vertices[:, 0] > body.mesh.bounds()[1][0] - 1e-9
        extension = float((state.x - body.mesh.vertices)[tip, 0].mean())
        errors.append(abs(extension / (1000.0 * 9.81 / (2e6)) - 1.0))
    assert errors[-1] < 0.01
    assert errors[0] > errors[1] > errors[2]


def test_cantilever_deflection_converges_to_beam_theory() -> None:
    # A small end load: δ = F L³ / (3 E I) (1 + shear); linear tets are too stiff and soften with refinement
    width, force = 0.1, -0.01
    inertia = width**4 / 12
    shear = force / (5 / 6 * 5e5 * width**2)
    theory = force / (3 * 1e6 * inertia) + shear
    errors = []
    for n in (2, 4, 6):
        body = bar(10 * n, width)
        tip = np.flatnonzero(body.mesh.vertices[:, 0] > body.mesh.bounds()[1][0] - 1e-9).astype(np.int32)
        load = NodalForce(tip, np.full(len(tip), 1 / len(tip)), np.array([0.0, force, 0.0]))
        solver = FullSolver(body, integrator="static", tolerance=1e-8)
        state, _ = solver.step(solver.start(), interval(body, 0.0, 1.0, load))
        errors.append(1.0 - float((state.x - body.mesh.vertices)[tip, 1].mean()) / theory)
    assert errors[0] > errors[1] > errors[2] > -0.01
    rate = np.log(errors[0] / errors[2]) / np.log(3.0)
    assert rate > 1.3, f"errors {errors}"
    assert errors[2] < 0.12


def test_free_bar_rings_at_the_frequency_of_theory() -> None:
    # First longitudinal mode of a free bar, f = c / (2 L), from zero crossings under Newmark
    body = bar(24, 1 / 12, axes="")
    solver = FullSolver(body, integrator="newmark", tolerance=1e-8)
    x = body.mesh.vertices
    middle = x[:, 0] - x[:, 0].mean()
    v = np.zeros_like(x)
    v[:, 0] = 1e-3 * np.sin(np.pi * middle)
    period = 2 * 1.0 / np.sqrt(1e6 / 1000.0)
    h = period / 80
    states, _ = simulate(solver, solver.from_full(x, v, np.zeros_like(x)), h, 90)
    shape = np.sin(np.pi * middle) * body.mass
    signal = np.array([shape @ s.v[:, 0] for s in states])
    times = np.arange(len(signal)) * h
    sign = np.flatnonzero(np.diff(np.sign(signal)))
    crossings = times[sign] - signal[sign] * h / (signal[sign + 1] - signal[sign])
    found = 2 * float(np.diff(crossings)[0])
    assert abs(found / period - 1) < 0.01


def test_implicit_euler_never_gains_energy_and_newmark_keeps_it() -> None:
    mesh = make_shape("box", resolution=3)
    body = Body.build(mesh, StableNeoHookean(young=1e5))
    x = mesh.vertices * [1.3, 0.9, 0.9]
    still = np.zeros_like(x)
    euler = FullSolver(body, tolerance=1e-8)
    states, _ = simulate(euler, euler.from_full(x, still, still), 0.005, 25)
    energies = np.array([total_energy(body, s) for s in states])
    assert (np.diff(energies) <= 1e-9 * energies[0]).all()
    assert energies[-1] < 0.9 * energies[0]
    newmark = FullSolver(body, integrator="newmark", tolerance=1e-8)
    start = newmark.from_full(x, still, body.forces(x) / body.mass[:, None])
    states, _ = simulate(newmark, start, 0.002, 60)
    energies = np.array([total_energy(body, s) for s in states])
    assert np.abs(energies / energies[0] - 1).max() < 0.05


@pytest.mark.parametrize(("integrator", "order"), [("implicit_euler", 1), ("newmark", 2)])
def test_integrators_converge_at_their_order(integrator: str, order: int) -> None:
    body = bar(5, 0.2, StVK(young=1e5, poisson=0.3))
    ends = []
    for steps in (40, 80, 160):
        solver, h = FullSolver(body, integrator=integrator, tolerance=1e-9), 0.1 / steps
        states, _ = simulate(solver, solver.start(interval(body, 0.0, h, DOWN)), h, steps, DOWN)
        ends.append(states[-1].x)
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    observed = np.log2(errors[-2] / errors[-1])
    assert abs(observed - order) < 0.25, f"order {observed:.2f}"


@pytest.mark.parametrize("damping", [Damping(mass=3.0), Damping(stiffness=0.02)])
def test_damping_takes_energy_that_newmark_would_keep(damping: Damping) -> None:
    body, calm = bar(6, 0.2), bar(6, 0.2, damping=damping)
    x = body.mesh.vertices * [1.01, 1.0, 1.0]
    ends = []
    for one in (body, calm):
        solver = FullSolver(one, integrator="newmark", tolerance=1e-8)
        states, _ = simulate(solver, solver.from_full(x, 0 * x, 0 * x), 0.005, 40)
        ends.append(total_energy(one, states[-1]))
    assert ends[1] < 0.8 * ends[0]


def test_mass_damping_slows_a_free_body_at_its_rate() -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean(), damping=Damping(mass=2.0))
    solver, h = FullSolver(body, integrator="newmark", tolerance=1e-9), 0.01
    x = body.mesh.vertices
    v = np.tile([1.0, 0.0, 0.0], (len(x), 1))
    states, _ = simulate(solver, solver.from_full(x, v, -2.0 * v), h, 50)
    assert np.allclose(states[-1].v[:, 0], np.exp(-2.0 * 0.5), rtol=1e-4)


def test_pin_along_one_axis_slides_along_the_others() -> None:
    body = bar(5, 0.2, axes="y")
    solver = FullSolver(body)
    push = Gravity(np.array([1.0, -1.0, 0.0]))
    states, _ = simulate(solver, solver.start(), 0.01, 10, push)
    held = body.pins.vertices
    assert np.array_equal(states[-1].x[held, 1], body.mesh.vertices[held, 1])
    assert (states[-1].x[held, 0] > body.mesh.vertices[held, 0] + 1e-3).all()


@pytest.mark.parametrize("steps", [9, 10])
@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_released_body_keeps_the_speed_its_pins_gave_it(integrator: str, steps: int) -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean(), Pins.of(np.arange(27)))
    solver, h, speed = FullSolver(body, integrator=integrator), 0.01, np.array([0.0, 0.0, 1.0])
    rest, state = body.mesh.vertices, solver.start()
    assert len(rest) == 27
    for k in range(steps):
        moments = [Moment(h * j, rest + h * j * speed) for j in (k, k + 1)]
        state, _ = solver.step(state, Inputs(*moments))
        assert np.allclose(state.v, speed)
    let_go = (RemovePin(tuple(range(27))),)
    for k in range(steps, steps + 10):
        moments = [Moment(h * j, rest) for j in (k, k + 1)]
        state, _ = solver.step(state, Inputs(*moments, let_go if k == steps else ()))
    assert np.allclose(state.v, speed, atol=1e-6)


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_damping_does_not_slow_a_body_that_is_carried_along(integrator: str) -> None:
    body = bar(5, 0.2, StableNeoHookean(young=1e5), damping=Damping(stiffness=0.05))
    solver, h, speed = FullSolver(body, integrator=integrator, tolerance=1e-8), 0.01, np.array([0.0, 1.0, 0.0])
    x = body.mesh.vertices
    state, targets = solver.from_full(x, np.tile(speed, (len(x), 1)), 0 * x), x[body.pins.vertices]
    for k in range(20):
        moments = [Moment(h * j, targets + h * j * speed) for j in (k, k + 1)]
        state, _ = solver.step(state, Inputs(*moments))
    assert np.abs(state.x - x - 0.2 * speed).max() < 1e-6


def test_damping_does_not_slow_a_spinning_body() -> None:
    """Newmark keeps the spin of an undamped body; stiffness damping may take what stretches it, and no more."""
    h, spins = 1.0 / 48.0, []
    for damping in (0.0, 0.005):
        body = Body.build(make_shape("box", resolution=3), StableNeoHookean(young=1e5), damping=Damping(0.0, damping))
        x, mass = body.mesh.vertices, body.mass
        arms = x - mass @ x / mass.sum()
        solver = FullSolver(body, integrator="newmark", tolerance=1e-7)
        states, _ = simulate(solver, solver.from_full(x, np.cross([1.0, 2.0, 6.0], arms), 0 * x), h, 24)
        at = states[-1].x - mass @ states[-1].x / mass.sum()
        spins.append(float(np.linalg.norm(mass @ np.cross(at, states[-1].v))))
    begin = float(np.linalg.norm(mass @ np.cross(arms, np.cross([1.0, 2.0, 6.0], arms))))
    assert spins[1] == pytest.approx(begin, rel=0.01)
    assert spins[1] == pytest.approx(spins[0], rel=0.01)


def test_uniform_velocity_changes_neither_iterations_nor_relative_motion() -> None:
    body = Body.build(make_shape("box", resolution=3), StableNeoHookean(young=1e5))
    x = body.mesh.vertices * [1.1, 1.0, 1.0]
    runs = []
    for speed in (0.0, 1000.0):
        solver = FullSolver(body)
        v = np.tile([speed, 0.0, 0.0], (len(x), 1))
        states, reports = simulate(solver, solver.from_full(x, v, 0 * x), 1e-3, 5, DOWN)
        runs.append((states[-1].x - [speed * 5e-3, 0.0, 0.0], [r.newton_iterations for r in reports]))
    assert runs[0][1] == runs[1][1]
    assert min(runs[0][1]) >= 1
    assert np.abs(runs[0][0] - runs[1][0]).max() < 1e-6


def test_gravity_acts_however_short_the_step() -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean())
    solver = FullSolver(body)
    states, _ = simulate(solver, solver.start(), 1e-7, 3, DOWN)
    assert np.allclose(states[-1].v[:, 1], -9.81 * 3e-7, rtol=1e-3)
