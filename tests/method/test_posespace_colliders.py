"""Colliders in pose space: flesh stops at them as in full space, friction keeps to its cone, far ones do nothing."""

from functools import cache

import numpy as np
import pytest
from helpers import DOWN
from posespace_helpers import beam_model, bend_beam, pose_bases, whole_rules

from pads import APART, TOUCH, two_pads
from supple.contact.collider import Collider
from supple.contact.contacts import SELF
from supple.contact.plane import Plane
from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.errors import SceneError
from supple.method.full.solver import FullSolver
from supple.method.posespace.model import assemble
from supple.method.posespace.solver import PoseSpaceSolver
from supple.rig import Held
from supple.solve import Gravity, Inputs, Moment, NodalForce, Placement
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.self_touch import SelfTouch

STEP = 1.0 / 60.0
NOTHING = Gravity(np.zeros(3))
OPEN = np.zeros(1)  # the pose in which the pads are apart


def at(x: float, y: float, z: float) -> Placement:
    return Placement(np.eye(3), np.array([x, y, z]))


def run(solver, held, pose, place, steps, force=DOWN, h=STEP):
    """States and reports of a run along poses and placements by time [s]."""

    def moment(time):
        return Moment(time, held.targets(pose(time)), (force,), (place(time),), pose(time))

    states, reports = [solver.start(Inputs(moment(0.0), moment(h)))], []
    for k in range(steps):
        state, report = solver.step(states[-1], Inputs(moment(h * k), moment(h * (k + 1))))
        states.append(state)
        reports.append(report)
    return states, reports


@cache
def complete_pads():
    """Two pads of which every vibration is known."""
    body, rig = two_pads(20)
    free = 3 * (len(body.mass) - len(body.pins.vertices))
    bases = pose_bases(body, rig, [OPEN, np.array([0.5])], free, free)
    return body, rig, Held(rig, body.pins), assemble(body, rig, bases, whole_rules(body, 2))


def pressed(friction: float, way: float, collider: Collider | None = None, steps: int = 30, integrator="static"):
    """A plate between the pads that presses 5 mm into the lower one, then goes aside by `way` [m]."""
    body, rig, held, model = complete_pads()

    def place(time):
        share = min(time / (steps * STEP), 1.0)
        return at(way * max(2.0 * share - 1.0, 0.0), 0.1 - 0.005 * min(2.0 * share, 1.0), 0.0)

    solver = PoseSpaceSolver(
        body, rig, model, integrator=integrator, colliders=[collider or Plane((0.0, -1.0, 0.0))],
        contact=ContactSettings(friction=friction),
    )  # fmt: skip
    return solver, *run(solver, held, lambda time: OPEN, place, steps, NOTHING)


def lower_face() -> np.ndarray:
    return np.flatnonzero(np.abs(complete_pads()[0].mesh.vertices[:, 1] - 0.1) < 1e-9)


class Ceiling(Plane):
    """A plane that leaves the upper pad alone."""

    def near(self, points, reach):
        found = super().near(points, reach)
        return found[points[found, 1] < 0.04]

    def closest(self, points):
        found = super().closest(points)
        return found._replace(distance=np.where(points[:, 1] < 0.04, found.distance, 1.0))


def test_flesh_goes_no_deeper_into_a_collider_than_a_hair() -> None:
    solver, states, reports = pressed(0.0, 0.0, Ceiling((0.0, -1.0, 0.0)))
    size = solver.body.mesh.size()
    heights = solver.positions(states[-1])[lower_face(), 1]
    assert np.abs(heights - 0.095).max() < 3e-5 * size
    touching = reports[-1].touching
    assert touching is not None
    assert set(touching.vertex) == set(lower_face())
    assert touching.depth.max() < 3e-5 * size
    assert reports[-1].contact_settled


def test_the_force_is_that_of_full_space() -> None:
    _, _, reports = pressed(0.0, 0.0, Ceiling((0.0, -1.0, 0.0)))
    body, rig, held, _ = complete_pads()
    full = FullSolver(
        body, integrator="static", rig=rig, rest="posed", colliders=[Ceiling((0.0, -1.0, 0.0))],
        contact=ContactSettings(stiffness=1e9),
    )  # fmt: skip
    place = lambda time: at(0.0, 0.1 - 0.005 * min(time / (2 * STEP), 1.0), 0.0)  # noqa: E731
    _, expected = run(full, held, lambda time: OPEN, place, 3, NOTHING)
    forces = [one[-1].touching.force.sum(axis=0) for one in (reports, expected)]
    assert forces[1][1] < -1.0  # [N]
    assert abs(forces[0][1] - forces[1][1]) < 0.02 * abs(forces[1][1])


@pytest.mark.parametrize("friction", [0.2, 0.6])
def test_what_slides_is_dragged_by_the_coefficient(friction) -> None:
    _, _, reports = pressed(friction, 0.2, Ceiling((0.0, -1.0, 0.0)))
    force = reports[-1].touching.force.sum(axis=0)
    assert force[0] == pytest.approx(-friction * force[1], rel=0.02)
    assert abs(force[2]) < 0.02 * force[0]
    each = reports[-1].touching.force
    assert (np.hypot(each[:, 0], each[:, 2]) <= 1.001 * friction * -each[:, 1] + 1e-6).all()


