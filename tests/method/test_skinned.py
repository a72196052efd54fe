"""Skinned bodies in a subspace: limit cases that tie them to the full and the unskinned solver, and a trained one."""

from dataclasses import replace

import numpy as np
import pytest
from reduced_helpers import FAR, complete_model, modal_model
from rig_helpers import moment, shifted, skinned

from supple.cubature import Rule
from supple.elastic import Body, Damping, Pins
from supple.errors import ConvergenceError, SceneError, SuppleWarning
from supple.method import FullSolver, ReducedModel, ReducedSolver
from supple.method.novelty import GRAVITY
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.particles import Particles
from supple.method.skinned.solver import SkinnedSolver
from supple.method.skinned.training import train_skinned
from supple.method.solver import Solver
from supple.rig import Held, SkinnedRig
from supple.solve import AddPin, Grab, Gravity, Inputs, NodalForce, RemovePin, SetGravity, SetStiffness

MODES = ["dual_quaternion", "linear"]
ALL = ["static", "implicit_euler", "newmark"]
PUSH = Gravity(np.array([1.0, -9.81, 2.0]))
H = 0.02


def every_vertex(body: Body) -> Rule:
    count = len(body.mass)
    return Rule(np.arange(count), np.ones(count), 0.0)


def skin(reduced: ReducedModel, body: Body) -> SkinnedModel:
    """The same subspace about a skinned pose, with all vertices."""
    return SkinnedModel(reduced.basis, reduced.rule, every_vertex(body), FAR)


def rod(mode: str = "dual_quaternion", damping: Damping | None = None, resolution: int = 8):
    """A capsule of two bones: its character, rig, pins and body."""
    character, rig, held, body = skinned("capsule", resolution, mode)
    return character, rig, held, replace(body, damping=damping or Damping())


def bend(character, rig: SkinnedRig, steps: int) -> list[np.ndarray]:
    """Poses from rest to a bent one, with turns and shifts of all joints."""
    target = character.poses["bent"] + np.random.default_rng(1).normal(0.0, 0.1, len(rig.neutral))
    return [rig.neutral + (k / steps) ** 2 * target for k in range(steps + 1)]


def run(solver: Solver, held: Held, poses: list[np.ndarray], *forces, h: float = H, events=None, begin=None) -> list:
    """States of a run through poses."""

    def inputs(k: int) -> Inputs:
        ends = (moment(h * j, held, poses[j], *forces) for j in (k, k + 1))
        return Inputs(*ends, (events or {}).get(k, ()))

    first = 0 if begin is None else round(begin.time / h)
    states = [solver.start(inputs(0)) if begin is None else begin]
    for k in range(first, len(poses) - 1):
        states.append(solver.step(states[-1], inputs(k))[0])
    return states


def difference(solver: Solver, other: Solver, state, exact, loose: np.ndarray) -> list[float]:
    """Largest differences of positions, velocities and accelerations of loose vertices, relative to the largest."""
    pairs = zip(solver.to_full(state), other.to_full(exact), strict=True)
    return [np.abs(a - b)[loose].max() / max(np.abs(b[loose]).max(), 1e-9) for a, b in pairs]


def loose_vertices(body: Body) -> np.ndarray:
    return np.setdiff1d(np.arange(len(body.mass)), body.pins.vertices)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_complete_subspace_equals_the_full_solver(mode: str, integrator: str) -> None:
    character, rig, held, body = rod(mode, Damping(mass=1.0))
    full = FullSolver(body, rig=rig, integrator=integrator, tolerance=1e-10)
    solver = SkinnedSolver(body, rig, skin(complete_model(body), body), integrator=integrator, tolerance=1e-10)
    touch = NodalForce(np.array([5, 7], np.int32), np.array([0.3, 0.7]), np.array([0.0, 1.0, 0.5]))
    events = {2: (Grab("g", (9, 11), (0.5, 0.5), (0.2, 0.1, 0.3), 50.0),), 4: (SetGravity((0.0, 3.0, 0.0)),)}
    events[5] = (SetStiffness(0.8),)
    poses = bend(character, rig, 7)
    found, exact = (run(one, held, poses, PUSH, touch, events=events)[-1] for one in (solver, full))
    off = difference(solver, full, found, exact, loose_vertices(body))
    assert np.all(np.array(off) < (1e-9, 1e-8, 1e-7)), off
    np.testing.assert_allclose(solver.positions(found)[held.pins.vertices], held.targets(poses[-1]), atol=1e-14)


