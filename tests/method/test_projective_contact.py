"""Contact of projective dynamics, unreduced and hyper-reduced."""

import numpy as np
import pytest

from supple.constraint import ProjectiveBody
from supple.contact import SELF, Box, ContactSettings, MeshCollider, Plane, SelfContact, Sphere
from supple.elastic import Body, Damping, Pins
from supple.errors import ArgumentError, SceneError
from supple.material import Corotational
from supple.mesh import TetMesh, fill_box
from supple.method import HyperReducedSolver, ProjectiveSolver, SpaceSizes, prepare_spaces
from supple.method.projective.contact import choose_candidates
from supple.solve import Gravity, Inputs, Moment
from supple.solve.placement import Placement

SIDE, H = 0.1, 0.01


def block(young=1e5, resolution=4, pins=None):
    mesh = fill_box((0, 0, 0), (SIDE, SIDE, SIDE), resolution=resolution)
    material = Corotational(young=young, poisson=0.3, density=1000.0)
    return ProjectiveBody.from_body(Body.build(mesh, material, pins, Damping()))


def make(kind, body, colliders, h=H, **settings):
    """A solver of either kind; the hyper-reduced one with enough handles for what the test asks."""
    contact = ContactSettings(**settings)
    if kind == "projective":
        return ProjectiveSolver(body, time_step=h, colliders=colliders, contact=contact)
    model = prepare_spaces(body, SpaceSizes(handles=20, clusters=40))
    return HyperReducedSolver(body, model, time_step=h, colliders=colliders, contact=contact)


def run(solver, state, steps, gravity=(0.0, -9.81, 0.0), places=None, begin=0, h=H):
    """States after each of some steps, and the last report; `places` gives the placements at step k."""
    states, load = [], (Gravity(np.array(gravity)),)
    still = (Placement.still(),) * len(solver._contact.colliders)
    for k in range(begin, begin + steps):
        first, last = (still, still) if places is None else (places(k), places(k + 1))
        none = (
            np.zeros((0, 3)) if not len(solver.body.pins.vertices) else solver.body.vertices[solver.body.pins.vertices]
        )
        state, report = solver.step(
            state, Inputs(Moment(k * h, none, load, first), Moment((k + 1) * h, none, load, last))
        )  # fmt: skip
        states.append(state)
    return states, report


def lifted(solver, offset, velocity=(0.0, 0.0, 0.0)):
    x = solver.body.vertices + offset
    return solver.from_full(x, np.zeros_like(x) + velocity, np.zeros_like(x))


both = pytest.mark.parametrize("kind", ["projective", "hyperreduced"])


@both
@pytest.mark.parametrize("young", [2e4, 2e5])
def test_a_block_comes_to_rest_on_the_floor_without_sinking_or_creeping(kind, young):
    solver = make(kind, block(young, 3), (Plane(),), friction=0.5)
    states, report = run(solver, lifted(solver, (0.0, 0.01, 0.0)), 500)
    lows = np.array([solver.positions(state)[:, 1].min() for state in states])
    assert lows.min() > -0.01 * SIDE
    assert abs(lows[-1]) < 1e-3 * SIDE
    drift = solver.positions(states[-1]) - solver.positions(states[199])
    assert np.abs(drift).max() < 5e-4 * SIDE
    assert report.contacts == len(report.touching) > 8
    np.testing.assert_allclose(report.touching.force.sum(axis=0), [0.0, 9.81 * SIDE**3 * 1000.0, 0.0], atol=0.2)


@both
@pytest.mark.parametrize("angle", [20.0, 35.0])
def test_a_slope_holds_a_block_up_to_the_angle_of_friction(kind, angle):
    friction, turn = 0.5, np.radians(angle)
    solver = make(kind, block(2e5, 3), (Plane(),), friction=friction)
    gravity = 9.81 * np.array([np.sin(turn), -np.cos(turn), 0.0])
    states, _ = run(solver, lifted(solver, 0.0), 60, gravity)
    speeds = [solver.body.mass @ solver.to_full(states[k])[1][:, 0] / solver.body.mass.sum() for k in (29, 59)]
    slides = max(9.81 * (np.sin(turn) - friction * np.cos(turn)), 0.0)
    assert (speeds[1] - speeds[0]) / (30 * H) == pytest.approx(slides, rel=0.02, abs=0.03)
    if slides == 0.0:
        assert abs(speeds[1]) < 0.01