def test_what_sticks_goes_along() -> None:
    solver, states, _ = pressed(1.0, 0.004, Ceiling((0.0, -1.0, 0.0)))
    moved = solver.positions(states[-1])[lower_face(), 0] - solver.rig.rest[lower_face(), 0]
    free, others, _ = pressed(0.0, 0.004, Ceiling((0.0, -1.0, 0.0)))
    left = free.positions(others[-1])[lower_face(), 0] - solver.rig.rest[lower_face(), 0]
    assert np.abs(moved - left).mean() == pytest.approx(0.004, rel=0.15)


def test_without_friction_nothing_is_dragged() -> None:
    _, _, reports = pressed(0.0, 0.2, Ceiling((0.0, -1.0, 0.0)))
    force = reports[-1].touching.force
    assert np.abs(force[:, [0, 2]]).max() == 0.0


def test_a_moving_arm_stops_at_a_ball_as_in_full_space() -> None:
    body, rig, held = bend_beam(6, 2e5, (2.0, 0.0))
    model = beam_model(body, rig, 0.8, 3, 12, 40)
    pose = lambda time: np.array([0.5 * np.sin(4.0 * time)])  # noqa: E731
    place = lambda time: at(0.9, -0.32, 0.08)  # noqa: E731
    ball = [Sphere(0.25)]
    solver = PoseSpaceSolver(body, rig, model, colliders=ball)
    full = FullSolver(body, rig=rig, rest="posed", colliders=ball, contact=ContactSettings(stiffness=1e8))
    bare = PoseSpaceSolver(body, rig, model, colliders=[Sphere(0.01)])
    ends = []
    for one in (solver, full, bare):
        states, reports = run(one, held, pose, place, 40)
        ends.append((np.array([one.positions(state) for state in states]), reports))
    tip = [x[:, body.mesh.vertices[:, 0] > 0.9].mean(axis=1) for x, _ in ends]
    stopped = np.abs(tip[1] - tip[2]).max()
    assert stopped > 0.05  # [m]: the ball matters
    assert np.abs(tip[0] - tip[1]).max() < 0.1 * stopped
    inside = 0.25 - np.linalg.norm(ends[0][0] - [0.9, -0.32, 0.08], axis=2)
    assert inside.max() < 2e-3  # [m]
    assert any(report.contacts for report in ends[0][1])


def test_a_collider_out_of_reach_changes_not_a_bit() -> None:
    body, rig, held = bend_beam(6, 2e5, (2.0, 0.0))
    model = beam_model(body, rig, 0.8, 3)
    far = PoseSpaceSolver(body, rig, model, colliders=[Plane()])
    pose = lambda time: np.array([0.4 * np.sin(9.0 * time)])  # noqa: E731
    states, reports = run(far, held, pose, lambda time: at(0.0, -5.0, 0.0), 8)
    again, _ = run(far, held, pose, lambda time: at(0.0, -50.0, 0.0), 8)
    assert np.array_equal(states[-1].y, again[-1].y)
    assert all(report.touching is None for report in reports)


def test_what_touches_its_like_is_dragged_too() -> None:
    body, rig = two_pads(40)
    touch = SelfTouch(body.mesh, "opens")
    bases = build_pose_bases(body, rig, np.array([[0.0], [0.9], TOUCH]), 40, maker=PoseColumns(touch))
    model = assemble(body, rig, bases, whole_rules(body, 3), touch=touch)
    y = body.mesh.vertices[:, 1]
    lower, upper = (np.flatnonzero(np.abs(y - level) < 1e-9) for level in (0.1, 0.1 + APART))
    held = Held(rig, body.pins)
    push = NodalForce(upper.astype(np.int32), np.full(len(upper), 1.0 / len(upper)), np.array([20.0, -60.0, 0.0]))

    def moment(time):
        return Moment(time, held.targets(TOUCH), (push,), pose=TOUCH)

    lag, along = [], []
    for friction in (0.0, 0.2, 0.8):
        solver = PoseSpaceSolver(body, rig, model, contact=ContactSettings(friction=friction))
        state = first = solver.start(Inputs(moment(0.0), moment(STEP)))
        for k in range(30):
            state, _ = solver.step(state, Inputs(moment(STEP * k), moment(STEP * (k + 1))))
        moved = (solver.positions(state) - solver.positions(first))[:, 0]
        lag.append(moved[upper].mean())
        along.append(moved[lower].mean())
    assert lag[0] > lag[1] > lag[2]  # the upper pad is held back
    assert along[0] < along[1] < along[2]  # and takes the lower one along
    assert along[2] - along[0] > 0.2 * lag[0]


def test_forgotten_placements_are_named() -> None:
    body, rig, held = bend_beam(6, 2e5, (2.0, 0.0))
    solver = PoseSpaceSolver(body, rig, beam_model(body, rig, 0.8, 3), colliders=[Plane()])
    moments = [Moment(time, held.targets(OPEN), (DOWN,), pose=OPEN) for time in (0.0, STEP)]
    with pytest.raises(SceneError, match="places 0 colliders where there are 1"):
        solver.step(solver.start(Inputs(*moments)), Inputs(*moments))


def test_colliders_are_told_from_the_body_itself() -> None:
    _, _, reports = pressed(0.0, 0.0, Ceiling((0.0, -1.0, 0.0)), steps=4)
    assert (reports[-1].touching.source != SELF).all()