@pytest.mark.parametrize(("mode", "bound"), [("linear", 1e-6), ("dual_quaternion", 1e-4)])
def test_drag_by_stiffness_equals_that_of_the_full_solver(mode: str, bound: float) -> None:
    # The frame of held vertices is that of a linear blend, and stiffness is in single precision
    character, rig, held, body = rod(mode, Damping(stiffness=0.02))
    full = FullSolver(body, rig=rig, tolerance=1e-9)
    solver = SkinnedSolver(body, rig, skin(complete_model(body), body), tolerance=1e-9)
    poses = bend(character, rig, 8)
    found, exact = (run(one, held, poses, PUSH)[-1] for one in (solver, full))
    assert difference(solver, full, found, exact, loose_vertices(body))[0] < bound


def test_newmark_comes_nearer_to_the_full_solver_with_smaller_steps() -> None:
    character, rig, held, body = rod(damping=Damping(mass=1.0))
    model, off = skin(complete_model(body), body), []
    full = FullSolver(body, rig=rig, integrator="newmark", tolerance=1e-6)
    solver = SkinnedSolver(body, rig, model, integrator="newmark", tolerance=1e-6)
    for steps in (10, 40):
        poses = bend(character, rig, steps)
        found, exact = (run(one, held, poses, PUSH, h=0.2 / steps)[-1] for one in (solver, full))
        off.append(difference(solver, full, found, exact, loose_vertices(body))[0])
    assert off[1] < min(0.4 * off[0], 0.01), off


@pytest.mark.parametrize("integrator", ALL)
def test_still_pose_equals_the_unskinned_solver(integrator: str) -> None:
    _, rig, held, body = rod(damping=Damping(mass=1.0, stiffness=0.003))
    rng = np.random.default_rng(2)
    few = np.sort(rng.choice(len(body.mesh.tets), 60, replace=False))
    model = replace(modal_model(body, 10), rule=Rule(few, rng.uniform(5.0, 10.0, 60), 0.0))
    particles = Rule(np.array([10, 50, 90]), np.array([30.0, 20.0, 10.0]), 0.0)  # has nothing to do, so may be wrong
    skinned_model = replace(skin(model, body), particles=particles)
    plain = ReducedSolver(body, model, integrator=integrator, tolerance=1e-9)
    solver = SkinnedSolver(body, rig, skinned_model, integrator=integrator, tolerance=1e-9)
    events = {3: (Grab("g", (9, 11), (0.5, 0.5), (0.2, 0.1, 0.3), 50.0),), 6: (SetStiffness(0.7),)}
    poses = [rig.neutral] * 11
    found, expected = (run(one, held, poses, PUSH, events=events)[-1] for one in (solver, plain))
    off = difference(solver, plain, found, expected, loose_vertices(body))
    assert np.all(np.array(off) < (1e-8, 1e-6, 1e-5)), off


def test_a_rig_that_speeds_up_acts_like_gravity() -> None:
    _, rig, held, body = rod()
    solver = SkinnedSolver(body, rig, skin(modal_model(body, 10), body), tolerance=1e-10)
    pull = np.array([2.0, -4.0, 3.0])
    # Second differences of these places are the acceleration, from the first step on
    moved = [shifted(rig, pull * H**2 * k * (k + 1) / 2) for k in range(13)]
    driven = run(solver, held, moved)[-1]
    hanging = run(solver, held, [rig.neutral] * 13, Gravity(-pull))[-1]
    np.testing.assert_allclose(driven.shapes[0], hanging.shapes[0], rtol=0, atol=1e-8 * np.abs(hanging.shapes[0]).max())


def test_gravity_is_exact_however_few_particles_while_all_turns_with_the_root() -> None:
    _, rig, _, body = rod()
    basis = modal_model(body, 6).basis
    pose = rig.neutral
    pose[3:6] = 0.4, -1.0, 2.0
    few, whole = (
        Particles.of(rig, basis, rule) for rule in (Rule(np.array([7]), np.array([3.0]), 0.0), every_vertex(body))
    )
    found, exact = (one.weight(one.place(pose), PUSH.acceleration) for one in (few, whole))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-12 * np.abs(exact).max())


