import numpy as np
import pytest
from projective_helpers import bar, reference_step, sheet, span
from scipy.spatial.transform import Rotation

from supple.constraint import Shell, TetVolume, tet_stencils
from supple.elastic import Damping, Pins
from supple.errors import ArgumentError, SceneError
from supple.mesh import TetMesh
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.method.hyperreduced.model import HyperReducedModel, SpaceSizes, prepare_spaces
from supple.method.hyperreduced.solver import HyperReducedSolver
from supple.method.projective.solver import ProjectiveSolver
from supple.solve import (
    AddPin,
    Grab,
    Gravity,
    Move,
    NodalForce,
    Release,
    RemovePin,
    SetGravity,
    SetStiffness,
    SetVolume,
)
from supple.subspace.projection_fit import fit_projections
from supple.subspace.projection_space import complete_space
from supple.subspace.skinning_space import skinning_space

DOWN = (Gravity(np.array([0.0, 0.0, -9.81])),)
SMALL = SpaceSizes(handles=8, radius=1.5, clusters=20)
FITTED = SpaceSizes(handles=8, radius=1.5, functions=8, samples=150, projection="fit")
both = pytest.mark.parametrize("sizes", [SMALL, FITTED])


def unfitted(body, handles: int, radius: float = 1.5) -> HyperReducedModel:
    """A model that evaluates every constraint."""
    graph = Geodesics.along(body.vertices, body.cells)
    space = skinning_space(graph, body.mass, spread_points(graph, handles), handles, multiplier=radius)
    every = [np.arange(len(c.stencils)) for c in body.constraints]
    return HyperReducedModel.build(
        space,
        tuple(fit_projections(c, complete_space(c), space, e) for c, e in zip(body.constraints, every, strict=True)),
    )


def twisted(body, rate: float = 1.0) -> np.ndarray:
    x = body.vertices - [0.0, 0.125, 0.125]
    c, s = np.cos(rate * x[:, 0]), np.sin(rate * x[:, 0])
    return np.stack([x[:, 0], c * x[:, 1] - s * x[:, 2], s * x[:, 1] + c * x[:, 2]], 1)


def run(solver, state, steps: int, h: float = 0.01, forces=DOWN, **rest):
    for k in range(steps):
        state, _ = solver.step(state, span(k, h, forces, **rest))
    return state


@pytest.mark.parametrize("damping", [Damping(), Damping(2.0, 0.01)])
def test_every_vertex_a_handle_equals_unreduced_projective_dynamics(damping: Damping) -> None:
    body = bar(4, damping=damping)
    solver = HyperReducedSolver(
        body, unfitted(body, len(body.vertices)), iterations=6, convergence=0.0, precision="double"
    )
    x, v = twisted(body), np.zeros_like(body.vertices)
    state, push = solver.from_full(x, v, v), body.mass[:, None] * DOWN[0].acceleration
    for k in range(3):
        state, _ = solver.step(state, span(k, 0.01, DOWN))
        x, v = reference_step(body, x, v, 0.01, push, 6)
    np.testing.assert_allclose(solver.positions(state), x, rtol=0, atol=1e-10)
    np.testing.assert_allclose(solver.to_full(state)[1], v, rtol=0, atol=1e-8)


@pytest.mark.parametrize("body", [bar(4), bar(4, skin=Shell(young=1e5, thickness=2e-3)), sheet(8)])
def test_all_constraints_evaluated_equal_projective_dynamics_in_the_subspace(body) -> None:
    model = unfitted(body, 5)
    solver = HyperReducedSolver(body, model, iterations=5, convergence=0.0, precision="double")
    space = model.positions
    x = space.lift(space.project(body.vertices @ np.diag([1.1, 0.95, 1.0])))
    v = np.zeros_like(x)
    state, push = solver.from_full(x, v, v), body.mass[:, None] * DOWN[0].acceleration
    for k in range(3):
        state, _ = solver.step(state, span(k, 0.01, DOWN))
        x, v = reference_step(body, x, v, 0.01, push, 5, space)
    np.testing.assert_allclose(solver.positions(state), x, rtol=0, atol=1e-9)


