"""Self-contact by rules: nothing where nothing touches, few contacts that do what all do, silence told."""

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from articulated_helpers import every
from reduced_helpers import FAR, modal_model
from rig_helpers import moment, skinned

from supple.contact.ruled_detector import RuledDetector
from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness
from supple.cubature import Rule
from supple.cubature.train_contact_rules import train_direct
from supple.elastic import Body, Damping
from supple.errors import SceneError, SuppleWarning
from supple.io.skinned_file import load_skinned, save_skinned
from supple.material import Corotational
from supple.mesh import TetMesh
from supple.method import FullSolver, SkinnedModel, SkinnedSolver
from supple.method.contact_samples import LEARNED, ContactSampler, Shapes, between
from supple.method.selfcontact.look import KEEPS, LOOSE, Anchors, Asked, Rub, look_again
from supple.method.selfcontact.places import lead, lift_and_walk
from supple.method.selfcontact.touching import RuledTouching, recall_pairs
from supple.method.selfcontact.training import choose_apart, learn_contacts
from supple.rig import Held, Skeleton, SkinnedRig
from supple.solve import Inputs, Moment
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


def test_compiled_rounds_end_where_those_for_everything_end() -> None:
    """Those that know colliders too."""
    rig, held, body, poses = finger()
    ends = []
    for contact, compiled in ((RULES, True), (RULES, False), (None, False)):
        solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=contact)
        if contact is not None and not compiled:
            assert isinstance(solver._touching, RuledTouching)
            solver._touching._rounds = None
        states, reports = run(solver, poses, held)
        ends.append(solver.positions(states[-1]))
        if contact is not None:
            assert reports[-1].contacts > 0
            assert all(report.contact_settled for report in reports)
    assert np.linalg.norm(ends[1] - ends[0]) < 3e-3 * np.linalg.norm(ends[2] - ends[0])


def test_steps_tell_what_contacts_take() -> None:
    """Looking, and forces and stiffness, are parts of the frame; without contact nothing is spent on either."""
    rig, held, body, poses = finger()
    for contact in (RULES, None):
        solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=contact)
        spent = run(solver, poses, held)[1][-1].milliseconds
        parts = [spent.get(name, 0.0) for name in ("contact", "contact forces")]
        assert all((part > 0.0) == (contact is not None) for part in parts)
        assert sum(parts) < spent["total"]


def test_contacts_are_those_of_the_end() -> None:
    """Looked at after every iteration, so that few are needed, and forces balance with what touches in the end."""
    rig, held, body, poses = finger()
    solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=RULES, tolerance=1e-6)
    reports = run(solver, poses, held)[1]
    for report in reports:
        assert report.contacts > 0
        assert report.contact_settled
        assert report.newton_iterations == report.contact_rounds <= 12
        assert report.residual <= 1e-6
        assert 0.0 < report.milliseconds["contact"] < report.milliseconds["total"]


def test_late_looks_keep_what_touched() -> None:
    """Points, normals and areas too, so that nothing comes and goes; early ones see it as it is now."""
    rig, held, body, poses = finger()
    solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=RULES)
    state = run(solver, poses, held)[0][-1]
    chosen, q = trained().contacts.choose(rig.skeleton, poses[-1]), state.shapes[0]
    assert isinstance(solver._touching, RuledTouching)
    rounds = solver._touching._rounds
    assert rounds is not None
    places, (vertices, triangle) = rounds._begin(poses[-1], state), chosen.pairs.T.copy()
    nowhere = np.full(len(vertices), -1, np.int32)
    asked = Asked(vertices, lead(q, vertices, triangle, rounds._skin, places), nowhere.copy(), chosen.weights)
    anchors, rub = Anchors.none(len(vertices)), Rub(0.0, 1.0, False, True)

    def look(at: np.ndarray, level: int):
        lift_and_walk(at, asked, rounds._skin, rounds._shallows, places)
        return look_again(asked, nowhere, anchors, level, 0.5, rub, rounds._skin, places)

    away = 1.3 * q  # where flesh is elsewhere
    seen, rows, touch = look(q, LOOSE)
    kept, kept_rows, held_on = look(away, KEEPS)
    assert len(rows) > 0
    assert set(rows) <= set(kept_rows)
    place = np.searchsorted(kept_rows, rows)
    np.testing.assert_array_equal(held_on.normal[place], touch.normal)
    np.testing.assert_array_equal(held_on.along[place], touch.along)
    np.testing.assert_array_equal(kept.triangle[rows], seen.triangle[rows])
    now, now_rows, _ = look(away, LOOSE)
    both = np.intersect1d(rows, now_rows)
    assert len(both) < len(rows) or (now.normal[both] != seen.normal[both]).any()


