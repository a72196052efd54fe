"""Contact in a subspace: a complete basis is the full solver, few modes keep the balance of forces."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from helpers import DOWN
from reduced_helpers import beam, complete_model, modal_model

from supple.contact.collider import Collider
from supple.contact.contacts import SELF, Contacts
from supple.contact.plane import Plane
from supple.contact.potential import ContactPotential
from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError
from supple.material import StableNeoHookean
from supple.mesh import TetMesh, fill_box
from supple.method import FullSolver
from supple.method.frozen_contacts import freeze_contacts, weigh_vertices
from supple.method.model import ReducedModel
from supple.method.reduced import touch
from supple.method.reduced.frame import FRAMED, rotation
from supple.method.reduced.solver import ReducedSolver
from supple.method.reduced.touch import TOUCHING
from supple.method.solver import Report, Solver
from supple.shape import make_shape
from supple.solve import Force, Gravity, Inputs, Moment, Placement
from supple.subspace import carried_fields
from supple.subspace.rigid_fit import pin_displacement

STILL, FLOOR = (Placement.still(),), (Plane(),)
DYNAMIC = ["implicit_euler", "newmark"]
INTEGRATORS = ["static", *DYNAMIC]
RANK = 20
FLESH = StableNeoHookean(young=1e5, poisson=0.3, density=1000)


@cache
def block() -> tuple[Body, ReducedModel]:
    """A block on the floor that nothing else holds, with every vibration."""
    body = Body.build(fill_box((0, 0, 0), (0.2, 0.1, 0.2), 2), FLESH)
    return body, complete_model(body)


@cache
def ball() -> tuple[Body, ReducedModel]:
    """A damped ball with some modes."""
    body = Body.build(make_shape("sphere", resolution=5), FLESH, damping=Damping(stiffness=0.01))
    return body, modal_model(body, RANK)


def run(
    solver: Solver,
    steps: int,
    h: float = 0.01,
    *forces: Force,
    velocity=None,
    shift=(0.0, 0.0, 0.0),
    targets=None,
    places=lambda time: STILL,
    begin=None,
) -> tuple[list, list[Report]]:
    """States and reports of a run; it goes on from `begin`, or starts from rest, shifted [m] and thrown [m/s]."""
    rest = solver.body.mesh.vertices
    held = targets or (lambda time: rest[solver.body.pins.vertices])
    x = rest + shift
    thrown = np.zeros_like(x) if velocity is None else np.broadcast_to(velocity, x.shape)
    states, reports = [solver.from_full(x, thrown, 0 * x) if begin is None else begin], []
    first = round(states[0].time / h)
    for k in range(first, first + steps):
        moments = (Moment(h * j, held(h * j), forces, places(h * j)) for j in (k, k + 1))
        state, report = solver.step(states[-1], Inputs(*moments))
        states.append(state)
        reports.append(report)
    return states, reports


def compare(
    body: Body,
    model: ReducedModel,
    integrator: str,
    steps: int,
    *forces: Force,
    colliders: tuple[Collider, ...] = FLOOR,
    contact: ContactSettings | None = None,
    **options,
) -> tuple[float, list[Report]]:
    """Largest difference of positions from the full solver over a run, relative to the body's size; the reports."""
    settings = {"integrator": integrator, "tolerance": 1e-9, "colliders": colliders, "contact": contact}
    solvers = FullSolver(body, **settings), ReducedSolver(body, model, **settings)
    (full, told), (reduced, reports) = (run(solver, steps, 0.01, *forces, **options) for solver in solvers)
    assert [report.contacts for report in reports] == [report.contacts for report in told]
    differences = [solvers[0].positions(a) - solvers[1].positions(b) for a, b in zip(full, reduced, strict=True)]
    return float(np.abs(differences).max()) / body.mesh.size(), reports


