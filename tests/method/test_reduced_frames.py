"""Bodies that travel and turn in a subspace: momentum, energy, order in time, and the full solver beside them."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from helpers import DOWN, interval
from reduced_helpers import beam, ends_of, modal_model, run, spinning, turn

from supple.elastic import Body, Damping
from supple.errors import SuppleWarning
from supple.material import StableNeoHookean
from supple.method import FullSolver
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.shape import make_shape
from supple.solve import Grab, NodalForce
from supple.subspace import carried_fields, fit_rigid
from supple.subspace.rigid_fit import pin_displacement

DYNAMIC = ["implicit_euler", "newmark"]
SPIN, SPEED = (3.0, 5.0, -8.0), (1.0, 2.0, 0.0)
SOFT = StableNeoHookean(young=1e5)


@cache
def flyer() -> tuple[Body, ReducedModel]:
    """A soft beam that nothing holds, with few modes."""
    body = beam(None, material=SOFT)
    return body, modal_model(body, 8)


@cache
def thrown() -> tuple[Body, ReducedModel]:
    """A small creature with 20 modes."""
    body = Body.build(make_shape("creature", elements=500), StableNeoHookean(young=5e4))
    return body, modal_model(body, 20)


def momenta(body: Body, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Linear momentum [kg m/s], angular momentum about the centre of mass [kg m²/s], kinetic and elastic energy [J]."""
    mass = body.mass[:, None]
    arms = x - body.mass @ x / body.mass.sum()
    energy = 0.5 * float(body.mass @ (v**2).sum(axis=1)) + body.energy(x)
    return (mass * v).sum(axis=0), (mass * np.cross(arms, v)).sum(axis=0), energy


def drifts(integrator: str, steps: int) -> tuple[float, float, np.ndarray]:
    """Largest relative changes of momentum and angular momentum, and the energy over 0.3 s (half a turn) of flight."""
    body, model = flyer()
    solver = ReducedSolver(body, model, integrator=integrator, tolerance=1e-6)
    states = run(solver, 0.3 / steps, steps, velocity=spinning(body, SPIN, SPEED))
    found = [momenta(body, *solver.to_full(state)[:2]) for state in states]
    P, L, E = (np.array(values) for values in zip(*found, strict=True))
    change = [np.linalg.norm(M - M[0], axis=1).max() / np.linalg.norm(M[0]) for M in (P, L)]
    return change[0], change[1], E / E[0]


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_flight_without_forces_keeps_linear_momentum_to_round_off(integrator: str) -> None:
    assert drifts(integrator, 100)[0] < 1e-11


def test_angular_momentum_drifts_no_more_than_the_order_of_the_integrator() -> None:
    # 100 steps for half a turn: 6 % under implicit Euler, which the full solver loses as well, 0.02 % under Newmark
    for integrator, bound, order in (("implicit_euler", 0.08, 1), ("newmark", 5e-4, 2)):
        coarse, fine = (drifts(integrator, steps)[1] for steps in (100, 200))
        assert coarse < bound
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.15)


def test_implicit_euler_only_loses_energy_and_newmark_keeps_it() -> None:
    euler, newmark = (drifts(integrator, 100)[2] for integrator in DYNAMIC)
    assert (np.diff(euler) <= 1e-9).all()
    assert euler[-1] > 0.85
    assert np.abs(newmark - 1.0).max() < 1e-3


def test_newmark_keeps_the_energy_of_a_body_that_rings() -> None:
    body, model = flyer()
    solver = ReducedSolver(body, model, integrator="newmark", tolerance=1e-8)
    stretch = model.basis.project(body.mesh.vertices * [0.2, -0.05, -0.05])
    x = body.mesh.vertices + model.basis.lift(stretch)
    a = model.basis.lift(model.basis.columns.T @ body.forces(x).ravel())
    states = run(solver, 1e-3, 150, begin=solver.from_full(x, np.zeros_like(x), a))
    energies = np.array([momenta(body, *solver.to_full(state)[:2])[2] for state in states])
    elastic = np.array([body.energy(solver.positions(state)) for state in states])
    assert elastic.min() < 0.1 * elastic[0], "it rings"
    assert np.abs(energies / energies[0] - 1.0).max() < 0.02


@pytest.mark.parametrize(("integrator", "order"), [("implicit_euler", 1), ("newmark", 2)])
def test_tumbling_converges_at_the_order_of_the_integrator(integrator: str, order: int) -> None:
    body, model = flyer()
    velocity = spinning(body, SPIN, SPEED)
    ends = []
    for steps in (25, 50, 100):
        solver = ReducedSolver(body, model, integrator=integrator, tolerance=1e-9)
        ends.append(solver.positions(run(solver, 0.15 / steps, steps, DOWN, velocity=velocity)[-1]))
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    observed = np.log2(errors[0] / errors[1])
    assert abs(observed - order) < 0.1, f"order {observed:.2f}"


