"""Contact rules beside full space: rules where there are any, full space where not, never both in one place."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from reduced_helpers import modal_model
from rig_helpers import moment, skinned
from test_skinned import skin

from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.cubature.contact_rules import ContactRules
from supple.elastic import Body, Damping
from supple.errors import SceneError
from supple.material import Corotational
from supple.method import CondensationSolver, SkinnedSolver
from supple.method.selfcontact.training import learn_contacts
from supple.solve import Inputs, Placement

CONTACT = ContactSettings(self_contact=True, friction=0.0)
RULES = replace(CONTACT, rules=True)
SHARES = (0.5, 0.7, 0.85)


@cache
def finger():
    """A finger that curls until it touches itself, and a model with rules for that."""
    character, rig, held, body = skinned("finger", 14)
    body = Body.build(body.mesh, Corotational(young=5e3, poisson=0.1), held.pins, Damping())
    curled = character.poses["curled"]
    known, none = np.outer([0.5, 0.7, 0.8, 0.9], curled), np.zeros((4, len(body.mass), 3))
    rng = np.random.default_rng(0)
    model = learn_contacts(body, rig, skin(modal_model(body, 8), body), known, none, CONTACT, rng)
    return rig, held, body, np.outer(SHARES, curled), model


def play(solver, *places: Placement):
    """Positions at the end, and reports."""
    _, held, _, poses, _ = finger()
    moments = [replace(moment(float(k), held, pose), colliders=places) for k, pose in enumerate(poses)]
    inputs = [Inputs(begin, end) for begin, end in pairwise(moments)]
    state, reports = solver.start(inputs[0]), []
    for one in inputs:
        state, report = solver.step(state, one)
        reports.append(report)
    return solver.positions(state), reports


def condense(model, contact=RULES, **more) -> CondensationSolver:
    rig, _, body, _, _ = finger()
    return CondensationSolver(body, model, rig=rig, radius=0.1, integrator="static", contact=contact, **more)


def alone(contact: ContactSettings | None):
    rig, _, body, _, model = finger()
    return play(SkinnedSolver(body, rig, model, integrator="static", contact=contact))


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_what_has_rules_stays_in_the_subspace(alpha: float) -> None:
    """The same contacts as in the solver of skinned bodies, and no vertex is full."""
    contact = replace(RULES, alpha=alpha)
    x, reports = play(condense(finger()[4], contact))
    exact, others = alone(contact)
    assert reports[-1].contacts == others[-1].contacts > 0
    assert reports[-1].full_share == 0.0
    assert np.linalg.norm(x - exact) < 1e-3 * np.linalg.norm(exact - alone(None)[0])


def test_where_no_rule_fits_contacts_are_met_in_full_space() -> None:
    """As if all contacts were looked at; the rules say themselves that they are too far away."""
    model = finger()[4]
    lost = ContactRules(tuple(replace(rule, reach=-1.0) for rule in model.contacts.rules))
    x, reports = play(condense(replace(model, contacts=lost)))
    assert 0.0 < reports[-1].full_share < 1.0
    everything, _ = play(condense(model, CONTACT))
    assert np.abs(x - everything).max() < 0.02 * np.abs(everything - alone(None)[0]).max()


def test_a_region_that_reaches_a_rule_makes_its_bones_novel() -> None:
    """A ball pushes beside where the finger touches itself: both are met in full space, within the same step."""
    rig, _, body, poses, model = finger()
    x, _ = alone(RULES)
    touching = model.contacts.choose(rig.skeleton, poses[-1]).pairs[:, 0]
    surface = body.mesh.surface_vertices()
    near = surface[np.linalg.norm(x[surface] - x[touching].mean(axis=0), axis=1) < 0.008]
    side = int(near[np.argmax(x[near, 2])])
    place = Placement(np.eye(3), x[side] + np.array([0.0, 0.0, 0.0085]))
    ends = []
    for contact in (RULES, CONTACT):
        end, reports = play(condense(model, contact, colliders=(Sphere(0.01),)), place)
        ends.append(end)
        assert reports[-1].full_share > 0.0
        assert set(reports[-1].touching.source.tolist()) == {-1, 0}
    # No rule is left, so that all is as if there were none
    assert np.abs(ends[0] - ends[1]).max() < 1e-3 * np.abs(ends[1] - x).max()


def test_a_model_without_rules_is_refused() -> None:
    with pytest.raises(SceneError, match="the model has no rules for contact"):
        condense(replace(finger()[4], contacts=None))


def test_flesh_that_touches_nothing_any_more_is_where_the_coordinates_have_it() -> None:
    """At once, and exactly: an equilibrium keeps nothing of what pressed it. The paper's two frames stay on offer."""
    rig, held, body, poses, model = finger()
    known = SkinnedSolver(body, rig, model, integrator="static")
    ends = {}
    for name, solver in {
        "settled": condense(model, CONTACT), "frames": condense(model, CONTACT, release="frames"), "alone": known
    }.items():  # fmt: skip
        moments = [moment(float(k), held, pose) for k, pose in enumerate((poses[0], poses[-1], poses[0]))]
        inputs = [Inputs(begin, end) for begin, end in pairwise(moments)]
        state, reports = solver.start(inputs[0]), []
        for one in inputs:
            state, report = solver.step(state, one)
            reports.append(report)
        ends[name] = solver.positions(state), [report.full_share for report in reports]
    x, shares = ends["settled"]
    assert shares[0] > 0.0
    assert shares[1] == 0.0
    assert ends["frames"][1][1] > 0.0
    assert np.abs(x - ends["alone"][0]).max() < 1e-6 * np.ptp(x, axis=0).max()


def test_pressed_flesh_is_looked_for_no_closer_than_its_rule_knows_it() -> None:
    """It ends sooner than at the tolerance, 0.3 % of what contact moves from where that leads; six times as much slack
    would leave 11 %."""
    model = finger()[4]
    known = replace(model, rule=replace(model.rule, training_error=0.04))
    x, reports = play(condense(known, CONTACT))
    _, others = play(condense(model, CONTACT))
    exact, _ = play(condense(model, CONTACT, tolerance=1e-9))
    assert reports[-1].residual > 1e-2
    assert others[-1].residual <= 1e-4
    assert reports[-1].newton_iterations < others[-1].newton_iterations
    assert np.abs(x - exact).max() < 0.01 * np.abs(exact - alone(None)[0]).max()