@both
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_stiff_block_leaves_the_floor_with_its_share_of_speed(kind, restitution):
    solver = make(kind, block(1e8, 2), (Plane(),), restitution=restitution)
    states, _ = run(solver, lifted(solver, (0.0, 0.021, 0.0), (0.0, -2.0, 0.0)), 4, gravity=(0.0, 0.0, 0.0))
    speed = solver.body.mass @ solver.to_full(states[-1])[1][:, 1] / solver.body.mass.sum()
    assert speed == pytest.approx(2.0 * restitution, abs=0.06)


@both
@pytest.mark.parametrize("young", [1e5, 1e6])
def test_what_touched_leaves_with_its_share_of_speed_however_soft(kind, young):
    solver = make(kind, block(young, 2), (Plane(),), restitution=0.5)
    states, _ = run(solver, lifted(solver, (0.0, 0.021, 0.0), (0.0, -2.0, 0.0)), 2, gravity=(0.0, 0.0, 0.0))
    low = solver.body.vertices[:, 1] == 0.0
    leaving = solver.to_full(states[-1])[1][low, 1]
    assert leaving.min() == pytest.approx(1.0, rel=2e-3)
    assert leaving.max() < 1.1


@both
def test_a_moving_floor_carries_the_block(kind):
    solver = make(kind, block(2e5, 3), (Plane(),), friction=0.5)
    states, _ = run(
        solver, lifted(solver, 0.0), 60, places=lambda k: (Placement(np.eye(3), k * np.array([0.002, 0.001, 0.0])),)
    )
    mean = solver.body.mass @ solver.to_full(states[-1])[1] / solver.body.mass.sum()
    np.testing.assert_allclose(mean, [0.2, 0.1, 0.0], atol=0.01)


@pytest.mark.parametrize("collider", [Sphere(0.3), Box((0.6, 0.6, 0.6)), MeshCollider(Sphere(0.3).surface())])
def test_curved_and_cornered_colliders_are_not_entered(collider):
    solver = make("projective", block(1e5, 3), (collider,), friction=0.5)
    states, _ = run(solver, lifted(solver, (-0.05, 0.305, -0.05)), 60)
    deepest = min(collider.distance(solver.positions(state)).min() for state in states)
    assert deepest > -0.01 * SIDE
    assert collider.distance(solver.positions(states[-1])).min() < 0.01 * SIDE


def test_thickness_keeps_a_distance_and_two_colliders_share_a_vertex():
    solver = make("projective", block(2e5, 2), (Plane(), Plane((1.0, 0.0, 0.0))), thickness=0.004)
    states, report = run(solver, lifted(solver, (0.005, 0.005, 0.0)), 60, gravity=(-9.81, -9.81, 0.0))
    low = solver.positions(states[-1])[:, :2].min(axis=0)
    np.testing.assert_allclose(low, 0.004, atol=1e-4)
    both_touched = np.intersect1d(*(report.touching.vertex[report.touching.source == k] for k in range(2)))
    assert len(both_touched) > 0


def test_contact_without_restitution_takes_energy_away():
    solver = make("projective", block(1e5, 3), (Plane(),), friction=0.3)
    states, _ = run(solver, lifted(solver, (0.0, 0.02, 0.0), (0.5, -1.0, 0.3)), 60)
    body, energies = solver.body, []
    for state in states:
        x, v, _ = solver.to_full(state)
        energies.append(body.energy(x) + body.mass @ (9.81 * x[:, 1] + 0.5 * np.square(v).sum(axis=1)))
    assert np.diff(energies).max() < 1e-3 * energies[0]
    assert energies[-1] < 0.8 * energies[0]


def stacked():
    """Two blocks that are one body, the upper a little above the lower, and the number of vertices of that."""
    low, top = (fill_box((0, y, 0), (SIDE, y + SIDE, SIDE), resolution=4) for y in (0.0, SIDE + 0.002))
    mesh = TetMesh.clean(
        np.concatenate([low.vertices, top.vertices + [0.012, 0.0, 0.007]]),
        np.concatenate([low.tets, top.tets + len(low.vertices)]),
    )
    material = Corotational(young=1e5, poisson=0.3, density=1000.0)
    return ProjectiveBody.from_body(Body.build(mesh, material, None, Damping())), mesh, len(low.vertices)


@both
def test_parts_of_a_body_rest_on_each_other(kind):
    body, mesh, lower = stacked()
    solver = make(kind, body, (Plane(),), friction=0.5, self_contact=True)
    states, report = run(solver, lifted(solver, 0.0), 100)
    x = solver.positions(states[-1])
    assert SelfContact(mesh).find(x).depth.max(initial=0.0) < 0.01 * SIDE
    assert x[lower:, 1].mean() == pytest.approx(1.48 * SIDE, abs=0.01 * SIDE)
    own = report.touching.source == SELF
    assert own.sum() > 3