def test_looks_place_what_walks_ask_for() -> None:
    """Far from where a step begins, too: all that was asked for is where the rig and the coordinates put it, and a step
    does not depend on what earlier ones asked for."""
    rig, held, body, poses = finger()
    solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=RULES)
    states, _ = run(solver, poses, held)
    assert isinstance(solver._touching, RuledTouching)
    rounds = solver._touching._rounds
    assert rounds is not None
    chosen, q = trained().contacts.choose(rig.skeleton, poses[-1]), states[-1].shapes[0]
    places, (vertices, triangle) = rounds._begin(poses[-1], states[-1]), chosen.pairs.T.copy()
    asked = Asked(vertices, lead(q, vertices, triangle, rounds._skin, places), triangle * 0 - 1, chosen.weights)
    before, away = int(places.size[0]), 3.0 * q
    lift_and_walk(away, asked, rounds._skin, rounds._shallows, places)
    assert places.size[0] > before
    reads = places.reads[: places.size[0]]
    assert len(np.unique(reads)) == len(reads)
    np.testing.assert_array_equal(places.slots[reads], np.arange(len(reads)))
    x = rig.push_forward(poses[-1], rig.rest + trained().basis.lift(away))
    np.testing.assert_allclose(places.x[reads], x[reads], rtol=0.0, atol=1e-12)
    inputs = Inputs(*(moment(float(j), held, poses[j]) for j in (STEPS - 1, STEPS)))
    again, _ = solver.step(states[-2], inputs)
    np.testing.assert_array_equal(again.shapes[0], q)


def test_a_vertex_goes_on_from_the_triangle_of_the_same_bone() -> None:
    owners = np.array([0, 0, 1, 1, 2])  # of triangles
    pairs = np.array([[3, 0], [5, 2], [5, 4], [9, 3]], np.int32)
    known = np.array([[3, 1], [5, 4], [5, 3], [7, 0], [9, 0]], np.int32)
    np.testing.assert_array_equal(recall_pairs(pairs, known, owners), [[3, 1], [5, 3], [5, 4], [9, 3]])


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
    """The negative result of [TOK14] 4.2, on a bent cylinder."""
    character, rig, _, body = skinned("cylinder", 12)
    model = modal_model(body, 8)
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


def test_a_look_reads_no_more_positions_than_it_names() -> None:
    """Areas among them, which know the rings of vertices."""
    rig, _, body, poses = finger()
    chosen = trained().contacts.choose(rig.skeleton, poses[-1])
    detector = RuledDetector(body, (), RULES)
    detector.follow(chosen.pairs, chosen.weights)
    x, partly = recorded()[-1], np.zeros_like(rig.rest)
    partly[detector.reads()] = x[detector.reads()]
    assert len(detector.reads()) < len(x) / 4
    whole, part = (detector._look(at) for at in (x, partly))
    assert len(whole) > 0
    np.testing.assert_array_equal(part.area, whole.area)
    np.testing.assert_array_equal(part.weights, whole.weights)


def test_a_vertex_led_to_its_own_surroundings_touches_nothing() -> None:
    """At rest nothing is inside, wherever a look begins."""
    rig, _, body, _ = finger()
    detector, own = RuledDetector(body, (), RULES), SelfContact(body.mesh)
    rng = np.random.default_rng(0)
    vertices, triangles = rng.permutation(own.vertices)[:300], rng.integers(len(own.triangles), size=300)
    detector.follow(np.column_stack([vertices, triangles]).astype(np.int32), np.ones(300))
    for _ in range(30):
        if not detector.slide(rig.rest):
            break
    found = detector._look(rig.rest)
    assert found.depth(rig.rest).max(initial=0.0) < 0.1 * own.edge


def test_mirrored_poses_give_mirrored_results() -> None:
    rig, held, body, poses = finger()
    model, mirror = trained(), np.array([1.0, -1.0, 1.0])
    mesh = TetMesh.clean(mirror * rig.rest, body.mesh.tets[:, [1, 0, 2, 3]])
    bones = Skeleton.of(
        rig.skeleton.names, rig.skeleton.parents, mirror * rig.skeleton.heads, mirror * rig.skeleton.tails
    )
    other = SkinnedRig(bones, rig.influences, mesh.vertices, rig.mode)
    turned = np.concatenate([mirror, np.tile(-mirror, len(bones))]) * poses  # rotation vectors are axial
    image = Body.build(mesh, Corotational(young=5e3, poisson=0.08), body.pins, Damping())
    columns = (mirror * model.basis.columns.T.reshape(model.basis.rank, -1, 3)).reshape(model.basis.rank, -1).T
    whole = replace(model, basis=replace(model.basis, columns=columns), contacts=None)
    shapes = mirror * pull_back_all(rig, poses[1:], recorded())
    mirrored = learn_contacts(image, other, whole, turned[1:], shapes, CONTACT, np.random.default_rng(0))
    ends = []
    for one, skin, kept, way in ((model, rig, body, poses), (mirrored, other, image, turned)):
        solver = SkinnedSolver(kept, skin, one, integrator="static", contact=RULES, tolerance=1e-7)
        ends.append(solver.positions(run(solver, way, Held(skin, kept.pins))[0][-1]))
    free = SkinnedSolver(body, rig, model, integrator="static", tolerance=1e-7)
    effect = np.linalg.norm(ends[0] - free.positions(run(free, poses, held)[0][-1]))
    assert np.linalg.norm(mirror * ends[1] - ends[0]) < 0.01 * effect