@pytest.fixture(scope="module")
def trained() -> tuple[SkinnedRig, Held, Body, SkinnedModel, list[np.ndarray]]:
    """A model of three bends, and a bend between them that it has not seen."""
    character, rig, held, body = rod(damping=Damping(mass=1.0, stiffness=0.005), resolution=10)
    full = FullSolver(body, rig=rig, tolerance=1e-5)
    waves = np.sin(np.pi * np.arange(31) / 30) ** 2

    def swing(bent: float, twisted: float) -> list[np.ndarray]:
        return [0.6 * w * (bent * character.poses["bent"] + twisted * character.poses["twisted"]) for w in waves]

    poses, shapes = [], []
    for motion in (swing(1.0, 0.0), swing(0.6, 0.5), swing(0.3, 0.8)):
        poses += motion[1:]
        shapes += [state.x for state in run(full, held, motion, PUSH)[1:]]
    model = train_skinned(body, rig, np.array(poses), shapes, np.random.default_rng(3), rank=12, tolerance=0.03)
    return rig, held, body, model, swing(0.7, 0.4)


def test_a_trained_model_follows_the_full_solver_through_an_unseen_motion(trained) -> None:
    rig, held, body, model, poses = trained
    assert model.rule.size < len(body.mesh.tets) / 5
    assert model.particles.size < len(body.mass) / 4
    exact = [one.x for one in run(FullSolver(body, rig=rig, tolerance=1e-5), held, poses, PUSH)]
    solver = SkinnedSolver(body, rig, model)
    found = [solver.positions(state) for state in run(solver, held, poses, PUSH)]
    size = max(np.abs(rig.pull_back(pose, x) - rig.rest).max() for pose, x in zip(poses, exact, strict=True))
    assert np.abs(np.array(found) - exact).max() < 0.03 * size  # the tolerance that was asked for


def test_newmark_stays_calm_through_kinks(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model, integrator="newmark")
    kinked = [poses[k - k % 5] + (k % 5) / 5 * (poses[min(k - k % 5 + 5, 30)] - poses[k - k % 5]) for k in range(31)]
    states = run(solver, held, [*kinked, *(kinked[1:] * 5)], PUSH)
    first, last = (max(np.abs(state.shapes[0]).max() for state in part) for part in (states[:31], states[-31:]))
    assert last < 1.5 * first


def test_chosen_positions_equal_all(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model)
    state = run(solver, held, poses[:12], PUSH)[-1]
    chosen = np.array([40, 3, 17])
    np.testing.assert_array_equal(solver.positions(state, chosen), solver.positions(state)[chosen])


@pytest.mark.parametrize("integrator", ALL)
def test_a_run_goes_on_from_a_packed_state_bit_for_bit(trained, integrator: str) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model, integrator=integrator)
    states = run(solver, held, poses[:9], PUSH)
    other = SkinnedSolver(body, rig, model, integrator=integrator)
    again = run(other, held, poses[:9], PUSH, begin=other.unpack(solver.pack(states[4])))[-1]
    for name, array in solver.pack(states[-1]).items():
        np.testing.assert_array_equal(other.pack(again)[name], array)


def test_motion_in_a_complete_subspace_survives_the_way_to_full_space_and_back() -> None:
    character, rig, held, body = rod()
    solver = SkinnedSolver(body, rig, skin(complete_model(body), body))
    poses = bend(character, rig, 6)
    state = run(solver, held, poses, PUSH)[-1]
    back = solver.from_full(*solver.to_full(state), state.time, pose=state.pose)
    np.testing.assert_allclose(solver.positions(back), solver.positions(state), atol=1e-11)
    np.testing.assert_allclose(back.particles, state.particles, atol=1e-9)


def test_a_step_tells_what_it_was(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model)
    assert "dual quaternion" in solver.describe()[0]
    assert f"{model.particles.size:,} of" in solver.describe()[1]
    step = Inputs(moment(0.0, held, poses[0]), moment(H, held, poses[1]))
    _, report = solver.step(solver.start(step), step)
    assert (report.kind, report.full_share) == ("reduced", 0.0)
    assert report.newton_iterations > 0
    assert model.facts["particles_heldout_error"] < 0.1
    assert model.hash() != replace(model, particles=every_vertex(body)).hash()


def test_a_body_bent_beyond_its_training_is_named(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model, integrator="static")
    with pytest.warns(SuppleWarning, match="times as much as in any training sample"):
        run(solver, held, poses[:2], Gravity(np.array([0.0, -600.0, 0.0])))


def test_a_pose_unlike_all_trained_ones_is_named_and_named_once(trained) -> None:
    rig, held, body, model, _ = trained
    solver = SkinnedSolver(body, rig, replace(model, reach=FAR))
    back = skinned("capsule", 10)[0].poses["bent_back"]
    motion = [k / 8 * back for k in range(9)]
    with pytest.warns(SuppleWarning, match="from any trained pose") as told:
        run(solver, held, motion)
    assert len(told) == 1


