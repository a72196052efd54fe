"""Subspace condensation between its limits: nothing active is the reduced solver, everything active the full one."""

import numpy as np
import pytest
from condensation_helpers import Fixed, make_step, random_rule, sparse_model, tip
from helpers import DOWN
from reduced_helpers import beam, complete_model, modal_model, run

from supple.elastic import Damping
from supple.linalg import bordered_solver
from supple.linalg.orthonormal import orthonormalise
from supple.method import FullSolver
from supple.method.condensation.region import Ground
from supple.method.condensation.solver import CondensationSolver
from supple.method.condensation.state import CondensedState, fold_back
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.state import ReducedState
from supple.solve import Grab, Inputs, Moment, NodalForce, SetStiffness
from supple.subspace import Basis, linear_modes

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


def test_direct_and_iterative_solves_end_in_the_same_place(monkeypatch) -> None:
    """Statics with most of a body full, and no more than a factor's own iterations once there is one."""
    body = beam()
    found, counts = [], []
    for long in (1e3, 0.0):
        monkeypatch.setattr(bordered_solver, "LONG", long)
        region = Fixed(everything(body)[1::2])
        solver = CondensationSolver(body, sparse_model(body), oracle=region, integrator="static", tolerance=1e-8)
        begin, end = (Moment(time, body.mesh.vertices[body.pins.vertices], (DOWN,)) for time in (0.0, H))
        inputs = Inputs(begin, end)
        state, report = solver.step(solver.start(inputs), inputs)
        found.append(solver.positions(state))
        counts.append(report.linear_iterations / report.newton_iterations)
    assert gap(body, *found) < 1e-6
    assert counts[1] < 0.5 * counts[0]


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


def test_vertices_that_come_and_go_keep_the_momentum_of_a_free_body() -> None:
    """Translations are in the span, so that the nearest motion has the same momentum; inner forces have none."""
    body, rng = beam(pins=None), np.random.default_rng(0)
    shifts = np.tile(np.eye(3), (len(body.mass), 1))
    columns = orthonormalise(np.column_stack([shifts, linear_modes(body, 5).columns]), np.repeat(body.mass, 3))
    basis = Basis(columns, body.mass, "shifts and modes", np.ones(columns.shape[1]))
    ground, full = Ground(body, basis), np.sort(rng.choice(len(body.mass), 20, replace=False)).astype(np.int32)
    q = 0.1 * rng.standard_normal((3, basis.rank))
    motion = rng.standard_normal((3, 20, 3))
    motion[0] = 0.01 * motion[0] + ground.rest[full]
    state = CondensedState(ReducedState(0.0, q), full, motion, np.zeros(20, np.int32))

    def momentum(one: CondensedState) -> np.ndarray:
        return body.mass @ one.place(ground, level=1)

    for keep in (rng.random(20) < 0.5, np.zeros(20, bool)):
        np.testing.assert_allclose(momentum(fold_back(state, ground, keep)), momentum(state), rtol=1e-9)
    more = ground.cut(np.union1d(full, [0, 1, 2, 3]))
    grown = state._replace(full=more.full, motion=state.gather(more))
    np.testing.assert_allclose(momentum(grown), momentum(state), rtol=1e-12)
    step, z = make_step(
        more, ReducedModel(basis, random_rule(body, 12), np.zeros((3 * len(body.mass), 0)), 1e9), h=None
    )
    shift = np.concatenate([np.tile([1.0, 0.0, 0.0], len(more.full)), basis.project(shifts[:, 0].reshape(-1, 3))])
    forces = step.terms(z)["elastic force"]
    assert abs(forces @ shift) < 1e-9 * np.abs(forces) @ np.abs(shift)


def test_checkpoint_goes_on_bit_for_bit() -> None:
    body = beam()
    ground = Ground(body, sparse_model(body).basis)
    regions = [tip(ground, n) for n in (4, 9, 2)]
    solver = CondensationSolver(body, sparse_model(body), oracle=Fixed(*regions))
    states = run(solver, H, 6, DOWN)
    again = run(solver, H, 3, DOWN, begin=solver.unpack(solver.pack(states[3])))
    np.testing.assert_array_equal(solver.positions(again[-1]), solver.positions(states[-1]))