def test_dynamics_from_static_training_stays_bounded() -> None:
    """Two thousand frames of a finger that taps itself fifty times: contact adds no energy, so that it swings no
    farther than without. In full space it swings by 0.032 of its size."""
    rig, held, body, poses = finger()
    model, tets = trained(), body.mesh.tets
    # All elements that shapes dent: what a rule leaves unresisted any contact kicks away. Of the others some will do
    dents = np.linalg.norm(np.ptp(model.basis.columns.reshape(-1, 3, model.basis.rank)[tets], axis=1), axis=1)
    weights = np.where((dents > 0.4 * dents.max(axis=0)).any(axis=1), 1.0, 16.0)
    some = np.flatnonzero((weights == 1.0) | (np.arange(len(tets)) % 16 == 0))
    model = replace(model, rule=Rule(some, weights[some], 0.0))
    body = Body.build(body.mesh, Corotational(young=5e3, poisson=0.08), held.pins, Damping(mass=4.0, stiffness=0.01))

    def at(frame: int) -> Moment:
        pose = (0.92 - 0.08 * np.cos(2.0 * np.pi * frame / 40.0)) * poses[-1]
        return Moment(frame / 60.0, held.targets(pose), (), pose=pose)

    away = {}
    for contact, frames in ((None, 80), (RULES, 2000)):
        solver = SkinnedSolver(body, rig, model, integrator="newmark", contact=contact)
        state, away[contact], touches = solver.start(Inputs(at(0), at(1))), [], []
        for frame in range(frames):
            state, report = solver.step(state, Inputs(at(frame), at(frame + 1)))
            touches.append(report.contacts > 0)
            away[contact].append(np.abs(solver.positions(state) - rig.positions(at(frame + 1).pose)).max())
    assert np.reshape(touches, (50, 40)).any(axis=1).all()
    assert max(away[RULES]) < 1.05 * max(away[None])
    assert max(away[RULES]) < 0.05 * body.mesh.size()


def test_friction_of_rules_is_that_of_all_contacts() -> None:
    rig, held, body, poses = finger()
    ends = []
    for contact in (replace(CONTACT, friction=0.4), replace(RULES, friction=0.4), None):
        solver = SkinnedSolver(body, rig, trained(), integrator="static", contact=contact)
        states, reports = run(solver, poses, held)
        ends.append(solver.positions(states[-1]))
        for touch in (report.touching for report in reports if report.touching is not None):
            along = np.einsum("mi,mi->m", touch.force, touch.normal)
            aside = np.linalg.norm(touch.force - along[:, None] * touch.normal, axis=1)
            lag = 0.05 * np.linalg.norm(along)  # what rounds may leave of friction
            assert (aside <= 0.4 * along + lag).all()
    assert np.linalg.norm(ends[1] - ends[0]) < 0.03 * np.linalg.norm(ends[2] - ends[0])


def test_friction_does_not_send_newton_to_and_fro() -> None:
    rig, held, body, poses = finger()
    body = Body.build(body.mesh, Corotational(young=5e3, poisson=0.08), held.pins, Damping(mass=4.0, stiffness=0.01))

    def at(frame: int) -> Moment:
        pose = (0.92 - 0.08 * np.cos(2.0 * np.pi * frame / 40.0)) * poses[-1]
        return Moment(frame / 60.0, held.targets(pose), (), pose=pose)

    solver = SkinnedSolver(body, rig, trained(), integrator="newmark", contact=replace(RULES, friction=0.2))
    state, reports = solver.start(Inputs(at(0), at(1))), []
    for frame in range(30):
        state, report = solver.step(state, Inputs(at(frame), at(frame + 1)))
        reports.append(report)
    assert any(report.contacts for report in reports)
    assert max(report.newton_iterations for report in reports) < 40  # 200 are the most that a try may take


def test_a_model_keeps_its_rules_in_its_file(tmp_path) -> None:
    rig, _, body, poses = finger()
    model = trained()
    file = save_skinned(tmp_path / "finger.npz", model, body, rig)
    again = load_skinned(file, body, rig)
    assert again.hash() == model.hash() != replace(model, contacts=None).hash()
    one, other = (m.contacts.choose(rig.skeleton, poses[-2]) for m in (model, again))
    np.testing.assert_array_equal(one.pairs, other.pairs)
    np.testing.assert_array_equal(one.weights, other.weights)


def test_a_model_without_rules_is_refused() -> None:
    rig, _, body, _ = finger()
    with pytest.raises(SceneError, match="no rules"):
        SkinnedSolver(body, rig, replace(trained(), contacts=None), contact=RULES)


def test_poses_apart() -> None:
    rig, _, _, poses = finger()
    assert choose_apart(rig, poses, 2).tolist() == [0, STEPS]
    assert len(choose_apart(rig, np.repeat(poses[:1], 4, axis=0), 3)) == 1
