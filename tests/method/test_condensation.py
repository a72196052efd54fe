"""Subspace condensation between its limits: nothing active is the reduced solver, everything active the full one."""

import numpy as np
import pytest
from condensation_helpers import Fixed, sparse_model, tip
from helpers import DOWN
from reduced_helpers import beam, complete_model, modal_model, run

from supple.elastic import Damping
from supple.method import FullSolver
from supple.method.condensation import CondensationSolver
from supple.method.condensation_region import Ground
from supple.method.reduced import ReducedSolver
from supple.solve import Grab, NodalForce, SetStiffness

H = 0.01


def everything(body) -> np.ndarray:
    return np.setdiff1d(np.arange(len(body.mass)), body.pins.vertices)


def gap(body, one: np.ndarray, other: np.ndarray) -> float:
    """Difference of positions relative to the largest displacement."""
    return np.abs(one - other).max() / np.abs(other - body.mesh.vertices).max()


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_empty_region_is_the_reduced_solver(integrator: str) -> None:
    body = beam()
    model = sparse_model(body)
    settings = {"integrator": integrator, "tolerance": 1e-8}
    reduced = ReducedSolver(body, model, **settings)
    solver = CondensationSolver(body, model, oracle=Fixed([]), **settings)
    one, other = (run(s, H, 5, DOWN)[-1] for s in (solver, reduced))
    np.testing.assert_array_equal(solver.positions(one), reduced.positions(other))


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_complete_region_is_the_full_solver(integrator: str) -> None:
    """The first step is that of the condensed core, later ones are handed over."""
    body = beam()
    settings = {"integrator": integrator, "tolerance": 1e-8}
    full = FullSolver(body, **settings)
    solver = CondensationSolver(body, sparse_model(body), oracle=Fixed(everything(body)), **settings)
    ones, others = (run(s, H, 4, DOWN) for s in (solver, full))
    for one, other in zip(ones[1:], others[1:], strict=True):
        assert gap(body, solver.positions(one), other.x) < 1e-6


def events(body):
    corner = tuple(int(v) for v in body.mesh.tets[-1][:3])
    return {1: (Grab("g", corner, (0.2, 0.3, 0.5), (1.2, 0.5, 0.3), 200.0),), 3: (SetStiffness(0.6),)}


@pytest.mark.parametrize("weights", ["subtract", "paper"])
@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_with_a_complete_basis_any_region_is_the_full_solver(integrator: str, weights) -> None:
    """Regions come and go in every step; forces, a grab, damping and stiffness act on both sides of their borders."""
    body = beam(damping=Damping(mass=1.0))
    ground = Ground(body, modal_model(body, 1).basis)
    regions = [tip(ground, n) for n in (1, 9, 3, 14, 2, 30)]
    push = NodalForce(np.array([3, 40], np.int32), np.array([0.4, 0.6]), np.array([0.0, 20.0, 5.0]))
    settings = {"integrator": integrator, "tolerance": 1e-7}
    full = FullSolver(body, **settings)
    solver = CondensationSolver(body, complete_model(body), oracle=Fixed(*regions), weights=weights, **settings)
    ones, others = (run(s, H, 6, DOWN, push, events=events(body)) for s in (solver, full))
    for one, other in zip(ones[1:], others[1:], strict=True):
        assert gap(body, solver.positions(one), other.x) < 2e-5


def test_damping_by_stiffness_with_a_complete_basis() -> None:
    body = beam(damping=Damping(stiffness=0.01))
    ground = Ground(body, modal_model(body, 1).basis)
    # Coordinates that move nothing but full vertices see a stiffness of single precision only
    full = FullSolver(body, tolerance=1e-5)
    solver = CondensationSolver(body, complete_model(body), oracle=Fixed(tip(ground, 9)), tolerance=1e-5)
    one, other = (run(s, H, 5, DOWN)[-1] for s in (solver, full))
    assert gap(body, solver.positions(one), other.x) < 1e-4


def test_random_regions_every_step_stay_stable() -> None:
    """500 steps in which vertices become full and return at random: nothing is fed into the motion."""
    body = beam(damping=Damping(mass=0.5))
    model, rng = modal_model(body, 6), np.random.default_rng(0)
    free = everything(body)
    regions = [np.sort(rng.choice(free, rng.integers(0, len(free) // 2), replace=False)) for _ in range(500)]
    solver = CondensationSolver(body, model, oracle=Fixed(*regions), tolerance=1e-3)
    states = run(solver, H, 500, DOWN)
    heights = np.array([solver.positions(state, free)[:, 1].min() for state in states])
    assert np.isfinite(heights).all()
    assert np.ptp(heights[400:]) < 0.2 * np.ptp(heights)


def test_checkpoint_goes_on_bit_for_bit() -> None:
    body = beam()
    ground = Ground(body, sparse_model(body).basis)
    regions = [tip(ground, n) for n in (4, 9, 2)]
    solver = CondensationSolver(body, sparse_model(body), oracle=Fixed(*regions))
    states = run(solver, H, 6, DOWN)
    again = run(solver, H, 3, DOWN, begin=solver.unpack(solver.pack(states[3])))
    np.testing.assert_array_equal(solver.positions(again[-1]), solver.positions(states[-1]))