def test_where_the_root_is_makes_no_pose_new(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, replace(model, reach=FAR), integrator="static")
    far = poses[10].copy()
    far[:6] += 3.0, -40.0, 2.0, 1.0, -2.0, 0.5
    run(solver, held, [poses[10], far], PUSH)  # a warning would be an error here


def test_loads_that_were_not_trained_for_are_named_and_named_once(trained) -> None:
    rig, held, body, model, poses = trained
    tip = np.array([int(np.argmax(rig.rest[:, 0]))], np.int32)
    poke = NodalForce(tip, np.ones(1), np.array([0.0, 0.0, 1e-3]))
    down = {"patch": GRAVITY, "direction": PUSH.acceleration.tolist()}
    told = replace(model, facts={**model.facts, "loads": [down]}, reach=FAR)
    run(SkinnedSolver(body, rig, told), held, poses[:3], PUSH)  # was trained: a warning would be an error here
    with pytest.warns(SuppleWarning, match="a force on 1 vertices .* that it was not trained for") as warned:
        run(SkinnedSolver(body, rig, told), held, poses[:4], PUSH, poke)
    assert len(warned) == 1
    events = {1: (Grab("g", tuple(tip.tolist()), (1.0,), (0.6, 0.1, 0.3), 0.1),)}
    with pytest.warns(SuppleWarning, match="the grab 'g' of 1 vertices that it was not trained for"):
        run(SkinnedSolver(body, rig, told), held, poses[:4], PUSH, events=events)


def test_a_step_that_fails_names_time_and_element(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model, integrator="static", max_iterations=1, tolerance=1e-12)
    with pytest.raises(ConvergenceError, match="worst element is tet"):
        run(solver, held, [poses[0], poses[15]], PUSH)


def test_misfits_are_refused(trained) -> None:
    rig, held, body, model, poses = trained
    with pytest.raises(SceneError, match="bones cross"):
        SkinnedSolver(body.pinned(Pins.none()), rig, model)
    with pytest.raises(SceneError, match="other vertices than the body's"):
        SkinnedSolver(body, replace(rig, rest=rig.rest + 0.1), model)
    with pytest.raises(SceneError, match="integrator 'leapfrog'"):
        SkinnedSolver(body, rig, model, integrator="leapfrog")
    _, small, _, other = rod()
    with pytest.raises(SceneError, match="train again"):
        SkinnedSolver(other, small, model)
    with pytest.raises(SceneError, match="no elements"):
        SkinnedSolver(body, rig, replace(model, rule=Rule(np.zeros(0, np.int64), np.zeros(0), 0.0)))
    solver = SkinnedSolver(body, rig, model)
    away = moment(0.0, held, poses[0])
    with pytest.raises(SceneError, match="let pins follow the rig"):
        solver.start(Inputs(replace(away, targets=away.targets + 0.1), moment(H, held, poses[1])))


def test_a_pin_of_the_user_holds_until_it_is_taken_away(trained) -> None:
    rig, held, body, model, _ = trained
    solver = SkinnedSolver(body, rig, model, integrator="static", tolerance=1e-8)
    tip = int(np.argmax(rig.rest[:, 0]))
    events = {0: (AddPin((tip,), "xyz"),), 2: (RemovePin((tip,), "xyz"),)}
    states = run(solver, held, [rig.neutral] * 4, PUSH, events=events)
    free = run(solver, held, [rig.neutral] * 2, PUSH)[-1]
    gone = [np.linalg.norm(solver.positions(state, np.array([tip])) - rig.rest[tip]) for state in (*states, free)]
    assert gone[2] < 0.1 * gone[4]
    assert gone[3] == pytest.approx(gone[4], rel=1e-5)


def test_bad_inputs_are_refused(trained) -> None:
    rig, held, body, model, poses = trained
    solver = SkinnedSolver(body, rig, model)
    first, second = moment(0.0, held, poses[0]), moment(H, held, poses[1])
    state = solver.start(Inputs(first, second))
    with pytest.raises(SceneError, match="not a finite number"):
        solver.step(state, Inputs(first, replace(second, pose=np.full_like(poses[0], np.nan))))
    with pytest.raises(SceneError, match="has no pose"):
        solver.step(state, Inputs(first, replace(second, pose=None)))
    with pytest.raises(SceneError, match="makes no sense"):
        solver.step(state, Inputs(first, first))
    with pytest.raises(SceneError, match="let go"):
        solver.step(state, Inputs(first, second, (RemovePin((int(held.pins.vertices[0]),), "xyz"),)))
