"""Equilibria of flesh that bones press: nothing is asked twice, and none is looked for closer than a rule knows it."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from reduced_helpers import modal_model
from rig_helpers import moment
from test_condensation_rules import CONTACT, condense, finger, play
from test_skinned import rod, skin

from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.method import CondensationSolver
from supple.solve import Inputs, Placement

BALL, INTO = 0.1, 0.03


def test_coordinates_alone_are_solved_once_from_one_state(monkeypatch) -> None:
    """Where touched flesh may have come free, and where it is looked for from: the same step."""
    solver = condense(finger()[4], CONTACT)
    steps, tools, solved, asked = solver._steps, solver._tools, [], []
    step, alone = steps.step, tools.step_alone

    def count(kept, call):
        def counted(below, inputs):
            kept.append((below, inputs))  # kept, so that no other object takes its place in memory
            return call(below, inputs)

        return counted

    monkeypatch.setattr(steps, "step", count(solved, step))
    monkeypatch.setattr(tools, "step_alone", count(asked, alone))
    _, reports = play(solver)
    assert reports[-1].full_share > 0.0
    assert len({(id(below), id(inputs)) for below, inputs in solved}) == len(solved) < len(asked)


def press(error: float, *, slack: bool = True):
    """A bar that bones bend against a ball, its rule wrong by an `error`: where it ends, Newton iterations, and the
    residual it ends with."""
    character, rig, held, body = rod(resolution=10)
    model = skin(modal_model(body, 6), body)
    model = replace(model, rule=replace(model.rule, training_error=error, heldout_error=error))
    contact = ContactSettings(friction=0.0, self_contact=False)
    solver = CondensationSolver(
        body, model, rig=rig, radius=0.25, integrator="static", colliders=(Sphere(BALL),), contact=contact
    )
    assert solver._tools.slack == pytest.approx(error**2)
    if not slack:
        solver._tools.slack = 0.0
    place = (Placement(np.eye(3), np.array([0.1, rig.rest[:, 1].max() + BALL - INTO, 0.0])),)
    poses = [k / 4 * 0.5 * character.poses["bent"] for k in range(5)]
    moments = [replace(moment(float(k), held, pose), colliders=place) for k, pose in enumerate(poses)]
    state, iterations, residual = solver.start(Inputs(moments[0], moments[1])), 0, 0.0
    for begin, end in pairwise(moments):
        state, report = solver.step(state, Inputs(begin, end))
        iterations += report.newton_iterations
        residual = max(residual, report.residual)
    assert report.contacts > 0
    assert report.full_share > 0.0
    return solver.positions(state), iterations, residual


def test_a_collider_presses_no_longer_than_the_rule_can_tell() -> None:
    """Where the ball lets flesh slip to one side only."""
    exact, many, residual = press(0.04, slack=False)
    assert residual <= 1e-4
    x, few, left = press(0.04)
    assert few < 0.75 * many
    assert left > 1e-4  # a report does not hide it
    moved = np.linalg.norm(exact - rod(resolution=10)[3].mesh.vertices)
    assert np.linalg.norm(x - exact) < 0.01 * moved