def test_what_holds_a_body_up_is_kept_before_its_folds(monkeypatch):
    body, *_ = stacked()
    monkeypatch.setattr("supple.method.projective.contact._MOST", 25)  # as many vertices as stand on the floor
    solver = make("hyperreduced", body, (Plane(),), friction=0.5, self_contact=True)
    states, _ = run(solver, lifted(solver, 0.0), 60)
    assert solver.positions(states[-1])[:, 1].min() > -2e-3 * SIDE  # twice as deep if both were kept alike


@both
def test_arms_of_a_folded_strip_meet_and_part(kind):
    length, bend = 0.4, 0.05
    mesh = fill_box((0, 0, 0), (length, 0.02, 0.06), resolution=40)
    material = Corotational(young=2e4, poisson=0.3, density=1000.0)
    body = ProjectiveBody.from_body(Body.build(mesh, material, None, Damping()))
    straight = (length - np.pi * bend) / 2.0
    s, y = mesh.vertices[:, 0] - straight, mesh.vertices[:, 1] - 0.01
    turn = np.clip(s / bend, 0.0, np.pi)
    before, after = np.minimum(s, 0.0), np.maximum(s - np.pi * bend, 0.0)
    x = np.stack([
        before + (bend - y) * np.sin(turn) - after, -(bend - y) * np.cos(turn), mesh.vertices[:, 2]
    ], axis=1)  # fmt: skip
    v = np.zeros_like(x)
    v[:, 1] = np.where(s > np.pi * bend, -1.0, np.where(s < 0.0, 1.0, 0.0))
    touching, depths = {}, {}
    for own in (False, True):
        solver = make(kind, body, (Plane(),), h=0.004, self_contact=own, friction=0.3)
        state, seen = solver.from_full(x, v, np.zeros_like(x)), SelfContact(mesh)
        far = (Placement(np.eye(3), np.array([0.0, -5.0, 0.0])),)
        touching[own], depths[own] = 0, 0.0
        for k in range(30):
            begin, end = (Moment(0.004 * (k + i), np.zeros((0, 3)), (), far) for i in range(2))
            state, report = solver.step(state, Inputs(begin, end))
            touching[own] = max(touching[own], report.contacts)
            depths[own] = max(depths[own], seen.find(solver.positions(state)).depth.max(initial=0.0))
    assert touching[False] == 0 and depths[False] > 0.005  # noqa: PT018
    assert touching[True] > 10 and depths[True] < 0.002  # noqa: PT018


@both
def test_states_are_packed_with_their_contacts(kind):
    solver = make(kind, block(1e5, 3), (Plane(),), friction=0.5)
    states, _ = run(solver, lifted(solver, 0.0), 6)
    again = solver.unpack(solver.pack(states[-1]))
    assert len(again.pressing) > 0
    one, _ = run(solver, states[-1], 3, begin=6)
    other, _ = run(solver, again, 3, begin=6)
    np.testing.assert_array_equal(solver.positions(one[-1]), solver.positions(other[-1]))


@both
def test_pins_of_single_axes_and_contact(kind):
    pins = Pins.of(np.arange(5), "xz")
    solver = make(kind, block(1e5, 3, pins), (Plane(),), friction=0.5)
    states, _ = run(solver, lifted(solver, 0.0), 30)
    x = solver.positions(states[-1])
    assert x[:, 1].min() > -1e-3 * SIDE
    np.testing.assert_allclose(x[:5, [0, 2]], solver.body.vertices[:5][:, [0, 2]], atol=1e-5 * SIDE)


def test_candidates_are_spread_over_the_surface():
    body = block(resolution=6)
    few, more = choose_candidates(body, 20), choose_candidates(body, 10_000)
    np.testing.assert_array_equal(few, more[:20])
    np.testing.assert_array_equal(np.sort(more), np.unique(body.surface.triangles))


def test_bad_input_is_named():
    with pytest.raises(SceneError, match="candidates"):
        ProjectiveSolver(block(), colliders=(Plane(),), candidates=0)
    with pytest.raises(ArgumentError, match="restitution"):
        ContactSettings(restitution=1.5)
    solver = make("projective", block(resolution=2), (Plane(),))
    with pytest.raises(SceneError, match="places 0 colliders"):
        solver.step(solver.start(), Inputs(Moment(0.0, np.zeros((0, 3))), Moment(H, np.zeros((0, 3)))))