@both
@pytest.mark.parametrize(("precision", "digits"), [("single", 2e-6), ("double", 1e-12)])
def test_a_body_at_rest_stays_and_a_turned_one_too(precision, digits: float, sizes: SpaceSizes) -> None:
    body = bar()
    solver = HyperReducedSolver(body, prepare_spaces(body, sizes), precision=precision)
    turn = Rotation.from_rotvec([1.0, 2.0, -0.5]).as_matrix()
    for x in (body.vertices, body.vertices @ turn + [5.0, 0.0, 0.0]):
        still = np.zeros_like(x)
        state = run(solver, solver.from_full(x, still, still), 10, forces=())
        np.testing.assert_allclose(solver.positions(state), x, rtol=0, atol=digits)


@both
def test_linear_momentum_is_kept_to_round_off_in_free_flight(sizes: SpaceSizes) -> None:
    body = bar()
    solver = HyperReducedSolver(body, prepare_spaces(body, sizes))
    rng = np.random.default_rng(0)
    v = np.cross([3.0, 1.0, 2.0], body.vertices) + rng.normal(size=body.vertices.shape) + [1.0, 0.0, 4.0]
    state = solver.from_full(twisted(body, 2.0), v, np.zeros_like(v))
    before = body.mass @ solver.to_full(state)[1]
    state = run(solver, state, 50, forces=())
    np.testing.assert_allclose(body.mass @ solver.to_full(state)[1], before, rtol=0, atol=1e-12 * np.abs(before).max())


def test_a_body_let_go_begins_to_spin_no_more_than_implicit_euler_makes_it() -> None:
    # Exact steps leave some too: without torque m x(t+h) × (v(t+h) - v(t)) adds up to 0, and h m v(t+h) × v(t) is left
    body = bar(12)
    sizes = SpaceSizes(handles=20, samples=300, projection="fit")
    fitted, clusters = (HyperReducedSolver(body, prepare_spaces(body, one)) for one in (sizes, SpaceSizes(handles=20)))
    x = twisted(body, 2.0) + 0.2 * body.vertices[:, :1] ** 2 * [0.0, 0.0, 1.0]
    spins = []
    for solver in (ProjectiveSolver(body), fitted, clusters):
        state, angular, motion = solver.from_full(x, 0 * x, 0 * x), 0.0, 0.0
        for k in range(20):
            state, _ = solver.step(state, span(k, 0.01))
            here, v, _ = solver.to_full(state)
            spin = np.cross(here - body.mass @ here / body.mass.sum(), v)
            angular = max(angular, float(np.linalg.norm(body.mass @ spin)))
            motion = max(motion, float(body.mass @ np.linalg.norm(spin, axis=1)))
        spins.append(angular / motion)
    assert spins[0] < 5e-3
    assert spins[1] < 1.4 * spins[0]  # without a remedy the fit spins it to 0.2
    assert spins[2] < 1.1 * spins[0]


def test_a_fall_is_that_of_implicit_euler() -> None:
    body = bar()
    solver = HyperReducedSolver(body, prepare_spaces(body, SMALL))
    state = run(solver, solver.start(), 20, h=0.02)
    centre = body.mass @ (solver.positions(state) - body.vertices) / body.mass.sum()
    np.testing.assert_allclose(centre, [0.0, 0.0, -9.81 * 0.02**2 * 210], rtol=0, atol=1e-12)


def test_runs_are_reproducible_and_go_on_from_what_was_packed() -> None:
    body = bar(skin=Shell(young=1e5, thickness=2e-3))
    one, two = (HyperReducedSolver(body, prepare_spaces(body, SMALL)) for _ in range(2))
    grab = Grab("hand", (0, 1), (0.5, 0.5), (0.2, 0.3, 0.4), 50.0)
    start = one.from_full(twisted(body), np.ones_like(body.vertices), np.zeros_like(body.vertices))
    middle = run(one, start, 3, events=(grab, SetStiffness(2.0)))
    end = run(one, middle, 3)
    again = run(two, two.unpack({k: v.copy() for k, v in one.pack(middle).items()}), 3)
    for key, value in one.pack(end).items():
        np.testing.assert_array_equal(value, two.pack(again)[key])


