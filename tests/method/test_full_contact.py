"""Contact in the full solver against mechanics: depth, friction, impact, pushing, self-contact."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from supple.contact.box import Box
from supple.contact.collider import Collider
from supple.contact.contacts import SELF
from supple.contact.pipe import Pipe
from supple.contact.plane import Plane
from supple.contact.settings import ContactSettings
from supple.elastic import Body, Damping, Pins
from supple.errors import ArgumentError, SceneError, SuppleWarning
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.method import FullSolver, FullState, Report
from supple.method.full.step import FullStep
from supple.method.outer import MOST_ROUNDS
from supple.shape import make_shape
from supple.solve import AddPin, Gravity, Inputs, Moment, Placement

STILL = Placement.still()
NOWHERE = np.zeros((0, 3))
G = 9.81
FLOOR = (Plane(),)


def at(*place: float) -> Placement:
    return Placement(np.eye(3), np.array(place))


def downhill(degrees: float) -> np.ndarray:
    """Gravity as a floor tilted about z feels it."""
    angle = np.radians(degrees)
    return G * np.array([np.sin(angle), -np.cos(angle), 0.0])


def run(
    solver: FullSolver,
    state: FullState,
    steps: int,
    h: float = 0.01,
    gravity: np.ndarray | None = None,
    place: Callable[[float], tuple[Placement, ...]] = lambda time: (STILL,),
) -> tuple[list[FullState], list[Report]]:
    forces = () if gravity is None else (Gravity(gravity),)
    states, reports = [state], []
    for k in range(steps):
        begin, end = state.time + k * h, state.time + (k + 1) * h
        inputs = Inputs(Moment(begin, NOWHERE, forces, place(begin)), Moment(end, NOWHERE, forces, place(end)))
        state_after, report = solver.step(states[-1], inputs)
        states.append(state_after)
        reports.append(report)
    return states, reports


def mean(body: Body, field: np.ndarray) -> np.ndarray:
    return body.mass @ field / body.mass.sum()


@pytest.fixture(scope="module")
def block() -> Body:
    return Body.build(fill_box((0, 0, 0), (0.2, 0.1, 0.2), 4), StableNeoHookean(young=1e5, poisson=0.3, density=1000))


@pytest.fixture(scope="module")
def ball() -> Body:
    flesh = StableNeoHookean(young=1e5, poisson=0.3, density=1000)
    return Body.build(make_shape("sphere", resolution=5), flesh, damping=Damping(stiffness=0.01))


def share_of_surface(body: Body, *, below: bool) -> np.ndarray:
    """A third of the area of the triangles around each vertex, or of those that face down [m²], (n,)."""
    surface, shares = body.mesh.surface(), np.zeros(len(body.mass))
    areas = surface.areas() * (surface.face_normals()[:, 1] < -0.9 if below else 1.0)
    shares[body.mesh.surface_vertices()] = np.bincount(surface.triangles.ravel(), np.repeat(areas / 3, 3))
    return shares


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_block_settles_at_the_depth_of_its_weight(block: Body, integrator: str) -> None:
    stiffness = 1e7
    solver = FullSolver(
        block, integrator=integrator, tolerance=1e-6, colliders=FLOOR, contact=ContactSettings(stiffness=stiffness)
    )
    _, reports = run(solver, solver.start(), 1 if integrator == "static" else 40, 0.02, downhill(0))
    touching = reports[-1].touching
    weight = G * block.mass.sum()
    assert touching is not None
    assert reports[-1].contacts == len(touching) == 25
    assert np.allclose(touching.force.sum(axis=0), [0.0, weight, 0.0], atol=1e-3 * weight)
    areas = share_of_surface(block, below=True)[touching.vertex]
    assert np.isclose(areas.sum(), 0.2 * 0.2)  # the bottom alone: nothing of the side faces bears
    assert np.isclose(areas @ touching.depth / areas.sum(), weight / (stiffness * areas.sum()), rtol=1e-3)
    assert np.allclose(touching.force[:, 1], stiffness * areas * touching.depth)
    assert all(report.contact_settled for report in reports)


def test_first_round_is_rough_where_contacts_close_and_not_where_a_block_rests(
    block: Body, monkeypatch: pytest.MonkeyPatch
) -> None:
    rough: list[bool] = []
    solve = FullStep.solve
    monkeypatch.setattr(FullStep, "solve", lambda self, round: (rough.append(round.rough), solve(self, round))[1])
    solver = FullSolver(block, colliders=FLOOR, contact=ContactSettings(friction=0.5))
    x = block.mesh.vertices
    falling = solver.from_full(x + [0.0, 5e-3, 0.0], np.tile([0.0, -1.0, 0.0], (len(x), 1)), 0 * x)
    run(solver, falling, 1, 0.01, downhill(0))
    assert rough[0]
    _, (report,) = run(solver, run(solver, solver.start(), 60, 0.02, downhill(0))[0][-1], 1, 0.02, downhill(0))
    assert not rough[-report.contact_rounds]


def test_block_that_rests_is_accelerated_by_nothing_whatever_the_clock_rounds_off(block: Body) -> None:
    solver = FullSolver(block, colliders=FLOOR, contact=ContactSettings(friction=0.5), tolerance=1e-6)
    states, _ = run(solver, run(solver, solver.start(), 80, 0.02, downhill(0))[0][-1], 12, 0.01, downhill(0))
    assert max(np.abs(state.a).max() for state in states) < 1e-2 * G  # what the next step goes on with


def test_static_block_falls_onto_the_floor_below_it_and_is_held_on_a_slope(block: Body) -> None:
    x, far = block.mesh.vertices, 0.05
    solver = FullSolver(block, integrator="static", colliders=FLOOR, contact=ContactSettings(friction=0.5))
    start = solver.from_full(x + [0.0, far, 0.0], 0 * x, 0 * x)
    (_, end), (report,) = run(solver, start, 1, 1.0, downhill(20))
    assert report.touching is not None
    assert np.allclose(report.touching.force.sum(axis=0), -block.mass.sum() * downhill(20), rtol=1e-3, atol=1e-6)
    assert abs(end.x[:, 1].min()) < 1e-3
    with pytest.raises(SceneError, match=r"nothing holds the body along \(1, 0, 0\).* raise friction above 0.84"):
        run(solver, start, 1, 1.0, downhill(40))
    with pytest.raises(SceneError, match="place a collider within"):
        run(solver, solver.from_full(x + [0.0, 5.0, 0.0], 0 * x, 0 * x), 1, 1.0, downhill(0))


def test_static_ball_that_rolls_on_and_on_is_refused(ball: Body) -> None:
    x = ball.mesh.vertices + [0.0, 0.55, 0.0]
    solver = FullSolver(ball, integrator="static", colliders=FLOOR, contact=ContactSettings(friction=0.5))
    start = solver.from_full(x, 0 * x, 0 * x)
    with pytest.raises(SceneError, match=r"nothing holds the body along \(1, 0, 0\).* rolls on"):
        run(solver, start, 1, 1.0, downhill(10))
    _, (report,) = run(solver, start, 1, 1.0, downhill(0))
    assert report.contact_settled


def test_static_block_between_two_slopes_is_held_without_friction(block: Body) -> None:
    # A V of two planes: neither alone could bear it
    def lean(degrees: float, *place: float) -> Placement:
        angle = np.radians(degrees)
        turn = [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
        return Placement(np.array(turn), np.array(place))

    solver = FullSolver(block, integrator="static", colliders=(Plane(), Plane()))
    places = lean(-45.0, -0.01, 0.0, 0.0), lean(45.0, 0.21, 0.0, 0.0)
    _, (report,) = run(solver, solver.start(), 1, 1.0, downhill(0), lambda time: places)
    assert report.contact_settled
    assert report.touching is not None
    assert set(report.touching.source) == {0, 1}


def test_colliders_have_friction_of_their_own(block: Body) -> None:
    """Two blocks of one body on two planes: one slides as theory says, the other sticks."""
    one = block.mesh
    count = len(one.vertices)
    vertices = np.concatenate([one.vertices, one.vertices + [0.0, 0.0, 1.0]])
    both = Body.build(TetMesh.clean(vertices, np.concatenate([one.tets, one.tets + count])), block.parts[0].material)
    slab, friction = Box((4.0, 0.2, 0.6)), 0.1
    settings = ContactSettings(friction=0.6, collider_friction=(None, friction))
    solver = FullSolver(both, colliders=(slab, slab), contact=settings)
    places = at(0.0, -0.1, 0.1), at(0.0, -0.1, 1.1)
    states, _ = run(solver, solver.start(), 40, 0.01, downhill(20), lambda time: places)
    speeds = [[state.v[part].mean(axis=0)[0] for part in (slice(count), slice(count, None))] for state in states]
    theory = G * (np.sin(np.radians(20)) - friction * np.cos(np.radians(20)))
    assert abs(speeds[-1][0]) < 1e-3
    assert np.isclose((speeds[-1][1] - speeds[20][1]) / 0.2, theory, rtol=0.02)
    with pytest.raises(ArgumentError, match=r"collider_friction\[1\]\): got -1"):
        ContactSettings(collider_friction=(None, -1.0))


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_cube_on_a_cube_comes_to_rest_vertex_on_vertex(friction: float) -> None:
    one = fill_box((0, 0, 0), (0.1, 0.1, 0.1), 4)
    count = len(one.vertices)
    vertices = np.concatenate([one.vertices, one.vertices + [0.0, 0.1, 0.0]])
    mesh = TetMesh.clean(vertices, np.concatenate([one.tets, one.tets + count]))
    body = Body.build(mesh, StableNeoHookean(young=1e5))
    solver = FullSolver(body, colliders=FLOOR, contact=ContactSettings(self_contact=True, friction=friction))
    states, reports = run(solver, solver.start(), 30, 0.01, downhill(0))
    assert all(report.contact_settled for report in reports)
    assert [report.contact_rounds for report in reports[15:]] == [1] * 15
    assert np.abs(states[-1].v).max() < 1e-2


def test_block_sticks_below_the_angle_of_friction_and_slides_above_as_theory_says(block: Body) -> None:
    friction = 0.5  # its angle is 26.6 degrees
    solver = FullSolver(block, colliders=FLOOR, contact=ContactSettings(friction=friction))
    states, _ = run(solver, solver.start(), 40, 0.01, downhill(20))
    assert np.linalg.norm(mean(block, states[-1].v)) < 1e-3
    states, reports = run(solver, solver.start(), 40, 0.01, downhill(35))
    speeds = [mean(block, state.v)[0] for state in states]
    theory = G * (np.sin(np.radians(35)) - friction * np.cos(np.radians(35)))
    assert np.isclose((speeds[-1] - speeds[20]) / 0.2, theory, rtol=0.02)
    touching = reports[-1].touching
    assert touching is not None
    along, across = touching.force[:, 1], np.linalg.norm(touching.force[:, [0, 2]], axis=1)
    assert np.allclose(across, friction * along, rtol=0.02), "all slide at the cone"


@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_anisotropy_drags_a_block_down_a_slope_at_a_steady_speed(block: Body, alpha: float) -> None:
    """Eq. (7) of [TOK14] holds sideways within a step: a drag k A α h v against the weight m g sin θ."""
    solver = FullSolver(block, colliders=FLOOR, contact=ContactSettings(friction=0.0, alpha=alpha))
    states, reports = run(solver, solver.start(), 40, gravity=downhill(20.0))
    assert all(report.contact_settled for report in reports)
    assert max(report.contact_rounds for report in reports) <= 4
    low = block.mesh.vertices[:, 1] < 1e-9
    area = share_of_surface(block, below=True)[low].sum()
    stiffness = solver._contact.detector.stiffness
    speed = block.mass.sum() * downhill(20.0)[0] / (stiffness * area * alpha * 0.01)
    assert mean(block, states[-1].v)[0] == pytest.approx(speed, rel=0.2)


def test_sliding_block_stops_where_theory_says(block: Body) -> None:
    friction, speed, h = 0.4, 1.0, 0.005
    solver = FullSolver(block, colliders=FLOOR, contact=ContactSettings(friction=friction))
    x = block.mesh.vertices
    states, reports = run(solver, solver.from_full(x, np.tile([speed, 0, 0], (len(x), 1)), 0 * x), 80, h, downhill(0))
    gone = mean(block, states[-1].x - x)[0]
    # Implicit Euler lets the block go on for half a step less
    assert np.isclose(gone, speed**2 / (2 * friction * G) - 0.5 * h * speed, rtol=0.03)
    assert np.linalg.norm(mean(block, states[-1].v)) < 0.01
    for report in reports:
        assert report.touching is not None
        across = np.linalg.norm(report.touching.force[:, [0, 2]], axis=1)
        # Friction follows the pressure of the round before
        assert (across <= friction * report.touching.force[:, 1] + 1e-2 * G * block.mass.sum()).all()


@pytest.mark.parametrize(("integrator", "gain"), [("implicit_euler", 1e-4), ("newmark", 1e-2)])
def test_dropped_ball_gains_no_energy_and_comes_to_rest(ball: Body, integrator: str, gain: float) -> None:
    stiffness, x = 2e6, ball.mesh.vertices + [0.0, 0.55, 0.0]
    solver = FullSolver(ball, integrator=integrator, colliders=FLOOR, contact=ContactSettings(stiffness=stiffness))
    states, reports = run(solver, solver.from_full(x, 0 * x, 0 * x), 100, 0.02, downhill(0))
    areas = share_of_surface(ball, below=False)

    def energy(state: FullState) -> float:
        pressed = np.minimum(state.x[:, 1], 0.0)
        return (
            0.5 * float(ball.mass @ (state.v**2).sum(axis=1))
            + ball.energy(state.x)
            + G * float(ball.mass @ state.x[:, 1])
            + 0.5 * stiffness * float(areas @ pressed**2)
        )

    energies = np.array([energy(state) for state in states])
    assert energies.max() < (1.0 + gain) * energies[0]
    assert (np.diff(energies) < gain * energies[0]).all()
    assert all(report.contact_settled for report in reports)
    assert reports[0].contacts == 0
    assert reports[0].contact_rounds == 1
    if integrator == "implicit_euler":  # the other bounces on
        assert np.abs(states[-1].v).max() < 0.05
        assert reports[-1].touching is not None
        assert np.isclose(reports[-1].touching.force[:, 1].sum(), G * ball.mass.sum(), rtol=0.05)


@pytest.mark.parametrize("collider", [Box((0.1, 0.3, 0.3)), Pipe(0.6, 0.1, 0.08)], ids=["box", "pipe"])
def test_moving_collider_pushes_a_block_along(block: Body, collider: Collider) -> None:
    lying = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]) if isinstance(collider, Pipe) else np.eye(3)
    reach = 0.05 if isinstance(collider, Box) else 0.1

    def place(time: float) -> tuple[Placement, ...]:
        return STILL, Placement(lying, np.array([-reach - 0.01 + 0.5 * time, 0.1, 0.1]))

    solver = FullSolver(block, colliders=(*FLOOR, collider), contact=ContactSettings(friction=0.3))
    states, reports = run(solver, solver.start(), 50, 0.01, downhill(0), place)
    assert np.isclose(mean(block, states[-1].v)[0], 0.5, rtol=0.1)
    assert states[-1].x[:, 0].min() > place(0.5)[1].translation[0] + reach - 0.005
    pushing = [
        report.touching for report in reports if report.touching is not None and (report.touching.source == 1).any()
    ]
    assert len(pushing) > 10
    assert all((touch.force[touch.source == 1].sum(axis=0) @ [1.0, 0.0, 0.0]) > 0.0 for touch in pushing)


@pytest.mark.parametrize("speed", [5.0, 10.0, 50.0])
def test_fast_block_does_not_pass_a_plate(block: Body, speed: float) -> None:
    # Up to half a metre a step against a plate of 6 cm, without gravity: only impact sets a scale for the tolerance
    x, surface = block.mesh.vertices, block.mesh.surface_vertices()
    solver = FullSolver(block, colliders=(Box((0.06, 1.0, 1.0)),))
    start = solver.from_full(x, np.tile([speed, 0.0, 0.0], (len(x), 1)), 0 * x)
    states, _ = run(solver, start, 8, 0.01, None, lambda time: (at(0.25, 0.0, 0.0),))
    for state in states:
        assert state.x[surface, 0].max() < 0.25
    assert mean(block, states[-1].v)[0] < 0.0


def jaw() -> Body:
    """A C whose narrow upper arm ends above the lower arm; its ends are held."""
    mesh = fill_box((0, 0, 0), (0.8, 0.5, 0.2), 16)
    x, y, z = mesh.vertices[mesh.tets].mean(axis=1).T
    slot, short, narrow = (x > 0.2) & (abs(y - 0.25) < 0.05), (x > 0.7) & (y > 0.25), (abs(z - 0.1) > 0.05) & (y > 0.25)
    mesh = TetMesh.clean(mesh.vertices, mesh.tets[~(slot | short | narrow)])
    x, y, z = mesh.vertices.T
    ends = np.flatnonzero((x > 0.6) & ((y > 0.499) | (y < 0.001)))
    # No two ways out of the flesh are equally long: round-off must not choose between them
    mesh = replace(mesh, vertices=mesh.vertices + 0.004 * np.sin([5 * y + 9 * z, 7 * x + 8 * z, 6 * x + 11 * y]).T)
    return Body.build(mesh, StableNeoHookean(young=1e5, poisson=0.3, density=1000), Pins.of(ends))


def close_jaw(
    solver: FullSolver, steps: int, travel: float = 0.07, state: FullState | None = None, part: range | None = None
) -> tuple[FullState, list[Report]]:
    """Drive the held ends towards each other, or do a part of the steps of that."""
    rest = solver.body.mesh.vertices[solver.body.pins.vertices]
    way = np.where(rest[:, 1:2] > 0.25, -travel, travel) * [0.0, 1.0, 0.0]
    state, reports = state or solver.start(), []
    for k in part or range(steps):
        moments = (Moment(time, rest + time * way) for time in (k / steps, (k + 1) / steps))
        state, report = solver.step(state, Inputs(*moments))
        reports.append(report)
    return state, reports


@pytest.mark.parametrize(("integrator", "steps"), [("static", 5), ("implicit_euler", 20), ("newmark", 20)])
def test_closing_jaw_stops_at_itself(integrator: str, steps: int) -> None:
    body = jaw()
    free, _ = close_jaw(FullSolver(body, integrator=integrator), steps)
    solver = FullSolver(body, integrator=integrator, contact=ContactSettings(self_contact=True))
    state, reports = close_jaw(solver, steps)
    judge = FullSolver(body, contact=ContactSettings(self_contact=True))._contact
    assert judge is not None
    inputs = Inputs(Moment(0.0, NOWHERE), Moment(1.0, NOWHERE))
    before, after = (judge.detector.detect(one.x, inputs) for one in (free, state))
    edge = judge.detector.edge
    assert before.depth(free.x).max() > 0.2 * edge, "without contact the arm passes into itself"
    assert after.depth(state.x).max() < 0.02 * edge
    touching = reports[-1].touching
    assert touching is not None
    assert (touching.source == SELF).all()
    assert np.linalg.norm(touching.force.sum(axis=0)) > 1.0
    assert all(report.contact_settled for report in reports)


def test_self_contact_moves_a_free_body_nowhere(block: Body) -> None:
    # Two blocks of one body fly into each other: momentum and its moment stay
    one = block.mesh
    count = len(one.vertices)
    upper = one.vertices * 0.7 + [0.031, 0.105, 0.022]
    mesh = TetMesh.clean(np.concatenate([one.vertices, upper]), np.concatenate([one.tets, one.tets + count]))
    body = Body.build(mesh, StableNeoHookean(young=1e5))
    v = np.zeros_like(mesh.vertices)
    v[count:, 1] = -2.0
    solver = FullSolver(body, tolerance=1e-8, contact=ContactSettings(self_contact=True, friction=0.3))
    states, reports = run(solver, solver.from_full(mesh.vertices, v, 0 * v), 6, 0.005, None, lambda time: ())
    assert max(report.contacts for report in reports) > 4
    momentum = body.mass @ v
    assert np.allclose(body.mass @ states[-1].v, momentum, atol=1e-6 * np.linalg.norm(momentum))
    assert states[-1].v[count:, 1].mean() > -1.0


def test_linear_solvers_agree_on_contact() -> None:
    ends, body = {}, jaw()
    for name in ("direct", "pcg"):
        solver = FullSolver(body, linear_solver=name, tolerance=1e-6, contact=ContactSettings(self_contact=True))
        state, reports = close_jaw(solver, 4, 0.06)
        assert reports[-1].contacts > 0
        ends[name] = state.x
    assert np.abs(ends["pcg"] - ends["direct"]).max() < 1e-5


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_restart_in_contact_equals_the_uninterrupted_run_bit_for_bit(block: Body, integrator: str) -> None:
    def make() -> FullSolver:
        return FullSolver(block, integrator=integrator, colliders=FLOOR, contact=ContactSettings(friction=0.4))

    x = block.mesh.vertices
    start = make().from_full(x, np.tile([0.5, -0.2, 0.0], (len(x), 1)), 0 * x)
    whole, _ = run(make(), start, 6, 0.01, downhill(10))
    first, _ = run(make(), start, 3, 0.01, downhill(10))
    packed = {key: value.copy() for key, value in make().pack(first[-1]).items()}
    second = make()
    resumed, _ = run(second, second.unpack(packed), 3, 0.01, downhill(10))
    # The clock of the resumed run begins at its state's time
    for field in ("x", "v", "a"):
        assert np.array_equal(getattr(whole[-1], field), getattr(resumed[-1], field))


def test_restart_in_self_contact_equals_the_uninterrupted_run_bit_for_bit() -> None:
    body, settings = jaw(), ContactSettings(self_contact=True, friction=0.3)
    whole, reports = close_jaw(FullSolver(body, contact=settings), 10)
    assert reports[7].contacts > 0
    first, second = FullSolver(body, contact=settings), FullSolver(body, contact=settings)
    half, _ = close_jaw(first, 10, part=range(8))
    resumed, _ = close_jaw(second, 10, state=second.unpack(first.pack(half)), part=range(8, 10))
    assert np.array_equal(whole.x, resumed.x)
    assert np.array_equal(whole.v, resumed.v)


def test_without_anything_near_contact_changes_nothing(block: Body) -> None:
    x = block.mesh.vertices + [0.0, 5.0, 0.0]
    ends = []
    for options in ({}, {"colliders": FLOOR, "contact": ContactSettings(self_contact=True, friction=0.5)}):
        solver = FullSolver(block, **options)
        place = (lambda time: (STILL,)) if options else (lambda time: ())
        states, reports = run(solver, solver.from_full(x, 0 * x, 0 * x), 4, 0.01, downhill(0), place)
        ends.append(states[-1])
    assert np.array_equal(ends[0].x, ends[1].x)
    assert np.array_equal(ends[0].v, ends[1].v)
    assert reports[-1].touching is None
    assert reports[-1].contacts == 0


def test_pinned_vertices_in_a_collider_are_no_contacts(block: Body) -> None:
    x = block.mesh.vertices
    sunk = Body.build(block.mesh, block.parts[0].material, Pins.of(np.flatnonzero(x[:, 1] < 0.01)))
    solver = FullSolver(sunk, colliders=FLOOR)
    targets = x[sunk.pins.vertices]
    ends = (at(0.0, 0.01, 0.0),)
    state, report = solver.step(solver.start(), Inputs(Moment(0.0, targets, (), ends), Moment(0.01, targets, (), ends)))
    assert report.contacts == 0
    assert np.allclose(state.x, x)


def test_pins_added_live_hold_a_block_that_would_slide(block: Body) -> None:
    solver = FullSolver(block, colliders=FLOOR)
    forces = (Gravity(downhill(30)),)
    state = solver.start()
    for k in range(5):
        moments = (Moment(0.01 * j, NOWHERE, forces, (STILL,)) for j in (k, k + 1))
        state, _ = solver.step(state, Inputs(*moments, (AddPin((0, 1, 2)),) if k == 0 else ()))
    assert np.array_equal(state.x[:3], block.mesh.vertices[:3])


def test_contacts_that_do_not_settle_are_said_once_and_reported(block: Body, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.method.outer._SETTLED", {"contact": 0.0, "friction": 0.0})
    monkeypatch.setattr("supple.method.outer.MOST_ROUNDS", 1)
    x = block.mesh.vertices
    solver = FullSolver(block, colliders=FLOOR, contact=ContactSettings(friction=0.4))
    start = solver.from_full(x, np.tile([0.5, -0.2, 0.0], (len(x), 1)), 0 * x)
    with pytest.warns(SuppleWarning, match="did not settle in 1 rounds") as said:
        _, reports = run(solver, start, 3, 0.01, downhill(0))
    assert len(said) == 1
    assert not reports[0].contact_settled
    assert MOST_ROUNDS == 15


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_static_equilibrium_on_a_slope_stays_where_it_is(block: Body, integrator: str) -> None:
    settings, gravity = ContactSettings(friction=0.6), downhill(15)
    still = FullSolver(block, integrator="static", tolerance=1e-8, colliders=FLOOR, contact=settings)
    (_, rest), _ = run(still, still.start(), 1, 1.0, gravity)
    x = rest.x
    solver = FullSolver(block, integrator=integrator, tolerance=1e-6, colliders=FLOOR, contact=settings)
    # Newmark's method goes on with the acceleration that the body would have without contact
    start = solver.from_full(x, 0 * x, gravity + block.forces(x) / block.mass[:, None])
    states, reports = run(solver, start, 10, 0.01, gravity)
    for state, report in zip(states[1:], reports, strict=True):
        assert np.abs(mean(block, state.v)).max() < 5e-4
        assert report.touching is not None
        assert np.allclose(report.touching.force.sum(axis=0), -block.mass.sum() * gravity, atol=0.2)
