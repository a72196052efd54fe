"""Self-contact by rules: nothing where nothing touches, few contacts that do what all do, silence told."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from articulated_helpers import every
from reduced_helpers import FAR, modal_model
from rig_helpers import moment, skinned

from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness
from supple.cubature.train_contact_rules import train_direct
from supple.elastic import Body, Damping
from supple.errors import SceneError, SuppleWarning
from supple.io.skinned_file import load_skinned, save_skinned
from supple.material import Corotational
from supple.method import FullSolver, SkinnedModel, SkinnedSolver
from supple.method.contact_samples import LEARNED, ContactSampler, Shapes, between
from supple.method.selfcontact_training import choose_apart, learn_contacts
from supple.solve import Inputs
from supple.subspace import diagonalise
from supple.subspace.contact_columns import contact_columns, lead_with_contacts
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis

STEPS = 2
CONTACT = ContactSettings(self_contact=True)
RULES = replace(CONTACT, rules=True)


@cache
def finger():
    """A soft finger, its bones held, and poses from before it touches itself until it is curled."""
    character, rig, held, body = skinned("finger", 20)
    body = Body.build(body.mesh, Corotational(young=5e3, poisson=0.08), held.pins, Damping())
    poses = np.array([share * character.poses["curled"] for share in np.linspace(0.76, 0.82, STEPS + 1)])
    return rig, held, body, poses


def run(solver, poses, held) -> tuple[list, list]:
    """States and reports of static steps through poses."""

    def inputs(k: int) -> Inputs:
        return Inputs(*(moment(float(j), held, poses[j]) for j in (k, k + 1)))

    states, reports = [solver.start(inputs(0))], []
    for k in range(len(poses) - 1):
        state, report = solver.step(states[-1], inputs(k))
        states.append(state)
        reports.append(report)
    return states[1:], reports


@cache
def recorded() -> np.ndarray:
    """Full-space equilibria with contact."""
    rig, held, body, poses = finger()
    full = FullSolver(body, integrator="static", tolerance=1e-5, contact=CONTACT, rig=rig, rest="neutral")
    return np.array([full.positions(state) for state in run(full, poses, held)[0]])


@cache
def trained():
    rig, _, body, poses = finger()
    x, own = recorded(), SelfContact(body.mesh)
    pulled = pull_back_all(rig, poses[1:], x)
    basis = pulled_back_basis(pulled, body.mass, rank=STEPS)
    basis = diagonalise(lead_with_contacts(basis, contact_columns(body, rig, poses[1:], x, own)), body)
    rng = np.random.default_rng(0)
    model = SkinnedModel(basis, every(len(body.mesh.tets)), every(len(body.mass)), FAR)
    before = np.linspace(0.0, 0.9, 8)[:, None] * poses[0]  # in which nothing touches
    known, shapes = np.concatenate([before, poses[1:]]), np.concatenate([np.zeros((8, *pulled[0].shape)), pulled])
    return learn_contacts(body, rig, model, known, shapes, CONTACT, rng)


def test_rules_do_what_all_contacts_do() -> None:
    """In poses whose contacts settle, so that there is one answer."""
    rig, held, body, poses = finger()
    ends = []
    for contact in (CONTACT, RULES, None):
        solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=contact)
        states, reports = run(solver, poses, held)
        assert all(report.contact_settled for report in reports)
        ends.append(solver.positions(states[-1]))
    assert np.linalg.norm(ends[1] - ends[0]) < 0.01 * np.linalg.norm(ends[2] - ends[0])
    own = SelfContact(body.mesh)
    deepest = [own.find(x).depth.max(initial=0.0) for x in ends]
    assert deepest[1] < 1.5 * max(deepest[0], 0.01 * own.edge)
    assert deepest[2] > 5.0 * deepest[1]


def test_where_nothing_touches_rules_change_nothing() -> None:
    rig, held, body, poses = finger()
    before = np.array([share * poses[0] for share in (0.0, 0.5, 0.9)])
    found = []
    for contact in (RULES, None):
        solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=contact)
        states, reports = run(solver, before, held)
        assert not any(report.contacts for report in reports)
        found.append(np.array([solver.positions(state) for state in states]))
    np.testing.assert_allclose(found[0], found[1], atol=1e-7 * body.mesh.size())


def test_far_from_all_poses_it_says_so_and_stays_bounded() -> None:
    rig, held, body, poses = finger()
    solver = SkinnedSolver(body, rig, trained(), integrator="implicit_euler", contact=RULES)
    away = np.array([rig.neutral, -0.3 * poses[-1], -0.6 * poses[-1]])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", SuppleWarning)  # the model says as well that it knows no such pose
        states, _ = run(solver, away, held)
    assert any("no contact rule for" in str(one.message) for one in said)
    assert np.abs(solver.positions(states[-1])).max() < 3.0 * body.mesh.size()


def test_one_rule_for_all_poses_needs_a_quarter_of_all_contacts() -> None:
    """The negative result of [TOK14] 4.2, on a bent capsule."""
    character, rig, _, body = skinned("capsule", 12)
    model = _bent_capsule()
    sampler = ContactSampler(body, rig, model.basis, SelfContact(body.mesh), default_stiffness(body))
    looks, most = [], 0
    for share in np.linspace(0.8, 1.0, 6):
        pose = share * character.poses["folded"]
        free = np.zeros(model.basis.rank)
        some = between(sampler, Shapes(pose, free, free), LEARNED[:1])
        looks.append(some)
        most = max(most, len(some[0].pairs))
    scale = 1.0 / np.sqrt(model.basis.importance)
    direct, count = train_direct(looks, scale, 0.02, np.random.default_rng(0))
    single = max(train_direct([some], scale, 0.02, np.random.default_rng(0))[0].size for some in looks)
    assert count >= most > 40
    assert direct.size >= 0.25 * count
    assert single <= direct.size / 2


def _bent_capsule():
    return modal_model(skinned("capsule", 12)[3], 8)


def test_a_model_keeps_its_rules_in_its_file(tmp_path) -> None:
    rig, _, body, poses = finger()
    model = trained()
    file = save_skinned(tmp_path / "finger.npz", model, body, rig)
    again = load_skinned(file, body, rig)
    assert again.hash() == model.hash() != replace(model, contacts=None).hash()
    one, other = (m.contacts.choose(rig.skeleton, poses[-2]) for m in (model, again))
    np.testing.assert_array_equal(one.pairs, other.pairs)
    np.testing.assert_array_equal(one.areas, other.areas)


def test_a_model_without_rules_is_refused() -> None:
    rig, _, body, _ = finger()
    with pytest.raises(SceneError, match="no rules"):
        SkinnedSolver(body, rig, replace(trained(), contacts=None), contact=RULES)


def test_poses_apart() -> None:
    rig, _, _, poses = finger()
    assert choose_apart(rig, poses, 2).tolist() == [0, STEPS]
    assert len(choose_apart(rig, np.repeat(poses[:1], 4, axis=0), 3)) == 1