@pytest.mark.parametrize(("integrator", "order"), [("implicit_euler", 1), ("newmark", 2)])
def test_body_strained_by_its_pins_converges_at_the_order_of_the_integrator(integrator: str, order: int) -> None:
    body = beam(ends_of, material=SOFT)
    rest = body.mesh.vertices
    held = rest[body.pins.vertices]

    def targets(time: float) -> np.ndarray:
        return held * [1.2 - 0.2 * np.cos(8.0 * time), 1.0, 1.0]

    seen = [pin_displacement(body.pins, rest, targets(time)) for time in (0.05, 0.15)]
    model = modal_model(body, 8, carried=carried_fields(body, np.array(seen), 1e-9))
    ends = []
    for steps in (50, 100, 200):
        solver = ReducedSolver(body, model, integrator=integrator, tolerance=1e-9)
        ends.append(solver.positions(run(solver, 0.15 / steps, steps, targets=targets)[-1]))
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.2


@pytest.mark.parametrize(("integrator", "bound"), [("implicit_euler", 2e-3), ("newmark", 6e-5)])
def test_error_of_a_carried_body_halves_at_least_with_the_step(integrator: str, bound: float) -> None:
    body = beam(material=SOFT)
    held = body.mesh.vertices[body.pins.vertices]
    centre, model = held.mean(axis=0), modal_model(body, 8)

    def targets(time: float) -> np.ndarray:
        return (held - centre) @ turn(2, 0.5 - 0.5 * np.cos(8.0 * time)).T + centre

    ends = []
    for steps in (25, 50, 100):
        solver = ReducedSolver(body, model, integrator=integrator, tolerance=1e-9)
        ends.append(solver.positions(run(solver, 0.15 / steps, steps, targets=targets)[-1]))
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert errors[1] < bound
    assert errors[1] < 0.55 * errors[0]


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_thrown_creature_tumbles_as_it_does_in_full_space(integrator: str) -> None:
    # 0.6 s, half a turn and 0.9 m of fall with 20 modes: centre of mass to round-off, orientation within 1 degree
    body, model = thrown()
    mesh = body.mesh
    velocity = spinning(body, (2.0, 3.0, -4.0), (0.5, 1.0, 0.0))
    full = FullSolver(body, integrator=integrator, tolerance=1e-5)
    reduced = ReducedSolver(body, model, integrator=integrator, tolerance=1e-5)
    shapes = [
        [solver.positions(state) for state in run(solver, 0.02, 30, DOWN, velocity=velocity)[::5]]
        for solver in (full, reduced)
    ]
    share = body.mass / body.mass.sum()
    turns = []
    for exact, found in zip(*shapes, strict=True):
        assert np.abs(share @ (exact - found)).max() < 1e-11
        assert np.sqrt(share @ ((exact - found) ** 2).sum(axis=1)) < 4e-3 * mesh.size()
        turns.append([fit_rigid(x, mesh.vertices, body.mass)[0] for x in (exact, found)])
    cosines = [0.5 * (np.trace(R.T @ Q) - 1.0) for R, Q in turns]
    assert np.degrees(np.arccos(min(1.0, *cosines))) < 1.0
    assert np.trace(turns[-1][0]) < 0.5, "it turns far"


def test_free_fall_follows_the_parabola_of_the_integrator() -> None:
    body = beam(None)
    solver, h, steps = ReducedSolver(body, modal_model(body, 6)), 0.01, 30
    states = run(solver, h, steps, DOWN)
    fall = body.mass @ (solver.positions(states[-1]) - solver.positions(states[0])) / body.mass.sum()
    assert np.allclose(fall, [0.0, -9.81 * h**2 * steps * (steps + 1) / 2, 0.0], atol=1e-9)
    assert np.linalg.norm(states[-1].shapes[0, 1:]) < 1e-6, "nothing bends it"


@pytest.mark.parametrize("integrator", DYNAMIC)
@pytest.mark.parametrize("h", [1e-2, 1e-3, 1e-5])
@pytest.mark.parametrize("spin", [0.0, 10.0, 100.0])
@pytest.mark.parametrize("far", [0.0, 100.0])
def test_flight_without_any_force_never_fails(integrator: str, h: float, spin: float, far: float) -> None:
    # Inertia's round-off grows as 1/h² and with the distance from the origin, and no force is there to compare with
    body, model = flyer()
    solver = ReducedSolver(body, model, integrator=integrator)
    x = body.mesh.vertices + far
    state = solver.from_full(x, spinning(body, (spin, 0.3 * spin, 0.0), SPEED), 0 * x)
    end = run(solver, h, 4, begin=state)[-1]
    moved = body.mass @ (solver.positions(end) - x) / body.mass.sum()
    assert np.allclose(moved, 4 * h * np.array(SPEED), atol=1e-12 * (1.0 + far))


