"""Columns that turn with the flesh: the same solver, another way to interpolate."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers import DOWN
from posespace_helpers import (
    PoseSpaceSolver,
    bend_beam,
    both,
    drive,
    far_apart,
    pose_bases,
    rooted_beam,
    whole_rules,
)

from supple.cubature.pose_rules import PoseRules, train_pose_rules
from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError
from supple.io.posespace_file import load_posespace, save_posespace
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method import FullSolver, assemble_posespace
from supple.method.posespace.gaps import Gaps, collect_pairs
from supple.method.posespace.lift import PoseLift
from supple.method.posespace.products import find_blocks, mix_products, pack_products
from supple.method.posespace.pushes import find_reach
from supple.method.posespace.surface import PoseSurface
from supple.method.posespace.turning import turn_particles
from supple.rig import Bend, BlackBox, Held, Rig
from supple.rig.root import Root
from supple.solve import Grab, Inputs, Moment, NodalForce
from supple.subspace.alignment import ALIGNMENTS, Alignment, rotate_columns
from supple.subspace.pose_bases import PoseBases
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.vertex_turns import VertexTurns, find_vertex_turns, measure_turns


def turned(body: Body, rig: Rig, bases: PoseBases, *, alike: bool = False) -> PoseBases:
    """The same bases, to be interpolated as the neutral pose sees them; `alike`: all those of the first, turned."""
    turns = np.array([find_vertex_turns(body, rig, pose) for pose in bases.poses])
    columns = bases.columns
    if alike:
        first = rotate_columns(columns[0], turns[0].transpose(0, 2, 1))
        columns = np.array([rotate_columns(first, turn) for turn in turns])
    return replace(bases, columns=columns, alignment="rotframe", turns=turns)


def complete_model(body: Body, rig: Rig, poses, alignment: Alignment = "rotframe"):
    free = 3 * (len(body.mass) - len(body.pins.vertices))
    bases = pose_bases(body, rig, poses, free, free)
    if alignment == "rotframe":
        bases = turned(body, rig, bases, alike=True)
    return assemble_posespace(body, rig, bases, whole_rules(body, len(poses)))


def bent_poses() -> np.ndarray:
    poses = np.zeros((3, 9))
    poses[1:, 6:] = [[0, 0.5, 1.0], [0.4, 0, -0.8]]
    return poses


@pytest.mark.parametrize("felt", [0.0, 1.0])
def test_mass_and_transport_are_those_of_the_full_mass_matrix(felt: float) -> None:
    body, rig, _ = rooted_beam()
    bases = turned(body, rig, pose_bases(body, rig, bent_poses(), 7, 7))
    model = assemble_posespace(body, rig, bases, whole_rules(body, 3))
    assert model.turning
    assert not len(model.turned)
    rng = np.random.default_rng(1)
    w, before, y = rng.random(3), rng.random((2, 3)), rng.standard_normal((2, 7))
    moments = [np.concatenate([np.zeros(3), *rng.uniform(-0.5, 0.5, (2, 3))]) for _ in range(3)]
    root, frames = Root.of(rig), [find_vertex_turns(body, rig, pose) for pose in moments]
    R = np.array([root.turn(pose) for pose in moments])

    def beside(pose) -> np.ndarray:
        return find_vertex_turns(body, rig, root.still(pose))

    blend = [np.tensordot(one, bases.blended, 1) for one in (w, *before)]
    U, first, second = (rotate_columns(one, turn) for one, turn in zip(blend, frames, strict=True))
    M, carried, ahead, load = np.empty((7, 7)), np.empty((2, 7)), np.zeros(7), np.zeros(7)
    blocks = find_blocks(model.owners, model.gram)
    mix_products(pack_products(blocks, model.gram), blocks, w, before, y, M, carried)
    assert np.abs(M - U.T @ (np.repeat(body.mass, 3)[:, None] * U)).max() < 1e-12 * np.abs(M).max()
    who, n = np.arange(len(body.mass)), len(body.mass)
    rows = np.ascontiguousarray(model.columns.transpose(1, 0, 2, 3))
    x = [rig.positions(pose) for pose in moments]
    placed, then, earlier = (np.column_stack([at, turn.reshape(n, 9)]) for at, turn in zip(x, frames, strict=True))
    places, speed, h, ratio = np.array([then, earlier]), rng.standard_normal((n, 3)), 0.02, 0.8
    places[1, :, :3] = speed
    scalars = np.array([h, ratio, 1.0, *np.zeros(9), 1.0, -9.0, 2.0, felt])
    turn_particles(
        who, np.tile(body.mass, (3, 1)) / w.sum(), rows, find_reach(rows), w, before, y, R, placed, places, scalars,
        load, carried, ahead,
    )  # fmt: skip
    heavy = np.repeat(body.mass, 3)[:, None] * U
    # Motion beside the skin, or that beside the root: both bases as if it had stood still
    still = [rotate_columns(one, beside(pose)) if felt else one for one, pose in zip(blend, moments, strict=True)]
    expected = (np.repeat(body.mass, 3)[:, None] * still[0]).T @ (still[1] @ y[0])
    assert np.abs(carried[0] - expected).max() < 2e-6 * np.abs(expected).max()
    total = ahead + (1 + ratio) * carried[0] - ratio * carried[1]
    expected = heavy.T @ ((1 + ratio) * (first @ y[0]) - ratio * (second @ y[1]))
    assert np.abs(total - expected).max() < 2e-6 * np.abs(expected).max()
    a = ((x[0] - x[1]) / h - speed) / h
    expected = heavy.T @ (np.array([1.0, -9.0, 2.0]) - a).ravel()
    assert np.abs(load - expected).max() < 2e-6 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("damping", "alignment", "opaque"),
    [
        ((0.0, 0.0), "rotframe", False),
        ((2.0, 0.02), "rotframe", False),
        ((2.0, 0.02), "world", False),
        ((2.0, 0.02), "world", True),
    ],
)
def test_complete_subspace_of_a_turning_body_is_the_full_solver(damping, alignment: Alignment, opaque: bool) -> None:
    body, rig, held = rooted_beam(4, Damping(*damping))
    if opaque:
        rig = BlackBox(rig.positions, rig.rest, rig.neutral, rig.controls)
        held = Held(rig, body.pins)
    model = complete_model(body, rig, bent_poses(), alignment)
    assert model.turning == (alignment == "rotframe")
    tip = np.flatnonzero(body.mesh.vertices[:, 0] > 0.99)
    push = NodalForce(tip, np.full(len(tip), 1 / len(tip)), np.array([0.0, 3.0, 20.0]))
    events = {4: (Grab("hand", (int(tip[0]),), (1.0,), (0.9, 0.5, 0.3), 400.0),)}

    def swing(time: float) -> np.ndarray:
        return np.array([0.5 * time, 0, 0, 0, 2.0 * time, 0, 0.3 * np.sin(9 * time), 0, np.sin(7.0 * time)])

    # So much drag takes more stiffnesses than a step in real time makes
    assert both(body, rig, held, model, swing, 0.02, 14, DOWN, push, events=events, stiffnesses=50) < 3e-4


@pytest.mark.parametrize("alignment", ["world", "rotframe"])
def test_drag_of_a_limb_that_turns_fast_is_that_of_full_space(alignment: Alignment) -> None:
    """Beside the skin: with drag beside the root alone columns that do not turn would be 88 % off."""
    body, rig, held = rooted_beam(6, Damping(0.0, 0.02))
    poses = np.zeros((3, 9))
    poses[1:, 8] = -1.0, 1.0
    bases = build_pose_bases(body, rig, poses, 10, alignments=(alignment,))
    rules = train_pose_rules(body, rig, bases, 0.05, np.random.default_rng(0))
    model = assemble_posespace(body, rig, bases, rules)

    def swing(time: float) -> np.ndarray:
        return np.concatenate([np.zeros(8), [np.sin(7.0 * time)]])

    assert both(body, rig, held, model, swing, 1 / 60, 40, DOWN, stiffnesses=50) < 0.1


def test_damping_may_come_and_go_in_the_middle_of_a_run() -> None:
    """A state without turns at its particles gets them, and one that has them loses them."""
    body, rig, held = rooted_beam(6, Damping(0.0))
    poses = bent_poses()
    model = assemble_posespace(body, rig, pose_bases(body, rig, poses, 6, 6), whole_rules(body, 3))
    still, damped = (
        PoseSpaceSolver(replace(body, damping=damping), rig, model) for damping in (Damping(), Damping(0.5, 0.01))
    )

    def swing(time: float) -> np.ndarray:
        return np.sin(7.0 * time) * poses[1]

    for first, second in ((still, damped), (damped, still)):
        state = drive(first, held, swing, 0.02, 3)[-1]
        moved = second.unpack(first.pack(state))
        assert moved.particles.shape[2] != state.particles.shape[2]
        own = drive(second, held, swing, 0.02, 3)[-1]
        np.testing.assert_allclose(moved.particles, own.particles, atol=1e-12)
        drive(second, held, swing, 0.02, 1, state=moved)


def test_black_box_turns_are_those_of_the_tets_around() -> None:
    body, rig, _ = bend_beam(6)
    who = np.array([3, 20, 21])
    pose = np.array([1.1])
    around = VertexTurns(body, rig, who)
    turns = around.turns(pose)
    assert np.allclose(around.place(pose)[:, :3], rig.positions(pose, who), atol=1e-15)
    assert np.allclose(turns, measure_turns(body, rig.positions(pose))[who], atol=1e-12)
    assert np.allclose(turns @ turns.transpose(0, 2, 1), np.eye(3), atol=1e-12)
    with pytest.raises(SceneError, match="give the body"):
        VertexTurns(None, rig, who)


def test_where_nothing_turns_both_forms_are_one() -> None:
    body = bend_beam(6, 1e6)[0]
    x = body.mesh.vertices
    rig = BlackBox(lambda pose: x * [1.0 + pose[0], 1.0 - 0.3 * pose[0], 1.0], x, [0.0], ("stretch",))
    held = Held(rig, body.pins)
    bases = pose_bases(body, rig, [np.array([0.0]), np.array([0.3])], 6, 6)
    rules = whole_rules(body, 2)
    ends = []
    for one in (bases, turned(body, rig, bases)):
        solver = PoseSpaceSolver(body, rig, assemble_posespace(body, rig, one, rules), tolerance=1e-9)
        states = drive(solver, held, lambda time: np.array([0.2 + 0.1 * np.sin(9.0 * time)]), 0.02, 20)
        ends.append(solver.positions(states[-1]) - rig.positions(states[-1].poses[0]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-5 * np.abs(ends[0]).max()


@cache
def limb() -> tuple[Body, Bend, Held]:
    """Flesh around a bone that bends, soft enough to swing."""
    mesh = fill_box((0.0, -0.06, -0.08), (1.0, 0.06, 0.08), elements=1000)
    x, y, z = np.abs(mesh.vertices).T
    pins = Pins.of(np.flatnonzero((x < 0.9) & (y < 0.035) & (z < 0.045)))
    body = Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.4, density=1e3), pins, Damping(0.5, 0.002))
    rig = Bend(mesh.vertices, (0.2, 0.0, 0.0), (0.8, 0.0, 0.0), (0.0, 0.0, 1.0))
    return body, rig, Held(rig, pins)


def limb_bases(alignments=ALIGNMENTS) -> PoseBases:
    body, rig, _ = limb()
    return build_pose_bases(body, rig, np.radians([[-180.0], [0.0], [180.0]]), 24, alignments=alignments)


@cache
def limb_rules() -> PoseRules:
    body, rig, _ = limb()
    return train_pose_rules(body, rig, limb_bases(), 0.05, np.random.default_rng(0))


def swing(time: float) -> np.ndarray:
    return np.array([np.radians(150.0) * np.sin(5.0 * time)])


def test_limb_chooses_to_turn_its_columns_and_is_right_where_the_others_lock() -> None:
    body, rig, held = limb()
    full = drive(FullSolver(body, rig=rig, rest="posed", tolerance=1e-6), held, swing, 1 / 60, 40)
    errors = {}
    for alignment in ALIGNMENTS:
        bases = limb_bases((alignment,))
        solver = PoseSpaceSolver(body, rig, assemble_posespace(body, rig, bases, whole_rules(body, 3)))
        errors[alignment] = far_apart(solver, drive(solver, held, swing, 1 / 60, 40), full)
    assert errors["rotframe"] < 0.1
    assert min(errors["world"], errors["paper"]) > 2.0 * errors["rotframe"]
    # And with rules of its own
    bases = limb_bases()
    assert bases.alignment == "rotframe"
    solver = PoseSpaceSolver(body, rig, assemble_posespace(body, rig, bases, limb_rules()))
    assert len(limb_rules().inertia_vertices) < 0.3 * len(body.mass)
    assert far_apart(solver, drive(solver, held, swing, 1 / 60, 40), full) < errors["rotframe"] + 0.05


def test_sample_pose_is_exact_with_rules() -> None:
    """Gravity is felt at the vertices of a rule, and yet whole where there is a basis."""
    body, rig, held = limb()
    bases, rules = limb_bases(), limb_rules()
    model = assemble_posespace(body, rig, bases, rules)
    pose = bases.poses[2]
    lift = PoseLift(body, rig, model)
    exact = bases.columns[2].reshape(-1, 3, 24)
    assert np.abs(lift.rows(pose, np.array([0.0, 0.0, 1.0])) - exact).max() < 1e-6 * np.abs(exact).max()
    ends = []
    for vertices in (rules, replace(rules, **_every_vertex(body))):
        solver = PoseSpaceSolver(body, rig, assemble_posespace(body, rig, bases, vertices), tolerance=1e-8)
        ends.append(drive(solver, held, lambda time: pose, 0.02, 10)[-1].y[0])
    assert np.abs(ends[0] - ends[1]).max() < 1e-5 * np.abs(ends[0]).max()


def test_contacts_see_columns_as_vertices_move_by_them() -> None:
    body, rig, _ = rooted_beam()
    bases = turned(body, rig, pose_bases(body, rig, bent_poses(), 7, 7))
    pairs, weights = np.array([[1, 20, 24, 27]]), np.array([[1.0, -0.2, -0.3, -0.5]])
    normal = np.tile([0.0, 0.6, 0.8], (3, 1, 1))
    model = replace(
        assemble_posespace(body, rig, bases, whole_rules(body, 3)), pairs=pairs, pair_weights=weights,
        pair_normals=normal, pair_thickness=np.zeros(1),
    )  # fmt: skip
    solver = PoseSpaceSolver(body, rig, model)
    pose = np.array([0.1, 0.2, 0.0, 0.3, -0.9, 0.4, 0.2, 0.1, 0.7])
    state = solver.from_full(rig.positions(pose), 0 * rig.rest, 0 * rig.rest, pose=pose)
    y = 0.01 * np.random.default_rng(0).standard_normal(7)
    w, R = state.w[0], state.turns[0]
    u = solver.positions(state._replace(y=np.array([y, y]))) - rig.positions(pose)
    lift = PoseLift(body, rig, model)
    assert np.abs(lift.rows(pose, w) @ y - u @ R).max() < 1e-6 * np.abs(u).max()
    summed = np.tensordot(w, lift.sum_rows(pose, pairs[0], weights[0]), 1)
    assert np.abs(summed @ y - weights[0] @ u[pairs[0]] @ R).max() < 1e-6 * np.abs(u).max()
    gaps = Gaps(np.empty((1, 7)), np.empty(1), np.empty((2, 7)), np.empty(2), np.empty(1), np.empty(1, np.int64))
    placed = solver._drive.place(pose)
    assert collect_pairs(solver._tables, w, R, placed, np.zeros((1, 3)), 0.0, gaps) == 1
    assert gaps.J[0] @ y == pytest.approx(normal[0, 0] @ (weights[0] @ u[pairs[0]] @ R), rel=1e-5)


def _every_vertex(body: Body) -> dict[str, np.ndarray]:
    return {"inertia_vertices": np.arange(len(body.mass)), "inertia_weights": np.ones((3, len(body.mass)))}


def test_file_crowd_surface_and_statics(tmp_path) -> None:
    body, rig, held = limb()
    model = assemble_posespace(body, rig, limb_bases(), limb_rules())
    found = load_posespace(save_posespace(tmp_path / "limb.npz", model, body, rig), body, rig)
    assert found.hash() == model.hash()
    solver = PoseSpaceSolver(body, rig, found)
    tip = np.flatnonzero(body.mesh.vertices[:, 0] > 0.99)
    push = NodalForce(tip, np.full(len(tip), 1 / len(tip)), np.array([0.0, 0.0, 30.0]))

    def inputs(k: int, who: int) -> Inputs:
        poses = (swing(j / 60 + 0.2 * who) for j in (k, k + 1))
        forces = ((DOWN,), (DOWN, push))[who]
        times = zip((k, k + 1), poses, strict=True)
        return Inputs(*(Moment(j / 60, held.targets(pose), forces, pose=pose) for j, pose in times))

    crowd = [solver.start(inputs(0, who)) for who in range(2)]
    singles = list(crowd)
    for k in range(4):
        crowd = solver.step_all(crowd, [inputs(k, who) for who in range(2)])
        singles = [solver.step(solver.unpack(solver.pack(one)), inputs(k, who))[0] for who, one in enumerate(singles)]
    for one, other in zip(crowd, singles, strict=True):
        for name, array in one.pack().items():
            assert np.array_equal(array, other.pack()[name]), name
    vertices = body.mesh.surface_vertices()
    x, u = solver.positions(crowd[1], vertices), solver.positions(crowd[1]) - rig.positions(crowd[1].poses[0])
    drawn = PoseSurface(rig, found, vertices, body).positions(crowd[1])
    assert np.abs(drawn - x).max() < 1e-3 * np.abs(u).max()
    still = swing(0.1)
    ends = [
        solver.positions(drive(solver, held, lambda time: still, 1.0, 1)[-1]) - rig.positions(still)
        for solver in (
            PoseSpaceSolver(body, rig, found, integrator="static"),
            FullSolver(body, rig=rig, rest="posed", integrator="static"),
        )
    ]
    assert np.abs(ends[0] - ends[1]).max() < 0.2 * np.abs(ends[1]).max()
