"""Pose-space dynamics against the solvers it must agree with: ordinary reduction, full space, analysis."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest
from helpers import DOWN
from posespace_helpers import (
    PoseSpaceSolver,
    beam_model,
    bend_beam,
    both,
    drive,
    pose_bases,
    rooted_beam,
    whole_rules,
)
from reduced_helpers import FAR, whole_rule
from scipy.spatial.transform import Rotation

from supple.cubature.pose_rules import train_pose_rules
from supple.elastic import Body, Damping
from supple.errors import MeshError, SceneError, TrainingError
from supple.mesh import fill_box
from supple.method import FullSolver, ReducedModel, ReducedSolver, follow_poses
from supple.method.posespace.model import PoseSpaceModel, assemble, products_by_axes
from supple.method.posespace.products import find_blocks, mix_products, pack_products, turn_products
from supple.method.posespace.pushes import find_reach, push_particles
from supple.rig.root import Root
from supple.solve import AddPin, Grab, Gravity, Inputs, Moment, Move, NodalForce, SetStiffness
from supple.subspace import Basis, linear_modes
from supple.subspace.pose_models import build_pose_bases


def complete_model(body: Body, rig, poses) -> PoseSpaceModel:
    """Every vibration, element and vertex: nothing is left out."""
    free = 3 * (len(body.mass) - len(body.pins.vertices))
    return assemble(body, rig, pose_bases(body, rig, poses, free, free), whole_rules(body, len(poses)))


def test_still_pose_is_ordinary_reduction_there() -> None:
    body, rig, held = bend_beam(8)
    angle = np.array([0.7])
    bases = pose_bases(body, rig, [np.array([0.0]), angle, np.array([1.5])], 6, 6)
    solver = PoseSpaceSolver(body, rig, assemble(body, rig, bases, whole_rules(body, 3)), tolerance=1e-9)
    states = drive(solver, held, lambda time: angle, 0.02, 15)
    mesh = replace(body.mesh, vertices=rig.positions(angle))
    there = replace(Body.build(mesh, body.parts[0].material, body.pins, body.damping), mass=body.mass)
    values = linear_modes(there, 6).importance
    basis = Basis(bases.columns[1], body.mass, "modes", values)
    model = ReducedModel(basis, whole_rule(there), np.zeros((3 * len(body.mass), 0)), FAR)
    plain = ReducedSolver(there, model, tolerance=1e-9)
    moments = [Moment(0.02 * k, mesh.vertices[body.pins.vertices], (DOWN,)) for k in range(16)]
    state = plain.start(Inputs(*moments[:2]))
    for k in range(15):
        state, _ = plain.step(state, Inputs(moments[k], moments[k + 1]))
    sag = np.abs(plain.positions(state) - mesh.vertices).max()
    assert sag > 1e-3
    # Rows of the basis are stored in single precision
    assert np.abs(solver.positions(states[-1]) - plain.positions(state)).max() < 2e-6 * sag


def test_products_carry_motion_from_basis_to_basis_as_the_mass_matrix_does() -> None:
    body, rig, _ = rooted_beam()
    pose = np.zeros((4, 9))
    pose[:, 6:] = [[0, 0, -1.0], [0, 0, 0], [0, 0.5, 1.0], [0.4, 0, 0.5]]
    bases = pose_bases(body, rig, pose, 7, 7)
    model = assemble(body, rig, bases, whole_rules(body, 4))
    heavy = np.sqrt(body.mass)[:, None, None] * bases.columns.reshape(4, -1, 3, 7)
    exact = np.array([products_by_axes(a, b) for a, b in combinations_with_replacement(heavy, 2)])
    assert np.abs(model.turned - exact).max() < 1e-7
    rng = np.random.default_rng(1)
    w, before, y = rng.random(4), rng.random((2, 4)), rng.standard_normal((2, 7))
    before[0, 2] = w[1] = 0.0
    Q = Rotation.random(2, rng=2).as_matrix()
    U, first, second = (np.tensordot(one, bases.columns, 1) for one in (w, *before))
    heavy = np.repeat(body.mass, 3)[:, None] * U
    M, carried, turned = np.empty((7, 7)), np.empty((2, 7)), np.zeros(7)
    blocks = find_blocks(model.owners, model.gram)
    mix_products(pack_products(blocks, model.gram), blocks, w, before, y, M, carried)
    turn_products(pack_products(blocks, exact), blocks, w, before, y, Q, turned)
    size = np.abs(M).max()
    assert np.abs(M - heavy.T @ U).max() < 1e-12 * size
    assert np.abs(carried[0] - heavy.T @ (first @ y[0])).max() < 1e-12 * size
    assert np.abs(carried[1] - heavy.T @ (second @ y[1])).max() < 1e-12 * size
    moved = sum((u.reshape(-1, 3) @ q.T).ravel() for u, q in zip((first @ y[0], second @ y[1]), Q, strict=True))
    assert np.abs(turned - heavy.T @ moved).max() < 1e-12 * size


def test_rig_that_accelerates_or_turns_pushes_with_the_analytic_force() -> None:
    body, rig, _ = bend_beam(6)
    columns = pose_bases(body, rig, [np.zeros(1)], 5, 5).columns[0]
    x, heavy = body.mesh.vertices, np.repeat(body.mass, 3)[:, None] * columns
    rows = np.ascontiguousarray(columns.reshape(-1, 1, 3, 5), np.float32)
    who, one, h = np.arange(len(x)), np.ones(1), 1e-3
    R = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()

    def push(now, before, speed) -> np.ndarray:
        load = np.zeros(5)
        push_particles(who, body.mass[None], rows, find_reach(rows), one, R, now, np.array([before, speed]), h, load)
        return load

    a, v = np.array([3.0, -40.0, 8.0]), np.array([1.0, 2.0, 3.0])
    found = push(x + h * v + h * h * a, x, np.tile(v, (len(x), 1)))
    expected = -heavy.T @ np.tile(R.T @ a, len(x))
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()
    spin = np.array([0.0, 0.0, 5.0])
    now, before, earlier = (Rotation.from_rotvec(k * h * spin).apply(x) for k in (0, -1, -2))
    found = push(now, before, (before - earlier) / h)
    centripetal = np.cross(spin, np.cross(spin, x - 0.0))
    expected = -heavy.T @ (centripetal @ R).ravel()
    assert np.abs(found - expected).max() < 0.01 * np.abs(expected).max()  # a difference of first order in h


@pytest.mark.parametrize("damping", [(0.0, 0.0), (2.0, 0.02)])
def test_complete_subspace_is_the_full_solver(damping: tuple[float, float]) -> None:
    body, rig, held = bend_beam(4, 1e6, damping)
    model = complete_model(body, rig, [np.array([a]) for a in (-0.5, 0.0, 0.6)])
    end = np.flatnonzero(body.mesh.vertices[:, 0] > 0.99)
    tip = NodalForce(end, np.full(len(end), 1 / len(end)), np.array([0.0, 3.0, 20.0]))
    corner = int(np.argmax(body.mesh.vertices.sum(axis=1)))
    events = {
        4: (Grab("hand", (corner,), (1.0,), (0.9, 0.5, 0.3), 400.0), SetStiffness(0.7)),
        8: (Move("hand", (0.9, -0.2, 0.3)),),
    }
    wave = lambda time: np.array([0.5 * np.sin(7.0 * time)])  # noqa: E731
    assert both(body, rig, held, model, wave, 0.02, 14, DOWN, tip, events=events) < 2e-4


def test_whole_body_that_turns_is_the_full_solver_turning() -> None:
    body, rig, held = rooted_beam(4, Damping(1.0, 0.01))
    model = complete_model(body, rig, [rig.neutral])
    assert model.turned.shape[:2] == (1, 9)
    axis = np.array([0.2, 1.0, -0.4]) / np.linalg.norm([0.2, 1.0, -0.4])

    def turn(time: float) -> np.ndarray:  # 180 degrees in 0.9 s
        share = np.clip(time / 0.9, 0.0, 1.0)
        return np.concatenate([[0.3 * share, 0.0, 0.0], np.pi * share**2 * (3 - 2 * share) * axis, np.zeros(3)])

    assert both(body, rig, held, model, turn, 1 / 45, 45, DOWN) < 1e-3


def test_turned_world_turns_the_result() -> None:
    body, rig, held = rooted_beam(6)
    bases = pose_bases(body, rig, [rig.neutral], 8, 8)
    solver = PoseSpaceSolver(body, rig, assemble(body, rig, bases, whole_rules(body, 1)), tolerance=1e-8)
    turn = np.array([0.5, -1.0, 0.7])
    R = Rotation.from_rotvec(turn).as_matrix()
    pose = np.concatenate([np.zeros(3), turn, np.zeros(3)])
    still = drive(solver, held, lambda time: rig.neutral, 0.02, 20, DOWN)[-1]
    turned = drive(solver, held, lambda time: pose, 0.02, 20, Gravity(R @ DOWN.acceleration))[-1]
    u = solver.positions(still) - rig.rest
    assert np.abs(solver.positions(turned) - rig.positions(pose) - u @ R.T).max() < 1e-6 * np.abs(u).max()


def stop_hard(time: float) -> np.ndarray:
    """From 0 to 135 degrees in half a second, at 8.8 rad/s when it stops."""
    return np.array([np.radians(135.0) * min(time / 0.5, 1.0) ** 2])


def test_bent_beam_with_a_free_tip_follows_the_full_solver() -> None:
    body, rig, held = bend_beam(16)
    model = beam_model(body, rig, np.radians(135.0), 5, modes=5, rank=16)

    assert both(body, rig, held, model, stop_hard, 1 / 90, 75) < 0.05


def test_the_whole_pipeline_follows_the_full_solver() -> None:
    # Nine poses, bases and both rules as training makes them
    body, rig, held = bend_beam(12)
    poses = np.radians(np.linspace(-135.0, 135.0, 9))[:, None]
    bases = build_pose_bases(body, rig, poses, 16, alignments=("world",))
    rules = train_pose_rules(body, rig, bases, 0.02, np.random.default_rng(0))
    assert len(rules.elements) < 50
    assert both(body, rig, held, assemble(body, rig, bases, rules), stop_hard, 1 / 90, 75) < 0.02


def test_half_way_between_poses_it_is_as_if_basis_and_rules_had_been_made_there() -> None:
    # Fig. 10 of [XB16]: what is interpolated against what is computed anew, in a beam that drops and swings
    body, rig, held = bend_beam(12)
    poses = np.radians(np.linspace(-135.0, 135.0, 9))[:, None]
    middle, tolerance = poses[1:3].mean(axis=0), 0.02
    shown = []
    for examples in (poses, middle[None]):
        bases = build_pose_bases(body, rig, examples, 12, alignments=("world",))
        rules = train_pose_rules(body, rig, bases, tolerance, np.random.default_rng(0))
        for who in (rules, whole_rules(body, len(examples))):
            solver = PoseSpaceSolver(body, rig, assemble(body, rig, bases, who))
            states = drive(solver, held, lambda time: middle, 1 / 90, 60)
            shown.append(np.array([solver.positions(state) for state in states]) - rig.positions(middle))
    both_, basis, own, exact = shown
    heavy = np.sqrt(body.mass)[:, None]
    size = np.linalg.norm(heavy * exact)
    assert np.abs(exact).max() > 0.02
    assert np.linalg.norm(heavy * (basis - exact)) < tolerance * size  # the basis alone
    assert np.linalg.norm(heavy * (both_ - basis)) < tolerance * size  # the rule alone, in that basis
    assert np.linalg.norm(heavy * (both_ - own)) < tolerance * size


@pytest.mark.parametrize("rate", [90, 30])
def test_hard_stops_stay_bounded(rate: int) -> None:
    body, rig, held = bend_beam(8, 1e6, (0.0, 0.0))
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 0.6, 3, 4, 10))
    shake = lambda time: np.array([0.6 if int(4.0 * time) % 2 else -0.6]) * min(4.0 * time, 1.0)  # noqa: E731
    states = drive(solver, held, shake, 1 / rate, 4 * rate)
    far = [np.abs(solver.positions(state) - rig.positions(state.poses[0])).max() for state in states]
    assert 0.1 < max(far) < 1.5


def test_a_step_whose_time_is_up_is_taken_and_reported() -> None:
    body, rig, held = bend_beam(8, 1e6, (0.0, 1e-3))
    model = beam_model(body, rig, 0.6, 3, 4, 10)
    jerk = [Moment(k / 30, held.targets(np.array([angle])), (DOWN,), pose=np.array([angle])) for k, angle in
            enumerate((0.0, 0.0, 0.6))]  # fmt: skip
    ends = {}
    for most in (1, 50):
        solver = PoseSpaceSolver(body, rig, model, tolerance=1e-6, max_stiffnesses=most)
        state, _ = solver.step(solver.start(Inputs(*jerk[:2])), Inputs(*jerk[:2]))
        state, hard = solver.step(state, Inputs(*jerk[1:]))
        ends[most] = solver.positions(state)
        assert hard.halvings == 0
        assert hard.converged == (most == 50)
        assert (hard.residual <= 1e-6) == hard.converged
    moved = np.abs(ends[50] - rig.positions(np.array([0.6]))).max()
    assert 0.0 < np.abs(ends[1] - ends[50]).max() < moved  # at worst it stays where it began


def test_ten_thousand_frames_stay_bounded() -> None:
    body, rig, held = bend_beam(6, 1e6)
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 1.5, 3, 3, 6))
    wander = lambda time: np.array([1.2 * np.sin(5.0 * time) + 0.4 * np.sin(13.7 * time)])  # noqa: E731
    far, state = [], None
    for _ in range(20):
        state = drive(solver, held, wander, 1 / 90, 500, state=state)[-1]
        far.append(np.abs(solver.positions(state) - rig.positions(state.poses[0])).max())
    assert state.time == pytest.approx(10_000 / 90)
    assert max(far) < 0.6
    assert max(far[10:]) < 2.0 * max(far[:10])


def test_crowd_is_its_members_bit_for_bit() -> None:
    body, rig, held = rooted_beam(6, Damping(0.5, 0.01))
    bent = np.concatenate([np.zeros(6), [0.0, 0.3, 1.0]])
    bases = pose_bases(body, rig, [rig.neutral, bent], 6, 6)
    solver = PoseSpaceSolver(body, rig, assemble(body, rig, bases, whole_rules(body, 2)))
    tip = np.flatnonzero(body.mesh.vertices[:, 0] > 0.99)
    push = NodalForce(tip, np.full(len(tip), 1 / len(tip)), np.array([0.0, 0.0, 5.0]))

    def inputs(k: int, who: int) -> Inputs:
        forces = ((DOWN,), (), (push, DOWN))[who]
        poses = (np.sin(5.0 * j / 30 + who) * bent + 0.1 * who * j * np.eye(9)[4] for j in (k, k + 1))
        moments = (
            Moment(j / 30, held.targets(pose), forces, pose=pose) for j, pose in zip((k, k + 1), poses, strict=True)
        )
        events = (Grab("g", (int(tip[0]),), (1.0,), (1.0, 0.5, 0.2), 30.0),) if who == 1 and k == 2 else ()
        return Inputs(*moments, events)

    crowd = [solver.start(inputs(0, who)) for who in range(3)]
    singles = list(crowd)
    for k in range(6):
        crowd = solver.step_all(crowd, [inputs(k, who) for who in range(3)])
        singles = [solver.step(state, inputs(k, who))[0] for who, state in enumerate(singles)]
    for one, other in zip(crowd, singles, strict=True):
        for name, array in one.pack().items():
            assert np.array_equal(array, other.pack()[name]), name
    assert np.abs(crowd[0].y - crowd[2].y).max() > 1e-4


def test_steps_of_changing_length_and_packed_states() -> None:
    body, rig, held = bend_beam(4, 1e6)
    model = complete_model(body, rig, [np.array([a]) for a in (-0.5, 0.5)])
    solver, full = PoseSpaceSolver(body, rig, model, tolerance=1e-7), FullSolver(body, rig=rig, rest="posed")
    times = np.cumsum([0.0, 0.02, 0.01, 0.03, 0.015, 0.015])
    moments = [Moment(t, held.targets(np.array([8 * t * t])), (DOWN,), pose=np.array([8 * t * t])) for t in times]
    state, exact = (one.start(Inputs(*moments[:2])) for one in (solver, full))
    for k in range(5):
        state, report = solver.step(solver.unpack(solver.pack(state)), Inputs(*moments[k : k + 2]))
        exact, _ = full.step(exact, Inputs(*moments[k : k + 2]))
        assert report.newton_iterations > 0
    size = np.abs(exact.x - rig.positions(moments[-1].pose)).max()
    x, v, _ = solver.to_full(state)
    assert np.abs(x - exact.x).max() < 1e-3 * size
    assert np.abs(v - exact.v).max() < 1e-3 * np.abs(exact.v).max()


def test_velocity_at_the_start_is_the_rigs() -> None:
    body, rig, held = rooted_beam(6)
    bases = pose_bases(body, rig, [rig.neutral], 6, 6)
    solver = PoseSpaceSolver(body, rig, assemble(body, rig, bases, whole_rules(body, 1)), tolerance=1e-9)
    travel = lambda time: np.concatenate([[0.0, 0.0, 2.0 * time], np.zeros(6)])  # noqa: E731
    x = rig.rest
    begin = solver.from_full(x, np.tile([0.0, 0.0, 2.0], (len(x), 1)), np.zeros_like(x), pose=rig.neutral)
    moving = drive(solver, held, travel, 0.02, 10, state=begin)[-1]
    still = drive(solver, held, lambda time: rig.neutral, 0.02, 10)[-1]
    assert np.abs(moving.y - still.y).max() < 1e-6 * np.abs(still.y).max()


def test_statics_and_pins_of_the_user() -> None:
    body, rig, held = bend_beam(4, 1e6)
    model = complete_model(body, rig, [np.zeros(1), np.array([0.8])])
    pose = np.array([0.5])
    far = int(np.argmax(body.mesh.vertices[:, 0]))
    states = []
    for solver in (
        PoseSpaceSolver(body, rig, model, integrator="static", tolerance=1e-8),
        FullSolver(body, rig=rig, rest="posed", integrator="static", tolerance=1e-8),
    ):
        states.append(solver.positions(drive(solver, held, lambda time: pose, 1.0, 1)[-1]))
    sag = np.abs(states[1] - rig.positions(pose)).max()
    assert np.abs(states[0] - states[1]).max() < 1e-4 * sag
    solver = PoseSpaceSolver(body, rig, model)
    run = drive(solver, held, lambda time: pose, 0.02, 30, events={0: (AddPin((far,)),)})
    pinned = solver.positions(run[-1], np.array([far])) - rig.positions(pose, np.array([far]))
    assert np.abs(pinned).max() < 0.01 * sag


def test_what_makes_no_sense_is_refused() -> None:
    body, rig, held = bend_beam(6)
    model = beam_model(body, rig, 1.0, 3, 4, 4)
    with pytest.raises(SceneError, match="newmark"):
        PoseSpaceSolver(body, rig, model, integrator="newmark")
    other = fill_box((0, 0, 0), (1.0, 0.12, 0.16), 4)
    with pytest.raises(SceneError, match="vertices"):
        PoseSpaceSolver(Body.build(other, body.parts[0].material), rig, model)
    solver = PoseSpaceSolver(body, rig, model)
    still = Moment(0.0, held.targets(np.zeros(1)), pose=np.zeros(1))
    with pytest.raises(SceneError, match="has no pose"):
        solver.step(solver.start(), Inputs(still, replace(still, time=0.1, pose=None)))
    with pytest.raises(MeshError, match="flattens or inverts"):
        solver.step(solver.start(), Inputs(still, replace(still, time=0.1, pose=np.array([15.0]))))
    with pytest.raises(SceneError, match="let pins follow the rig"):
        solver.start(Inputs(replace(still, targets=still.targets + 0.1), still))
    bases = pose_bases(body, rig, [np.zeros(1)], 4, 4)
    with pytest.raises(TrainingError, match="no weights for 1 poses"):
        assemble(body, rig, bases, whole_rules(body, 2))


def test_root_is_told_apart_from_the_pose() -> None:
    _, rig, _ = rooted_beam(4)
    root = Root.of(rig)
    pose = np.array([0.1, 0.2, 0.3, 0.4, -0.5, 0.6, 0.0, 0.2, 0.9])
    assert root.turns
    assert np.array_equal(root.still(pose)[:6], np.zeros(6))
    moved, still = rig.positions(pose), rig.positions(root.still(pose))
    assert np.abs((moved - moved[0]) - (still - still[0]) @ root.turn(pose).T).max() < 1e-12
    assert not Root.of(bend_beam(4)[1]).turns


def test_poses_are_asked_for_frame_by_frame() -> None:
    body, rig, held = bend_beam(6)
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 0.9, 3, 4, 6))
    asked: list[float] = []

    def hand(time: float) -> np.ndarray:
        asked.append(time)
        return np.array([2.0 * time])

    live = follow_poses(solver, hand, 50.0, (DOWN,))
    states = [next(live) for _ in range(4)]
    assert asked == [0.0, 0.02, 0.04, 0.06]
    again = drive(solver, held, lambda time: np.array([2.0 * time]), 0.02, 3, DOWN)
    assert np.allclose(states[-1].y, again[-1].y, rtol=1e-9, atol=1e-12)
    with pytest.raises(SceneError, match="above 0"):
        next(follow_poses(solver, hand, 0.0))