@pytest.mark.parametrize("integrator", DYNAMIC)
def test_drag_of_the_frame_slows_travel_and_spin_but_drag_of_shapes_does_not(integrator: str) -> None:
    ends = {}
    for name, damping in {"none": Damping(), "mass": Damping(mass=2.0), "stiffness": Damping(stiffness=0.05)}.items():
        body = beam(None, damping=damping)
        solver = ReducedSolver(body, modal_model(body, 8), integrator=integrator, tolerance=1e-7)
        states = run(solver, 2e-3, 50, velocity=spinning(body, (0.0, 0.0, 4.0), SPEED))
        ends[name] = momenta(body, *solver.to_full(states[-1])[:2])
    P, L, _ = ends["none"]
    assert np.allclose(ends["stiffness"][0], P, rtol=1e-9)
    assert np.linalg.norm(ends["stiffness"][1] - L) < 5e-3 * np.linalg.norm(L)
    expected = np.exp(-2.0 * 0.1)
    assert np.allclose(ends["mass"][0], expected * P, rtol=5e-3)
    assert ends["mass"][1][2] == pytest.approx(expected * L[2], rel=1e-2)


def test_force_off_centre_turns_a_free_body_by_its_torque() -> None:
    body = beam(None, material=StableNeoHookean(young=1e7))
    corner = np.array([int(np.argmax(body.mesh.vertices.sum(axis=1)))], np.int32)
    force, h, steps = np.array([0.0, 0.0, 5.0]), 1e-3, 20
    solver = ReducedSolver(body, modal_model(body, 8), integrator="newmark", tolerance=1e-7)
    states = run(solver, h, steps, NodalForce(corner, np.ones(1), force))
    P, L, _ = momenta(body, *solver.to_full(states[-1])[:2])
    torque = np.cross(body.mesh.vertices[corner[0]] - body.mass @ body.mesh.vertices / body.mass.sum(), force)
    assert np.allclose(P, h * steps * force, rtol=1e-6, atol=1e-9)
    assert np.linalg.norm(L - h * steps * torque) < 1e-2 * np.linalg.norm(h * steps * torque)


def test_static_free_body_without_load_relaxes_and_stays_where_it_is() -> None:
    body = beam(None)
    model = modal_model(body, 12)
    solver = ReducedSolver(body, model, integrator="static", tolerance=1e-6)  # equal modes come mixed as they like
    bent = body.mesh.vertices + model.basis.lift(np.random.default_rng(0).normal(size=12) * 0.05)
    x = bent @ turn(2, 1.0).T + [3.0, 0.0, 1.0]
    state, _ = solver.step(solver.from_full(x, 0 * x, 0 * x), interval(body, 0.0, 1.0))
    found = solver.positions(state)
    assert body.energy(found) < 1e-8 * body.energy(x)
    R, _ = fit_rigid(found, body.mesh.vertices, body.mass)
    assert np.allclose(R, turn(2, 1.0), atol=0.05)
    assert np.allclose(body.mass @ found, body.mass @ x, rtol=1e-6)


def test_grab_pulls_a_free_body_to_its_target() -> None:
    body = beam(None, damping=Damping(mass=5.0))
    corner = int(np.argmax(body.mesh.vertices.sum(axis=1)))
    target = (1.0, 2.0, -1.0)
    solver = ReducedSolver(body, modal_model(body, 10))
    end = run(solver, 0.05, 80, events={0: (Grab("g", (corner,), (1.0,), target, 500.0),)})[-1]
    assert np.allclose(solver.positions(end)[corner], target, atol=0.01)


def test_pins_that_leave_what_was_trained_are_told_once_with_the_figure() -> None:
    body = beam(ends_of)
    held = body.mesh.vertices[body.pins.vertices]
    solver = ReducedSolver(body, modal_model(body, 8))
    with pytest.warns(SuppleWarning, match=r"pins move 0\.\d+ m away .* train") as caught:
        run(solver, 0.01, 5, targets=lambda time: held * [1.0 + 2.0 * time, 1.0, 1.0])
    assert len(caught) == 1


def test_pins_that_move_rigidly_are_followed_exactly_and_without_a_word() -> None:
    body = beam()
    held, model = body.mesh.vertices[body.pins.vertices], modal_model(body, 8)

    def targets(time: float) -> np.ndarray:
        return held @ turn(1, 15.0 * time).T @ turn(2, 9.0 * time).T + [time, -time, 2.0 * time]

    for integrator in (*DYNAMIC, "static"):
        solver = ReducedSolver(body, model, integrator=integrator)
        end = run(solver, 0.01, 20, targets=targets)[-1]
        assert np.allclose(solver.positions(end)[body.pins.vertices], targets(0.2), atol=1e-13)