@both
def test_pins_hold_and_move_along_their_axes(sizes: SpaceSizes) -> None:
    rest = bar().vertices
    left, right = np.flatnonzero(rest[:, 0] == 0.0), np.flatnonzero(rest[:, 0] == 1.0)
    pins = Pins.merge([Pins.of(left), Pins.of(right, "z")])
    body = bar(pins=pins)
    solver = HyperReducedSolver(body, prepare_spaces(body, sizes))
    targets = rest[pins.vertices].copy()
    targets[np.isin(pins.vertices, right), 2] += 0.1
    state = run(solver, solver.start(span(0, 0.01, DOWN, targets)), 200, targets=targets)
    x = solver.positions(state)
    np.testing.assert_allclose(x[left], rest[left], rtol=0, atol=1e-4)
    np.testing.assert_allclose(x[right, 2], rest[right, 2] + 0.1, rtol=0, atol=1e-4)
    assert x[right, 0].mean() < rest[right, 0].mean() - 1e-3  # free to follow along x


def test_a_hanging_bar_sags_as_the_unreduced_one() -> None:
    pins = Pins.of(np.flatnonzero(bar().vertices[:, 0] == 0.0))
    body = bar(pins=pins, damping=Damping(5.0, 0.0))
    solver = HyperReducedSolver(body, unfitted(body, len(body.vertices)), iterations=20)
    fitted = HyperReducedSolver(
        body, prepare_spaces(body, SpaceSizes(handles=20, radius=2.0, samples=300, projection="fit")), iterations=20
    )
    targets = body.vertices[pins.vertices]
    tips = []
    for one in (solver, fitted):
        state = run(one, one.start(), 150, h=0.02, targets=targets)
        tips.append((one.positions(state) - body.vertices)[:, 2].min())
    assert tips[0] < -0.02
    assert tips[1] == pytest.approx(tips[0], rel=0.2)


@both
def test_everything_changes_while_running(sizes: SpaceSizes) -> None:
    body = bar(damping=Damping(2.0, 0.0))
    solver = HyperReducedSolver(body, prepare_spaces(body, sizes))
    corner = int(np.argmax(body.vertices.sum(axis=1)))
    goal = tuple(body.vertices[corner] + [0.3, 0.0, 0.2])
    state = run(solver, solver.start(), 1, forces=(), events=(Grab("hand", (corner,), (1.0,), goal, 2e3),))
    state = run(solver, state, 200, h=0.02, forces=())
    pulled = np.linalg.norm(solver.positions(state, [corner]) - goal)
    assert pulled < 0.02
    state = run(solver, state, 1, forces=(), events=(Move("hand", (0.0, 0.0, 0.0)),))
    assert np.linalg.norm(run(solver, state, 200, h=0.02, forces=()).q - state.q) > 0.1
    state = run(solver, state, 1, forces=(), events=(Release("hand"), AddPin((0, 1)), SetStiffness(10.0)))
    held = solver.positions(state, [0, 1])
    state = run(solver, state, 20, forces=(), events=(SetGravity((0.0, 0.0, -5.0)),))
    np.testing.assert_allclose(solver.positions(state, [0, 1]), held, rtol=0, atol=1e-4)
    state = run(solver, state, 1, events=(RemovePin((0, 1)),))
    before = body.mass @ solver.to_full(state)[1]
    after = body.mass @ solver.to_full(run(solver, state, 10))[1]
    for _ in range(10):  # drag by mass and the gravity set before
        before = (before + 0.01 * body.mass.sum() * np.array([0.0, 0.0, -5.0])) / 1.02
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-8)


def test_a_force_at_a_point_pushes_the_whole_body_and_bends_it() -> None:
    body = bar()
    solver = HyperReducedSolver(body, prepare_spaces(body, SMALL))
    push = NodalForce(np.array([0, 1], np.int32), np.array([0.5, 0.5]), np.array([0.0, 20.0, 0.0]))
    state = run(solver, solver.start(), 10, forces=(push,))
    np.testing.assert_allclose(body.mass @ solver.to_full(state)[1], [0.0, 2.0, 0.0], rtol=0, atol=1e-10)
    assert np.ptp(solver.positions(state)[:, 1] - body.vertices[:, 1]) > 1e-3


@pytest.mark.parametrize("squeeze", [(1.0, 1.0, 0.01), (1.0, 1.0, 0.0), (0.01, 0.01, 0.01), (1.0, 1.0, -0.3)])
def test_flattened_bodies_recover(squeeze: tuple[float, float, float]) -> None:
    body = bar(damping=Damping(1.0, 0.0))
    solver = HyperReducedSolver(body, prepare_spaces(body, SMALL))
    x = body.vertices * squeeze
    state = run(solver, solver.from_full(x, 0 * x, 0 * x), 400, forces=())
    assert_shape_of_rest(solver, state, 0.02)


