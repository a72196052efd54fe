"""Generalized-α: second order, a spectral radius of one half, and no energy from nothing."""

from itertools import pairwise

import numpy as np
import pytest
from helpers import interval
from reduced_helpers import beam, spinning

from supple.elastic import Body
from supple.errors import SceneError
from supple.material import StableNeoHookean
from supple.method import CondensationSolver, FullSolver, PaperSkippingSolver, ReducedSolver, SkippingSolver
from supple.shape import make_shape
from supple.solve import Gravity
from supple.solve.integrator import generalized_alpha


def swing(ratio: float, count: int) -> list[float]:
    """Displacements of an oscillator of 1 rad/s in steps of `ratio` rad, that begins at 1."""
    x, v, a, found = np.array([1.0]), np.zeros(1), np.array([-1.0]), []
    for _ in range(count):
        motion = generalized_alpha(x, v, a, ratio)
        end = motion.ca * motion.xa / (motion.ca + 1.0)
        x, v, a = end, motion.velocity(end), motion.end_acceleration(motion.acceleration(end))
        found.append(float(x[0]))
    return found


def test_it_is_of_second_order() -> None:
    errors = [abs(swing(1.0 / count, count)[-1] - np.cos(1.0)) for count in (20, 40, 80)]
    for coarse, fine in pairwise(errors):
        assert 1.9 < np.log2(coarse / fine) < 2.1


def test_what_is_much_faster_than_a_step_halves_in_each() -> None:
    sizes = np.abs(swing(1e6, 40))
    growth = (sizes[-1] / sizes[9]) ** (1.0 / 30)
    assert growth == pytest.approx(0.5, rel=0.08)  # a double root: its powers fall as k / 2^k
    assert max(sizes) <= 10.0


@pytest.mark.parametrize("axis", [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("young", [1e5, 1e6])
def test_a_free_cylinder_that_spins_gains_no_energy(axis: tuple[float, float, float], young: float) -> None:
    body = Body.build(make_shape("cylinder", elements=234), StableNeoHookean(young=young))
    most = {}
    for integrator in ("newmark", "generalized_alpha"):
        solver = FullSolver(body, integrator=integrator, tolerance=1e-6)
        x = body.mesh.vertices
        state = solver.from_full(x, spinning(body, 20.0 * np.array(axis)), np.zeros_like(x))
        energies = []
        for k in range(24):
            inputs = interval(body, k / 24, (k + 1) / 24)
            measured = solver.measure(state, inputs)
            energies.append(measured.kinetic_energy + measured.elastic_energy)
            state, _ = solver.step(state, inputs)
        most[integrator] = max(energies) / energies[0]
    assert most["newmark"] > 2.0, "nothing to cure"
    assert most["generalized_alpha"] < 1.01


def test_a_body_at_rest_under_its_weight_stays_there() -> None:
    body, down = beam(), Gravity(np.array([0.0, -9.81, 0.0]))
    rest, _ = FullSolver(body, integrator="static", tolerance=1e-8).step(
        FullSolver(body, integrator="static").start(), interval(body, 0.0, 1.0, down)
    )
    solver = FullSolver(body, integrator="generalized_alpha", tolerance=1e-8)
    state = solver.from_full(rest.x, np.zeros_like(rest.x), np.zeros_like(rest.x))
    for k in range(5):
        state, _ = solver.step(state, interval(body, 0.02 * k, 0.02 * (k + 1), down))
    assert np.abs(state.x - rest.x).max() < 1e-6 * np.abs(rest.x - body.mesh.vertices).max()


def test_methods_that_lack_it_say_so() -> None:
    body = beam()
    from reduced_helpers import modal_model

    for make in (
        lambda: ReducedSolver(body, modal_model(body, 4), integrator="generalized_alpha"),
        lambda: CondensationSolver(body, modal_model(body, 4), integrator="generalized_alpha"),
        lambda: SkippingSolver(body, integrator="generalized_alpha"),
        lambda: PaperSkippingSolver(body, integrator="generalized_alpha"),
    ):
        with pytest.raises(SceneError, match="not known in this method: use one of implicit_euler"):
            make()
