"""Bodies that rigs drive in full space: where the rig only guides the solver, and where it is the rest shape."""

from dataclasses import replace

import numpy as np
import pytest
from helpers import DOWN, simulate
from rig_helpers import moment, pose_step, shifted, skinned
from scipy.spatial.transform import Rotation

from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.elastic import EXACT, Body, Damping, Pins, StiffnessMap
from supple.errors import MeshError, SceneError
from supple.material import Corotational
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.method.rig_carry import RigCarry
from supple.method.rigged import RiggedBody
from supple.rig import Bend, Held, SkinnedRig
from supple.solve import Gravity, Inputs, newton

RESTS = ("neutral", "posed")


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("integrator", ["static", "implicit_euler", "newmark"])
def test_still_rig_leaves_the_result_of_the_solver_without_one(integrator: str, rest: str) -> None:
    _, rig, held, body = skinned("capsule", 8)
    states = []
    for options in ({}, {"rig": rig, "rest": rest}):
        solver = FullSolver(body, integrator=integrator, **options)
        inputs = [Inputs(*(moment(0.02 * j, held, rig.neutral, DOWN) for j in (k, k + 1))) for k in range(3)]
        state = solver.start(inputs[0])
        for step in inputs:
            state, _ = solver.step(state, step)
        states.append(state)
    for name in ("x", "v", "a"):
        assert np.array_equal(getattr(states[0], name), getattr(states[1], name))
    assert np.abs(states[0].x - rig.rest).max() > 1e-4


@pytest.mark.parametrize("integrator", ["static", "implicit_euler", "newmark"])
def test_posed_body_in_a_still_pose_is_a_body_built_there(integrator: str) -> None:
    character, rig, held, body = skinned("capsule", 8)
    pose = character.pose({"second": (40.0, 0.0, 25.0)})
    posed = FullSolver(body, integrator=integrator, tolerance=1e-10, rig=rig, rest="posed")
    inputs = [Inputs(*(moment(0.02 * j, held, pose, DOWN) for j in (k, k + 1))) for k in range(3)]
    mesh = replace(body.mesh, vertices=rig.positions(pose))
    built = replace(Body.build(mesh, body.parts[0].material, body.pins, body.damping), mass=body.mass)
    plain = FullSolver(built, integrator=integrator, tolerance=1e-10)
    one, other = posed.start(inputs[0]), plain.start(inputs[0])
    for step in inputs:
        (one, _), (other, _) = posed.step(one, step), plain.step(other, step)
    assert np.abs(one.x - other.x).max() < 1e-9
    assert np.abs(one.a - other.a).max() < 1e-5 * np.abs(one.a).max() + 1e-12
    assert np.abs(one.x - mesh.vertices).max() > 1e-4


@pytest.mark.parametrize("rest", RESTS)
@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_rig_that_accelerates_pushes_the_flesh_as_gravity_of_the_opposite_sign(integrator: str, rest: str) -> None:
    _, rig, held, body = skinned("capsule", 8)
    if integrator == "newmark":  # the velocity of pins is the mean of a step: what damping sees is of first order
        body = replace(body, damping=Damping())
    acceleration, h, steps = np.array([0.0, 30.0, -20.0]), 0.02, 6
    solver = FullSolver(body, integrator=integrator, tolerance=1e-9, rig=rig, rest=rest)
    # Parabolas whose second differences are right from the first step on, which begins at rest
    times = np.arange(steps + 1) * h
    paths = 0.5 * times * (times + h if integrator == "implicit_euler" else times)
    moments = [moment(t, held, shifted(rig, s * acceleration)) for t, s in zip(times, paths, strict=True)]
    state = solver.start(Inputs(*moments[:2]))
    for k in range(steps):
        state, _ = solver.step(state, Inputs(moments[k], moments[k + 1]))
    still = FullSolver(body, integrator=integrator, tolerance=1e-9)
    push = Gravity(-acceleration)
    start = still.start(Inputs(*(moment(t, held, rig.neutral, push) for t in (0.0, h))))
    expected = simulate(still, start, h, steps, push)[0][-1].x
    sag = np.abs(expected - rig.rest).max()
    assert sag > 1e-3
    assert np.abs(state.x - paths[-1] * acceleration - expected).max() < 1e-5 * sag