@pytest.mark.parametrize(("sizes", "cloud"), [(SMALL, 0.5), (SMALL, 1e-3), (FITTED, 0.5)])
def test_random_positions_recover(sizes: SpaceSizes, cloud: float) -> None:
    body = bar(damping=Damping(1.0, 0.0))
    solver = HyperReducedSolver(body, prepare_spaces(body, sizes))
    x = np.random.default_rng(3).uniform(0.0, cloud, body.vertices.shape)
    state = run(solver, solver.from_full(x, 0 * x, 0 * x), 600, forces=())
    assert_shape_of_rest(solver, state, 0.02)


def assert_shape_of_rest(solver: HyperReducedSolver, state, tolerance: float) -> None:
    x, rest = solver.positions(state), solver.body.vertices
    x, rest = x - x.mean(axis=0), rest - rest.mean(axis=0)
    turn, _ = Rotation.align_vectors(x, rest)
    assert np.sqrt(np.mean(np.sum((x - turn.apply(rest)) ** 2, axis=1))) < tolerance


@pytest.mark.parametrize("samples", [40, 150])
def test_long_steps_and_few_samples_stay_steady(samples: int) -> None:
    pins = Pins.of(np.flatnonzero(bar().vertices[:, 0] == 0.0))
    body = bar(pins=pins)
    model = prepare_spaces(body, SpaceSizes(handles=8, radius=1.5, functions=30, samples=samples, projection="fit"))
    solver = HyperReducedSolver(body, model)
    state = run(solver, solver.start(), 100, h=0.2, targets=body.vertices[pins.vertices])
    late = run(solver, state, 20, h=0.2, targets=body.vertices[pins.vertices])
    assert np.abs(solver.positions(state)).max() < 2.0
    assert np.abs(solver.positions(late) - solver.positions(state)).max() < 0.02


@both
def test_a_matrix_is_a_sum_of_parts_made_once(sizes: SpaceSizes) -> None:
    body = bar(skin=Shell(young=1e5, thickness=2e-3))
    model = prepare_spaces(body, sizes)
    idle = np.diag(model.positions.idle.astype(float))
    expected = 3.0 * model.mass.toarray() + 0.5 * model.stiffness.toarray() + 2.0 * idle
    np.testing.assert_allclose(model.parts.sum(3.0, 0.5, 2.0).toarray(), expected, rtol=1e-14)
    assert model.parts.drifts


def test_spaces_that_make_no_sense_are_named() -> None:
    body = bar()
    with pytest.raises(SceneError, match="samples = 0"):
        SpaceSizes(samples=0)
    with pytest.raises(SceneError, match="too few"):
        prepare_spaces(body, SpaceSizes(handles=8, samples=12, projection="fit"))
    with pytest.raises(SceneError, match="iterations = 0"):
        HyperReducedSolver(body, prepare_spaces(body, SMALL), iterations=0)
    with pytest.raises(ArgumentError, match="time_step"):
        HyperReducedSolver(body, prepare_spaces(body, SMALL), time_step=0.0)


def test_more_handles_than_vertices_and_loose_parts_are_handled() -> None:
    body = bar()
    solver = HyperReducedSolver(body, prepare_spaces(body, SpaceSizes(handles=10_000, samples=10_000)))
    state = run(solver, solver.start(), 5)
    assert np.isfinite(solver.positions(state)).all()
    assert "all" not in solver.describe()[0]


def test_a_target_volume_is_reached_with_a_skin() -> None:
    body = bar(skin=Shell(young=1e3, thickness=1e-3))
    mesh = TetMesh.clean(body.vertices, body.cells)
    body = body.tied(TetVolume.build(tet_stencils(mesh), 1e6))
    solver = HyperReducedSolver(body, prepare_spaces(body, SMALL))
    assert len(solver.describe()) == 5
    state = run(solver, solver.start(), 100, forces=(), events=(SetVolume(1.5),))
    grown = TetMesh.clean(solver.positions(state), body.cells).volumes().sum() / mesh.volumes().sum()
    assert grown == pytest.approx(1.5, rel=0.1)
