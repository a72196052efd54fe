"""Contact that may open, in pose space: flesh stops at itself, comes apart when pulled, and costs nothing elsewhere."""

from dataclasses import replace
from functools import cache

import numpy as np
from posespace_helpers import drive, whole_rules

from pads import APART, TOUCH, two_pads
from supple.contact.settings import ContactSettings
from supple.method.full.solver import FullSolver
from supple.method.posespace.model import assemble
from supple.method.posespace.solver import PoseSpaceSolver
from supple.rig import Held
from supple.solve import Inputs, Moment, NodalForce
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.pose_models import build_pose_bases
from supple.subspace.self_touch import SelfTouch

POSES = np.array([[0.0], [0.9], TOUCH])
STEP = 1.0 / 60.0
PUSH = -60.0  # [N]


@cache
def model(binding):
    body, rig = two_pads()
    touch = SelfTouch(body.mesh, binding) if binding else None
    bases = build_pose_bases(body, rig, POSES, 12, maker=PoseColumns(touch))
    return assemble(body, rig, bases, whole_rules(body, len(POSES)), touch=touch)


def press(binding, force, pose=lambda time: TOUCH, steps=40, model_of=model):
    """The pads in a pose, the face of the upper one pushed by a force [N]; gaps of the faces in time [m]."""
    body, rig = two_pads()
    solver = PoseSpaceSolver(body, rig, model_of(binding))
    y = body.mesh.vertices[:, 1]
    faces = [np.flatnonzero(np.abs(y - at) < 1e-9) for at in (0.1, 0.1 + APART)]
    upper = faces[1].astype(np.int32)
    push = NodalForce(upper, np.full(len(upper), 1.0 / len(upper)), np.array([0.0, force, 0.0]))
    states = drive(solver, Held(rig, body.pins), pose, STEP, steps, push)
    x = np.array([solver.positions(state) for state in states])
    return x[:, faces[1], 1] - x[:, faces[0], 1], states, solver


def test_flesh_pressed_to_itself_stops_where_without_contact_it_would_pass_through() -> None:
    free, _, _ = press(None, PUSH)
    assert free.min() < -0.001  # [m]: the faces have passed through each other
    gap, states, solver = press("opens", PUSH)
    assert solver.model.pairs.shape[0] > 10
    assert gap.min() >= 0.0
    assert gap[-1].max() < 0.001
    # The lower pad gives way to the upper one: both move, as one
    still = solver.positions(states[0])
    lower = np.abs(solver.rig.rest[:, 1] - 0.1) < 1e-9
    assert (solver.positions(states[-1]) - still)[lower, 1].mean() < -0.001


def test_contact_opens_when_it_is_pulled() -> None:
    gap, states, solver = press("opens", -PUSH)
    assert gap[-1].min() > 0.003
    assert gap.min() >= 0.0
    still = solver.positions(states[0])
    lower = np.abs(solver.rig.rest[:, 1] - 0.1) < 1e-9
    assert np.abs(solver.positions(states[-1]) - still)[lower].max() < 0.05 * gap[-1].max()  # it is left alone
    closed, _, _ = press("slides", -PUSH)
    assert np.abs(closed - closed[0]).max() < 1e-7  # the paper's contact is glued along its normal


def test_pressed_and_pulled_faces_lie_as_the_full_solver_has_them() -> None:
    body, rig = two_pads()
    y = body.mesh.vertices[:, 1]
    lower, upper = (np.flatnonzero(np.abs(y - at) < 1e-9) for at in (0.1, 0.1 + APART))
    # Sharp rims that lie on each other are found by a thickness only; it parts the faces, and leaves their mean
    contact = ContactSettings(self_contact=True, stiffness=1e7, thickness=0.002)
    full = FullSolver(body, integrator="static", contact=contact, rig=rig, rest="posed")
    shares = np.full(len(upper), 1.0 / len(upper))
    for force, who in ((PUSH, np.concatenate([lower, upper])), (-PUSH, upper)):
        push = NodalForce(upper.astype(np.int32), shares, np.array([0.0, force, 0.0]))
        moved = []
        for solver in (full, PoseSpaceSolver(body, rig, model("opens"), integrator="static")):
            states = drive(solver, Held(rig, body.pins), lambda time: TOUCH, 1.0, 1, push)
            moved.append((solver.positions(states[1]) - solver.positions(states[0]))[who, 1].mean())
        assert abs(moved[0]) > 0.002
        assert abs(moved[1] - moved[0]) < 0.2 * abs(moved[0])


def test_a_pose_that_opens_lets_go() -> None:
    gap, _, _ = press("opens", PUSH, lambda time: TOUCH * (1.0 - min(time / 0.3, 1.0)))
    assert gap.min() >= 0.0
    assert gap[-1].min() > 0.5 * APART


def test_without_contacts_in_reach_steps_are_those_of_a_model_that_has_none() -> None:
    def bare(binding):
        one = model("opens")
        empty = one.pairs[:0], one.pair_weights[:0], np.zeros((0, 0, 3)), one.pair_thickness[:0]
        names = ("pairs", "pair_weights", "pair_normals", "pair_thickness")
        return one if binding else replace(one, **dict(zip(names, empty, strict=True)))

    away = lambda time: np.array([0.5])  # noqa: E731
    ends = [press(binding, 5.0, away, 10, bare)[1][-1].y for binding in ("opens", None)]
    assert np.array_equal(*ends)


def test_steps_of_many_are_those_of_one() -> None:
    _, states, solver = press("opens", PUSH, steps=3)
    body, rig = two_pads()
    held = Held(rig, body.pins)
    given = Inputs(*(Moment(time, held.targets(TOUCH), pose=TOUCH) for time in (3 * STEP, 4 * STEP)))
    one = solver.step(states[-1], given)[0]
    both = solver.step_all([states[-1], states[0]], [given, given])
    assert np.array_equal(both[0].y, one.y)