@pytest.mark.parametrize("rest", RESTS)
def test_rig_that_turns_as_a_whole_leaves_the_centrifugal_force_and_no_drag(rest: str) -> None:
    _, rig, held, body = skinned("capsule", 8)
    h, spin, steps, start = 0.01, np.array([0.0, 0.0, 6.0]), 60, rig.neutral
    turned = [start.copy() for _ in range(steps + 1)]
    for k, pose in enumerate(turned):
        pose[3:6] = k * h * spin
    axis = rig.skeleton.heads[0]
    solver = FullSolver(body, tolerance=1e-8, rig=rig, rest=rest)
    state = solver.from_full(rig.rest, np.cross(spin, rig.rest - axis), np.zeros_like(rig.rest))
    for k in range(steps):
        step = Inputs(*(moment(h * j, held, turned[j]) for j in (k, k + 1)))
        state, _ = solver.step(state, step)
    y = rig.pull_back(turned[-1], state.x)
    # Second differences of a steady turn by θ a step: the acceleration of the step before, 2 (1 - cos θ) / h² of it
    lag, rate = Rotation.from_rotvec(-h * spin), 2.0 * (1.0 - np.cos(h * 6.0)) / h**2
    assert rate == pytest.approx(6.0**2, rel=1e-3)
    pull = body.mass[:, None] * rate * lag.apply((y - axis) * [1.0, 1.0, 0.0])
    free = np.setdiff1d(np.arange(len(y)), body.pins.vertices)
    assert np.linalg.norm((body.forces(y) + pull)[free]) < 5e-3 * np.linalg.norm(pull[free])
    assert np.abs(y - rig.rest).max() > 1e-3


def test_mass_damping_is_relative_to_a_posed_rest_and_absolute_otherwise() -> None:
    _, rig, held, body = skinned("capsule", 8)
    airy = replace(body, damping=Damping(mass=5.0))
    speed, h, lags = np.array([0.0, 1.0, 0.0]), 0.02, []
    for rest in RESTS:
        solver = FullSolver(airy, tolerance=1e-8, rig=rig, rest=rest)
        state = solver.from_full(rig.rest, np.tile(speed, (len(rig.rest), 1)), np.zeros_like(rig.rest))
        for k in range(5):
            state, _ = solver.step(
                state, Inputs(*(moment(h * j, held, shifted(rig, h * j * speed)) for j in (k, k + 1)))
            )
        lags.append(float(np.abs(state.x - rig.rest - 5 * h * speed).max()))
    assert lags[0] > 1e-3
    assert lags[1] < 1e-8


def test_posed_energy_has_the_gradient_and_stiffness_of_finite_differences() -> None:
    character, rig, _, body = skinned("capsule", 8)
    rest = rig.positions(character.pose({"second": (30.0, 0.0, 20.0)}))
    posed, rng = body.posed(rest).pinned(Pins.none()), np.random.default_rng(0)
    x, along = rest + 0.01 * rng.normal(size=rest.shape), rng.normal(size=rest.shape)
    places = StiffnessMap.build(len(x), posed.parts, Pins.none())
    whole = places.pattern.to_scipy(places.assemble(posed.parts, x, np.empty(places.pattern.nonzeros), form=EXACT))
    push = (whole @ along.ravel()).reshape(-1, 3)
    errors = []
    for step in (1e-4, 5e-5):
        ahead, behind = x + step * along, x - step * along
        slope = (posed.energy(ahead) - posed.energy(behind)) / (2 * step)
        change = (posed.forces(behind) - posed.forces(ahead)) / (2 * step)
        errors.append((abs(slope + np.vdot(posed.forces(x), along)), np.linalg.norm(change - push)))
    assert np.log2(np.divide(*errors)) == pytest.approx(2.0, abs=0.2)
    assert posed.energy(rest) < 1e-12 * posed.energy(x)


@pytest.mark.parametrize("mode", ["dual_quaternion", "linear"])
def test_rig_s_guess_makes_a_large_static_step_short(mode: str) -> None:
    character, rig, held, body = skinned("finger", 14, mode)
    step = pose_step(held, rig.neutral, character.poses["fist"])
    counts, energies = [], []
    for options in ({"rig": rig}, {}):
        solver = FullSolver(body, integrator="static", tolerance=1e-6, **options)
        state, report = solver.step(solver.start(step), step)
        counts.append(report.newton_iterations)
        energies.append(body.energy(state.x))
    assert counts[0] <= 15
    assert counts[1] >= 2 * counts[0]
    assert energies[0] <= energies[1] * (1.0 + 1e-6)