@pytest.fixture
def _settled_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounds until friction follows the pressure: else solvers differ by what it lags behind, some 1e-6 of a body."""
    monkeypatch.setattr("supple.method.outer._SETTLED", {"contact": 1e-7, "friction": 1e-7})


@pytest.mark.usefixtures("_settled_for_good")
@pytest.mark.parametrize("friction", [0.0, 0.4])
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_block_on_a_floor_is_that_of_full_space(integrator: str, friction: float) -> None:
    # Without friction statics has an equilibrium on level ground only
    gravity = Gravity(np.array([1.0 if friction else 0.0, -9.81, 0.0]))
    error, reports = compare(*block(), integrator, 2, gravity, contact=ContactSettings(friction=friction))
    assert error < 1e-8
    touching = reports[-1].touching
    assert touching is not None
    assert reports[-1].contacts == len(touching) == 9
    if integrator == "static":
        assert np.allclose(touching.force.sum(axis=0), -block()[0].mass.sum() * gravity.acceleration, atol=1e-5)


@pytest.mark.usefixtures("_settled_for_good")
@pytest.mark.parametrize("integrator", DYNAMIC)
def test_sliding_and_landing_block_is_that_of_full_space(integrator: str) -> None:
    contact = ContactSettings(friction=0.3)
    error, reports = compare(*block(), integrator, 8, DOWN, contact=contact, velocity=[0.5, -0.4, 0.1])
    assert error < 1e-7
    assert any(report.contact_rounds > 1 for report in reports)


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_body_that_falls_on_an_edge_and_tumbles_is_that_of_full_space(integrator: str) -> None:
    body, model = block()
    velocity = np.cross([2.0, 3.0, -4.0], body.mesh.vertices - [0.1, 0.05, 0.1]) + [0.0, -1.0, 0.0]
    error, reports = compare(body, model, integrator, 12, DOWN, velocity=velocity, shift=(0.0, 0.02, 0.0))
    assert error < 1e-7
    assert reports[0].contacts == 0
    assert {report.contacts for report in reports} & {1, 2, 3, 4, 5}, "it lands on an edge"


@pytest.mark.usefixtures("_settled_for_good")
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_held_beam_that_sags_onto_a_ball_is_that_of_full_space(integrator: str) -> None:
    body = beam()
    under = (Placement(np.eye(3), body.mesh.bounds()[1] * [0.8, 0.0, 0.0] - [0.0, 0.3, 0.0]),)
    error, reports = compare(
        body, complete_model(body), integrator, 1 if integrator == "static" else 15, DOWN, colliders=(Sphere(0.19),),
        places=lambda time: under, contact=ContactSettings(friction=0.2),
    )  # fmt: skip
    assert reports[-1].contacts > 0
    assert error < 1e-7


def test_beam_swung_by_its_pins_against_a_ball_is_that_of_full_space() -> None:
    body = beam()
    held = body.mesh.vertices[body.pins.vertices]

    def targets(time: float) -> np.ndarray:
        return held @ rotation(np.array([0.0, 0.0, -3.0 * time])).T

    under = (Placement(np.eye(3), np.array([0.3, -0.25, 0.0])),)
    error, reports = compare(
        body, complete_model(body), "implicit_euler", 12, colliders=(Sphere(0.15),), targets=targets,
        places=lambda time: under,
    )  # fmt: skip
    assert reports[-1].contacts > 0
    assert error < 1e-7


@pytest.mark.parametrize(("integrator", "steps"), [("static", 3), ("implicit_euler", 10)])
def test_closing_jaw_stops_at_itself_as_in_full_space(integrator: str, steps: int) -> None:
    mesh = fill_box((0, 0, 0), (0.8, 0.5, 0.1), 8)
    x, y, _ = mesh.vertices[mesh.tets].mean(axis=1).T
    mesh = TetMesh.clean(mesh.vertices, mesh.tets[~(((x > 0.2) & (y > 0.19) & (y < 0.31)) | ((x > 0.6) & (y > 0.3)))])
    x, y, z = mesh.vertices.T
    # No two ways out of the flesh are equally long
    mesh = replace(mesh, vertices=mesh.vertices + 0.004 * np.sin([5 * y + 9 * z, 7 * x + 8 * z, 6 * x + 11 * y]).T)
    body = Body.build(mesh, FLESH, Pins.of(np.flatnonzero((x > 0.45) & ((y > 0.49) | (y < 0.01)))))
    held = mesh.vertices[body.pins.vertices]
    way = np.where(held[:, 1:] > 0.25, -1.0, 1.0)[:, :1] * [0.0, 0.08, 0.0]

    def targets(time: float) -> np.ndarray:
        return held + time / (0.01 * steps) * way

    seen = [pin_displacement(body.pins, mesh.vertices, targets(0.01 * k)) for k in range(1, steps + 1)]
    carried = carried_fields(body, np.array(seen), 1e-12)
    error, reports = compare(
        body, complete_model(body, carried=carried), integrator, steps, colliders=(), targets=targets,
        places=lambda time: (), contact=ContactSettings(self_contact=True),
    )  # fmt: skip
    touching = reports[-1].touching
    assert touching is not None
    assert (touching.source == SELF).all()
    assert error < 1e-6


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_dropped_ball_of_few_modes_bounces_as_in_full_space(integrator: str) -> None:
    body, model = ball()
    ends = []
    for solver in (
        FullSolver(body, integrator=integrator, colliders=FLOOR),
        ReducedSolver(body, modal_model(body, 100), integrator=integrator, colliders=FLOOR),
        ReducedSolver(body, model, integrator=integrator, colliders=FLOOR),
    ):
        states, reports = run(solver, 40, 0.02, DOWN, shift=(0.0, 0.55, 0.0))
        assert all(report.contact_settled for report in reports)
        assert max(report.contacts for report in reports) > 3
        ends.append([body.mass @ solver.positions(state)[:, 1] / body.mass.sum() for state in states])
    errors = [np.abs(np.subtract(ends[0], end)).max() for end in ends[1:]]
    # Vibrations make dents slowly: a trained basis holds them
    assert errors[0] < 0.5 * errors[1] < 0.1


def test_few_modes_bear_the_weight_and_hold_on_a_slope() -> None:
    body, _ = ball()
    gravity = 9.81 * np.array([np.sin(0.2), -np.cos(0.2), 0.0])
    solver = ReducedSolver(body, modal_model(body, 12), integrator="static", colliders=FLOOR)
    _, (report,) = run(solver, 1, 1.0, DOWN, shift=(0.0, 0.52, 0.0))
    assert report.touching is not None
    assert np.allclose(report.touching.force.sum(axis=0), [0.0, 9.81 * body.mass.sum(), 0.0], rtol=1e-3, atol=0.5)
    slab = Body.build(fill_box((0, 0, 0), (0.4, 0.1, 0.4), 4), FLESH)
    still = ReducedSolver(slab, modal_model(slab, 12), colliders=FLOOR, contact=ContactSettings(friction=0.5))
    states, _ = run(still, 30, 0.01, Gravity(gravity))
    assert np.abs(still.to_full(states[-1])[1]).max() < 5e-3


def test_static_ball_that_rolls_on_and_on_is_refused() -> None:
    body, model = ball()
    solver = ReducedSolver(body, model, integrator="static", colliders=FLOOR, contact=ContactSettings(friction=0.5))
    gravity = Gravity(9.81 * np.array([np.sin(0.17), -np.cos(0.17), 0.0]))
    with pytest.raises(SceneError, match=r"nothing holds the body along \(1, 0, 0\).* rolls on"):
        run(solver, 1, 1.0, gravity, shift=(0.0, 0.55, 0.0))


def test_moving_collider_takes_a_body_of_few_modes_along() -> None:
    body, model = ball()
    solver = ReducedSolver(body, model, colliders=FLOOR, contact=ContactSettings(friction=0.8))

    def places(time: float) -> tuple[Placement, ...]:
        return (Placement(np.eye(3), np.array([0.5 * time, 0.0, 0.0])),)

    states, _ = run(solver, 60, 0.01, DOWN, shift=(0.0, 0.499, 0.0), places=places)
    moved = body.mass @ solver.to_full(states[-1])[1] / body.mass.sum()
    assert 0.05 < moved[0] < 0.5, "it rolls, more slowly than the belt"


def test_kernels_know_the_laws_of_contact(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_find_gaps", "push_back", "find_axes", "find_energy"):
        monkeypatch.setattr(touch, name, getattr(touch, name).py_func)
    pull, stiffen, height = (loop.py_func for loop in TOUCHING[:3])
    # The compiled laws against the potential they come from, in a frame that moved, open, closed, stuck and sliding
    body, model = ball()
    rng = np.random.default_rng(3)
    n, count = len(body.mass), 40
    solver = ReducedSolver(body, model)
    state = solver.from_full(body.mesh.vertices, 0 * body.mesh.vertices, 0 * body.mesh.vertices)
    inputs = Moment(0.01, np.zeros((0, 3)))
    springs, drag = solver._handles.of_live(state.live), (np.zeros((0, 0)), np.zeros(RANK))
    step = solver.moving.prepare(state, inputs, 0.01, [], springs, drag)
    normal = rng.standard_normal((count, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    weights = np.concatenate([np.ones((count, 1)), -rng.dirichlet(np.ones(3), count)], axis=1)
    weights[:20, 1:] = 0.0
    vertices = rng.integers(0, n, (count, 4)).astype(np.int32)
    zero = np.zeros((count, 3))
    contacts = Contacts(
        vertices, weights, 0.3 * rng.standard_normal((count, 3)), normal, rng.uniform(1, 2, count), zero,
        np.zeros(count, np.int32), np.zeros(count, np.int32),
    )  # fmt: skip
    x_begin = body.mesh.vertices + 0.02 * rng.standard_normal((n, 3))
    potential = ContactPotential(
        contacts, x_begin, 1e3, 0.2, rng.random(count) < 0.5, 0.5, rng.uniform(0, 50, count), 0.1, 0.01
    )
    handles = weigh_vertices(contacts, n) @ solver.shapes.reshape(n, -1)
    data = (step.loads, freeze_contacts(potential, handles))

    def place(z: np.ndarray) -> np.ndarray:
        return z[29:] + (solver.shapes @ np.concatenate([[1.0], z[:20]])) @ z[20:29].reshape(3, 3).T

    def own(z: np.ndarray) -> np.ndarray:
        g, others = np.zeros(26), np.zeros(26)
        pull(z, data, g)
        FRAMED.pull(z, step.loads, others)
        return g - others

    z = np.concatenate([0.01 * rng.standard_normal(20), rotation(np.array([0.3, 0.2, -0.4])).ravel(), [0.1, 0.2, 0.0]])
    energy = height(z, data)[0] - FRAMED.height(z, step.loads)[0]
    assert np.isclose(energy, potential.energy(place(z)), rtol=1e-9)
    K, others = np.zeros((26, 26)), np.zeros((26, 26))
    stiffen(z, data, K)
    FRAMED.stiffen(z, step.loads, others)
    K = np.tril(K - others)
    K += np.tril(K, -1).T
    e, there = 1e-6, np.empty_like(z)
    for k in range(26):
        d = np.eye(26)[k]
        ends, slopes = [], []
        for t in (-e, e):
            TOUCHING.shift(z, d, t, there)
            ends.append(potential.energy(place(there)))
            slopes.append(own(there))
        assert np.isclose((ends[1] - ends[0]) / (2 * e), own(z)[k], rtol=1e-5, atol=1e-5)
        # A turn's own axes turn with it, so the Hessian of turns is the symmetric part
        if k < 20 or k > 22:
            assert np.allclose((slopes[1] - slopes[0])[:20] / (2 * e), K[k, :20], rtol=1e-4, atol=1e-2)


def test_nothing_to_touch_changes_nothing() -> None:
    body, model = ball()
    plain = ReducedSolver(body, model)
    idle = ReducedSolver(body, model, contact=ContactSettings(friction=0.5))
    far = ReducedSolver(body, model, colliders=FLOOR, contact=ContactSettings(friction=0.5))
    ends = [
        run(solver, 4, 0.01, DOWN, shift=(0.0, 5.0, 0.0), places=lambda time, s=solver: STILL if s is far else ())
        for solver in (plain, idle, far)
    ]
    for states, reports in ends[1:]:
        for key, value in plain.pack(ends[0][0][-1]).items():
            assert np.array_equal(value, plain.pack(states[-1])[key])
        assert reports[-1].contacts == 0
        assert reports[-1].touching is None
    assert ends[1][1][-1].contact_rounds == 0
    assert ends[2][1][-1].contact_rounds == 1


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_restart_in_contact_equals_the_uninterrupted_run_bit_for_bit(integrator: str) -> None:
    def make() -> ReducedSolver:
        settings = ContactSettings(friction=0.4)
        return ReducedSolver(*ball(), integrator=integrator, colliders=FLOOR, contact=settings)

    start = {"velocity": [0.5, -1.0, 0.0], "shift": (0.0, 0.5, 0.0)}
    whole, _ = run(make(), 6, 0.01, DOWN, **start)
    first, _ = run(make(), 3, 0.01, DOWN, **start)
    second = make()
    packed = {key: value.copy() for key, value in second.pack(first[-1]).items()}
    resumed, _ = run(second, 3, 0.01, DOWN, begin=second.unpack(packed))
    for key, value in second.pack(whole[-1]).items():
        assert np.array_equal(value, second.pack(resumed[-1])[key])


def test_what_nothing_can_hold_or_nobody_placed_is_refused() -> None:
    body, model = ball()
    with pytest.raises(SceneError, match="place a collider within"):
        run(ReducedSolver(body, model, integrator="static", colliders=FLOOR), 1, 1.0, DOWN, shift=(0.0, 9.0, 0.0))
    with pytest.raises(SceneError, match="nothing holds the body against a net force"):
        run(ReducedSolver(body, model, integrator="static"), 1, 1.0, DOWN, places=lambda time: ())
    with pytest.raises(SceneError, match="places 0 colliders where there are 1"):
        run(ReducedSolver(body, model, colliders=FLOOR), 1, 0.01, DOWN, places=lambda time: ())