def test_a_fold_that_looks_for_contact_between_iterations_takes_half_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Newton's method goes to the end of what a body would do without the contacts that it meets on its way."""
    character, rig, held, body = skinned("cylinder", 16)
    body, own = Body.build(body.mesh, Corotational(young=5e3, poisson=0.3), held.pins), SelfContact(body.mesh)
    poses = np.outer(0.8 * np.sqrt(np.linspace(0.0, 1.0, 7)), character.poses["folded"])
    steps = [Inputs(*(moment(float(j), held, poses[j]) for j in (k, k + 1))) for k in range(6)]
    spent, depths = [], []
    for looks in (newton._LOOKS, 0):
        monkeypatch.setattr(newton, "_LOOKS", looks)
        contact = ContactSettings(self_contact=True, alpha=0.5)
        solver = FullSolver(body, integrator="static", contact=contact, rig=rig)
        state, reports = solver.start(steps[0]), []
        for step in steps:
            state, report = solver.step(state, step)
            reports.append(report)
            assert report.contact_settled
        assert reports[-1].contacts > 10
        spent.append([report.newton_iterations for report in reports])
        depths.append(own.find(state.x).depth.max() / own.edge)
        if looks:
            assert all(report.contact_rounds == 1 for report in reports)
    assert sum(spent[0]) < 0.6 * sum(spent[1])
    assert depths[0] < max(1.2 * depths[1], 0.1)


def test_carry_of_a_skinned_rig_is_the_change_of_coordinates() -> None:
    character, rig, _, _ = skinned("capsule", 8)
    begin, end = character.poses["bent"], character.pose({"first": (0.0, 20.0, 0.0), "second": (90.0, 0.0, 30.0)})
    x = rig.positions(begin) + 0.05 * np.random.default_rng(1).normal(size=rig.rest.shape)
    carried = RigCarry.between(rig, begin, end).move(x)
    assert np.abs(carried - rig.push_forward(end, rig.pull_back(begin, x))).max() < 1e-12


def test_carry_survives_a_linear_blend_that_cannot_be_undone() -> None:
    character, rig, _, _ = skinned("capsule", 8)
    linear = SkinnedRig(rig.skeleton, rig.influences, rig.rest, "linear")
    flat = character.pose({"second": (180.0, 0.0, 0.0)})
    carry = RigCarry.between(linear, flat, character.poses["bent"])
    assert np.allclose(np.linalg.det(carry.turns), 1.0)
    assert np.isfinite(carry.move(linear.positions(flat))).all()


@pytest.mark.parametrize("rest", RESTS)
def test_halved_steps_arrive_where_a_whole_one_does(rest: str) -> None:
    character, rig, held, body = skinned("capsule", 8)
    pose = character.pose({"first": (0.0, 80.0, 0.0), "second": (50.0, 0.0, 20.0)})
    loads = (Gravity(np.array([0.0, g, 0.0])) for g in (0.0, -100.0))
    step = Inputs(*(moment(t, held, p, f) for t, p, f in zip((0.0, 1.0), (rig.neutral, pose), loads, strict=True)))
    ends, halvings = [], []
    for most in (100, 3):
        solver = FullSolver(body, integrator="static", tolerance=1e-5, rig=rig, rest=rest, max_iterations=most)
        state, report = solver.step(solver.start(step), step)
        ends.append(state.x)
        halvings.append(report.halvings)
    assert halvings[0] == 0 < halvings[1]
    assert np.abs(ends[0] - ends[1]).max() < 1e-3 * np.abs(ends[0] - rig.positions(pose)).max()


def test_pins_follow_the_rig_half_way_and_others_their_targets() -> None:
    character, rig, held, body = skinned("capsule", 8)
    pose = character.poses["bent"]
    step = pose_step(held, rig.neutral, pose)
    away = step.end.targets.copy()
    away[0] += [0.0, 0.1, 0.0]  # a pin of the scene's own
    step = Inputs(step.begin, replace(step.end, targets=away))
    first, second = RiggedBody(body, rig, "neutral").follow(step).halves()
    middle = first.end.targets
    assert second.begin is first.end
    assert np.array_equal(middle[1:], held.targets(0.5 * pose)[1:])
    assert np.array_equal(middle[0], 0.5 * (step.begin.targets[0] + away[0]))
    assert np.array_equal(first.halves()[0].end.targets[1:], held.targets(0.25 * pose)[1:])


@pytest.mark.parametrize("rest", RESTS)
def test_any_rig_can_drive_a_body(rest: str) -> None:
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.2, 0.2), 10)
    rig = Bend(mesh.vertices, (0.3, 0.1, 0.1), (0.7, 0.1, 0.1), (0.0, 0.0, 1.0))
    held = Held(rig, Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 0.05)))
    body = Body.build(mesh, Corotational(young=1e5), held.pins, Damping(stiffness=0.01))
    bent = np.array([0.8])
    step = pose_step(held, rig.neutral, bent)
    solver = FullSolver(body, integrator="static", rig=rig, rest=rest, tolerance=1e-6)
    state, _ = solver.step(solver.start(step), step)
    wanted = rig.positions(bent) if rest == "posed" else mesh.vertices  # its root stands still
    assert np.abs(state.x - wanted).max() < 1e-5
    solver = FullSolver(body, rig=rig, rest=rest)
    state, _ = solver.step(solver.start(step), Inputs(moment(0.0, held, rig.neutral), moment(0.05, held, bent)))
    tip = mesh.vertices[:, 0] > 0.95
    moved = float((state.x - mesh.vertices)[tip, 1].mean())
    assert moved > 0.05 if rest == "posed" else abs(moved) < 1e-6


@pytest.mark.parametrize("rest", RESTS)
def test_restarted_run_with_a_rig_equals_an_uninterrupted_one(rest: str) -> None:
    character, rig, held, body = skinned("capsule", 8)
    poses = [k / 4 * character.pose({"second": (40.0, 0.0, 25.0)}) for k in range(5)]
    steps = [Inputs(*(moment(0.02 * j, held, poses[j], DOWN) for j in (k, k + 1))) for k in range(4)]
    ends = []
    for stop in (None, 2):
        solver = FullSolver(body, integrator="newmark", rig=rig, rest=rest)
        state = solver.start(steps[0])
        for k, step in enumerate(steps):
            if k == stop:
                arrays = solver.pack(state)
                solver = FullSolver(body, integrator="newmark", rig=rig, rest=rest)
                state = solver.unpack(arrays)
            state, _ = solver.step(state, step)
        ends.append(state.x)
    assert np.array_equal(*ends)


def test_start_is_where_the_rig_puts_the_body() -> None:
    character, rig, held, body = skinned("capsule", 8)
    step = pose_step(held, character.poses["twisted"], character.poses["twisted"])
    for rest in RESTS:
        solver = FullSolver(body, rig=rig, rest=rest)
        state = solver.start(step)
        assert np.allclose(state.x, rig.positions(character.poses["twisted"]))
        assert (np.abs(state.a).max() < 1e-6) == (rest == "posed")


def test_pose_that_inverts_tets_is_refused_as_a_rest_shape() -> None:
    character, rig, held, body = skinned("capsule", 8)
    step = pose_step(held, rig.neutral, character.poses["folded"])
    solver = FullSolver(body, rig=rig, rest="posed")
    with pytest.raises(
        MeshError, match=r"pose of 1 s \('second\.z' at 2\.36\) .*worst tet \d+ to -.*: turn its joints"
    ):
        solver.step(solver.start(step), step)


def test_wrong_rigs_and_moments_are_named() -> None:
    _, rig, held, body = skinned("capsule", 8)
    with pytest.raises(SceneError, match="rest = 'bind' is not known: use one of neutral, posed"):
        FullSolver(body, rig=rig, rest="bind")
    with pytest.raises(SceneError, match="make the rig for them"):
        FullSolver(body, rig=skinned("finger", 14)[1])
    with pytest.raises(SceneError, match=r"rest is up to 0\.1 m away"):
        FullSolver(body, rig=replace(rig, rest=rig.rest + 0.1))
    solver = FullSolver(body, rig=rig)
    step = pose_step(held, rig.neutral, rig.neutral)
    with pytest.raises(SceneError, match="moment 1 s of a body with a rig has no pose"):
        solver.step(solver.start(step), replace(step, end=replace(step.end, pose=None)))
    wrong = rig.neutral.copy()
    wrong[4] = np.nan
    with pytest.raises(SceneError, match=r"not a finite number at 'first\.y'"):
        solver.step(solver.start(step), replace(step, end=replace(step.end, pose=wrong)))
