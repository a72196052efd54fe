"""Unreduced projective dynamics against the full solver and against theory."""

import numpy as np
import pytest

from supple.constraint import ProjectiveBody, Shell, Springs, TetVolume, tet_stencils
from supple.elastic import Body, Damping, Pins
from supple.errors import ArgumentError, SceneError
from supple.material import Corotational, NeoHookean, StableNeoHookean, StVK
from supple.mesh import TriMesh, fill_box
from supple.method.full.solver import FullSolver
from supple.method.projective.solver import ProjectiveSolver
from supple.method.projective.stopping import Stopping
from supple.solve import (
    AddPin,
    Grab,
    Gravity,
    Inputs,
    Moment,
    Move,
    Release,
    RemovePin,
    SetGravity,
    SetStiffness,
    SetVolume,
)

DOWN = (Gravity(np.array([0.0, -9.81, 0.0])),)
H = 0.01


def beam(pins: Pins | None = None, damping: Damping | None = None, **material: float) -> Body:
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), 8)
    return Body.build(mesh, Corotational(**{"young": 2e5, "poisson": 0.35} | material), pins, damping)


def left(body: Body) -> Pins:
    return Pins.of(np.flatnonzero(body.mesh.vertices[:, 0] < 1e-9))


def advance(solver, state, steps, *, targets=None, forces=(), events=(), h=H):
    targets = solver.body.vertices[solver.body.pins.vertices] if targets is None else targets
    report = None
    for number in range(steps):
        moments = (Moment(state.time + share * h, targets, forces) for share in (0.0, 1.0))
        state, report = solver.step(state, Inputs(*moments, events if number == 0 else ()))
    return state, report


@pytest.mark.parametrize("history", [0, 5])
@pytest.mark.parametrize("damping", [Damping(), Damping(mass=3.0)])
def test_many_iterations_are_the_full_solvers_step(history, damping):
    body = beam(damping=damping)
    body = body.pinned(left(body))
    full = FullSolver(body, tolerance=1e-10)
    solver = ProjectiveSolver(ProjectiveBody.from_body(body), iterations=4000, tolerance=1e-13, history=history)
    targets = body.mesh.vertices[body.pins.vertices]
    exact, state = full.start(), solver.start()
    for _ in range(3):
        inputs = Inputs(Moment(exact.time, targets, DOWN), Moment(exact.time + 0.02, targets, DOWN))
        exact, _ = full.step(exact, inputs)
        state, report = solver.step(state, inputs)
    moved = np.abs(exact.x - body.mesh.vertices).max()
    assert moved > 0.01
    assert np.abs(state.x - exact.x).max() < 1e-6 * moved
    assert np.abs(state.v - exact.v).max() < 1e-6 * np.abs(exact.v).max()
    assert report.local_global_iterations < 4000


@pytest.mark.parametrize("material", [NeoHookean, StableNeoHookean, StVK])
def test_any_material_reaches_the_full_solvers_step(material):
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), 8)
    body = Body.build(mesh, material(young=2e5, poisson=0.35))
    body = body.pinned(left(body))
    full = FullSolver(body, tolerance=1e-10)
    own = ProjectiveBody.from_body(body, own_materials=True)
    solver = ProjectiveSolver(own, iterations=500, tolerance=1e-12, history=5)
    assert own.constraints[0].kind == "hyperelastic"
    x = mesh.vertices + 0.005 * np.random.default_rng(8).standard_normal(mesh.vertices.shape)
    assert own.energy(x) == pytest.approx(body.energy(x), rel=1e-10)
    np.testing.assert_allclose(own.forces(x), body.forces(x), atol=1e-9 * np.abs(body.forces(x)).max())
    targets, exact, state = mesh.vertices[body.pins.vertices], full.start(), solver.start()
    for _ in range(3):
        inputs = Inputs(Moment(exact.time, targets, DOWN), Moment(exact.time + 0.02, targets, DOWN))
        exact, state = full.step(exact, inputs)[0], solver.step(state, inputs)[0]
    moved = np.abs(exact.x - mesh.vertices).max()
    assert np.abs(state.x - exact.x).max() < 1e-6 * moved


def test_history_saves_iterations():
    body = beam()
    body = ProjectiveBody.from_body(body.pinned(left(body)))
    counts = []
    for history in (0, 5):
        solver = ProjectiveSolver(body, iterations=2000, tolerance=1e-9, history=history)
        counts.append(advance(solver, solver.start(), 1, forces=DOWN, h=0.05)[1].local_global_iterations)
    assert counts[1] < 0.5 * counts[0]


@pytest.mark.parametrize("history", [0, 4])
def test_the_objective_falls(history):
    body = ProjectiveBody.from_body(beam(), Shell(young=1e6))
    body = body.tied(
        TetVolume.build(tet_stencils(fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), 8)), 1e5, (0.9, 1.1)),
        Springs.build(body.vertices, [[0, len(body.vertices) - 1]], 1e3, (0.5, 0.8)),
    )
    solver = ProjectiveSolver(body, history=history)
    rng = np.random.default_rng(1)
    x = body.vertices + 0.01 * rng.standard_normal(body.vertices.shape)
    state = solver.from_full(x, 3.0 * rng.standard_normal(x.shape), np.zeros_like(x))
    still = np.zeros((0, 3))
    objective, begin = solver._objective(state, Inputs(Moment(0.0, still), Moment(H, still)))
    from supple.method.projective.quasi_newton import descend

    system = solver._global(H, state.live)
    values = descend(
        objective.evaluate, system.solve, begin, stopping=Stopping(40, 40, 0.0), history=history
    ).objectives
    assert len(values) >= 40
    assert (np.diff(values) <= 1e-12 * values[0]).all()
    assert values[-1] < 0.9 * values[0]


def test_a_body_at_rest_stays():
    solver = ProjectiveSolver(ProjectiveBody.from_body(beam(), Shell()))
    state, _ = advance(solver, solver.start(), 5)
    np.testing.assert_allclose(state.x, solver.body.vertices, atol=1e-12)
    assert np.abs(state.v).max() < 1e-9


def test_free_flight_keeps_momentum_as_the_full_solver_does():
    body = beam()
    solver = ProjectiveSolver(ProjectiveBody.from_body(body), history=5, iterations=200, tolerance=1e-13)
    full = FullSolver(body, tolerance=1e-10)
    mass, x = solver.body.mass, solver.body.vertices * [1.1, 1.0, 1.0]
    v = np.cross([1.0, 2.0, -1.0], x - mass @ x / mass.sum()) + [0.5, 0.2, 0.1]
    begin = solver.from_full(x, v, np.zeros_like(v)), full.from_full(x, v, np.zeros_like(v))
    none = np.zeros((0, 3))
    one, two = (advance(s, state, 10, targets=none)[0] for s, state in zip((solver, full), begin, strict=True))
    np.testing.assert_allclose(mass @ one.v, mass @ v, rtol=1e-9)
    np.testing.assert_allclose(mass @ np.cross(one.x, one.v), mass @ np.cross(two.x, two.v), rtol=1e-6)


def test_linear_momentum_is_kept_after_few_iterations_too():
    solver = ProjectiveSolver(ProjectiveBody.from_body(beam()), iterations=3)
    x, mass = solver.body.vertices * [1.2, 0.9, 1.0], solver.body.mass
    v = np.tile([1.0, -2.0, 0.5], (len(x), 1))
    state, _ = advance(solver, solver.from_full(x, v, np.zeros_like(v)), 20)
    np.testing.assert_allclose(mass @ state.v / mass.sum(), v[0], atol=1e-10)


@pytest.mark.parametrize("start", ["flat", "shrunk", "mirrored", "random"])
def test_any_start_recovers(start):
    solver = ProjectiveSolver(ProjectiveBody.from_body(beam(damping=Damping(mass=2.0))), time_step=0.02)
    x = solver.body.vertices
    rng = np.random.default_rng(6)
    begin = {
        "flat": x * [1.0, 0.0, 1.0],
        "shrunk": 0.01 * x,
        "mirrored": x * [1.0, -0.3, 1.0],
        "random": rng.uniform(-0.5, 0.5, x.shape),
    }[start]
    state, _ = advance(solver, solver.from_full(begin, 0.0 * x, 0.0 * x), 400, h=0.02)
    assert solver.body.energy(state.x) < 1e-3 * solver.body.energy(begin)
    volume = np.linalg.det(solver.body.constraints[0].stencils.values(state.x))
    assert (volume > 0.5).all()
    assert (volume < 1.5).all()


def test_a_shell_hangs_from_two_corners():
    line = np.linspace(0.0, 1.0, 9)
    x, y = np.meshgrid(line, line, indexing="ij")
    corner = (np.arange(8)[:, None] * 9 + np.arange(8)).ravel()
    triangles = np.concatenate([corner[:, None] + [0, 9, 10], corner[:, None] + [0, 10, 1]])
    mesh = TriMesh.clean(np.stack([x.ravel(), 0.0 * x.ravel(), y.ravel()], axis=1), triangles)
    body = ProjectiveBody.shell(mesh, Shell(young=1e6, thickness=1e-3), Pins.of([0, 8]), Damping(mass=2.0))
    solver = ProjectiveSolver(body, time_step=0.02, iterations=30)
    state, _ = advance(solver, solver.start(), 200, forces=DOWN, h=0.02)
    np.testing.assert_array_equal(state.x[[0, 8]], mesh.vertices[[0, 8]])
    assert state.x[:, 1].min() < -0.8
    assert state.x[:, 1].min() > -1.2
    assert np.abs(state.v).max() < 0.1


def test_pins_hold_axis_by_axis_and_move():
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.25, 0.25), 8)
    low, end = np.flatnonzero(mesh.vertices[:, 1] < 1e-9), np.flatnonzero(mesh.vertices[:, 0] < 1e-9)
    pins = Pins.merge([Pins.of(low, "y"), Pins.of(end)])
    solver = ProjectiveSolver(ProjectiveBody.from_body(Body.build(mesh, Corotational(young=1e5), pins)), iterations=30)
    targets = mesh.vertices[pins.vertices] + [0.1, 0.0, 0.0]
    state, _ = advance(solver, solver.start(), 50, targets=targets, forces=(Gravity(np.array([0.0, -9.81, 3.0])),))
    np.testing.assert_array_equal(state.x[low, 1], mesh.vertices[low, 1])
    np.testing.assert_array_equal(state.x[end], mesh.vertices[end] + [0.1, 0.0, 0.0])
    assert np.abs(state.x[low, 2] - mesh.vertices[low, 2]).max() > 1e-3
    exact = FullSolver(Body.build(mesh, Corotational(young=1e5), pins), tolerance=1e-8)
    reference = exact.from_full(state.x, state.v, state.a)
    inputs = Inputs(Moment(0.0, targets), Moment(H, targets))
    many = ProjectiveSolver(solver.body, iterations=3000, tolerance=1e-12)
    there, _ = many.step(many.from_full(state.x, state.v, state.a), inputs)
    np.testing.assert_allclose(there.x, exact.step(reference, inputs)[0].x, atol=1e-8)


def test_a_state_survives_packing_bit_for_bit_and_runs_repeat():
    solver = ProjectiveSolver(ProjectiveBody.from_body(beam(), Shell()))
    grab = Grab("hand", (3, 4), (0.5, 0.5), (0.2, 0.5, 0.0), 50.0)
    state, _ = advance(solver, solver.start(), 3, forces=DOWN, events=(grab, SetVolume(1.2), AddPin((0,), "x")))
    again = solver.unpack({k: v.copy() for k, v in solver.pack(state).items()})
    other = ProjectiveSolver(solver.body)
    one, _ = advance(solver, state, 3, forces=DOWN)
    two, _ = advance(other, again, 3, forces=DOWN)
    np.testing.assert_array_equal(one.x, two.x)
    np.testing.assert_array_equal(one.memories[0], two.memories[0])
    assert again.live.volume == 1.2


def test_a_grab_pulls_like_the_full_solvers():
    body = beam()
    body = body.pinned(left(body))
    tip = int(np.argmax(body.mesh.vertices.sum(axis=1)))
    grab = Grab("hand", (tip,), (1.0,), (1.2, 0.6, 0.2), 300.0)
    full = FullSolver(body, tolerance=1e-10)
    solver = ProjectiveSolver(ProjectiveBody.from_body(body), iterations=3000, tolerance=1e-13)
    exact, state, targets = full.start(), solver.start(), body.mesh.vertices[body.pins.vertices]
    for events in ((grab,), (Move("hand", (1.0, 0.8, 0.0)),), (SetStiffness(2.0),), (Release("hand"),)):
        inputs = Inputs(Moment(exact.time, targets), Moment(exact.time + H, targets), events)
        exact, state = full.step(exact, inputs)[0], solver.step(state, inputs)[0]
        np.testing.assert_allclose(state.x, exact.x, atol=1e-8)


def test_events_act_at_once():
    body = beam()
    solver = ProjectiveSolver(ProjectiveBody.from_body(body.pinned(left(body))), iterations=20)
    sagged, _ = advance(solver, solver.start(), 20, forces=DOWN)
    stiff, _ = advance(solver, solver.start(), 20, forces=DOWN, events=(SetStiffness(100.0),))
    floating, _ = advance(solver, solver.start(), 20, forces=DOWN, events=(SetGravity((0.0, 0.0, 0.0)),))
    falling, _ = advance(
        solver,
        solver.start(),
        20,
        forces=DOWN,
        events=(RemovePin(tuple(body.pinned(left(body)).pins.vertices.tolist())),),
    )
    low = [state.x[:, 1].min() for state in (sagged, stiff, floating)]
    assert low[0] < low[1] < low[2] + 1e-9
    assert low[2] == pytest.approx(0.0, abs=1e-9)
    assert falling.x.mean(axis=0)[1] == pytest.approx(0.125 - 0.5 * 9.81 * 0.2 * 0.21, rel=1e-6)


def test_a_live_volume_inflates():
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 4)
    body = ProjectiveBody.from_body(Body.build(mesh, Corotational(young=1e3, poisson=0.1), damping=Damping(mass=5.0)))
    body = body.tied(TetVolume.build(tet_stencils(mesh), 1e6))
    solver = ProjectiveSolver(body, iterations=30)
    state, _ = advance(solver, solver.start(), 100, events=(SetVolume(2.0),))
    volume = np.linalg.det(body.constraints[1].stencils.values(state.x)) @ mesh.volumes()
    assert volume == pytest.approx(2.0, rel=0.02)


def test_stiffness_damping_calms_without_slowing_a_spin():
    quiet = ProjectiveSolver(ProjectiveBody.from_body(beam(damping=Damping(stiffness=0.01))), iterations=50)
    x, mass = quiet.body.vertices, quiet.body.mass
    centre = mass @ x / mass.sum()
    spin = np.cross([0.0, 0.0, 2.0], x - centre)
    state, _ = advance(quiet, quiet.from_full(x, spin, 0.0 * x), 20)
    free = ProjectiveSolver(ProjectiveBody.from_body(beam()), iterations=50)
    other, _ = advance(free, free.from_full(x, spin, 0.0 * x), 20)

    def turning(s):
        return mass @ np.cross(s.x - mass @ s.x / mass.sum(), s.v)

    assert turning(state)[2] == pytest.approx(turning(other)[2], rel=0.01)
    stretched = [advance(s, s.from_full(x * [1.1, 1.0, 1.0], 0.0 * x, 0.0 * x), 20)[0] for s in (quiet, free)]
    motion = [mass @ np.einsum("ij,ij->i", s.v, s.v) for s in stretched]
    assert motion[0] < 0.2 * motion[1]


def test_another_duration_costs_a_factor_once():
    solver = ProjectiveSolver(ProjectiveBody.from_body(beam()))
    state, _ = advance(solver, solver.start(), 30, forces=DOWN)  # durations differ in their last digits
    assert len(solver._globals) == 1
    state, _ = advance(solver, state, 2, forces=DOWN, h=0.005)
    assert len(solver._globals) == 2


def test_bad_settings_are_named():
    body = ProjectiveBody.from_body(beam())
    for settings, word in (
        ({"time_step": 0.0}, "time_step"),
        ({"iterations": 0}, "iterations"),
        ({"tolerance": 1.0}, "tolerance"),
    ):
        with pytest.raises((ArgumentError, SceneError), match=word):
            ProjectiveSolver(body, **settings)
    solver = ProjectiveSolver(body)
    with pytest.raises(SceneError, match="volume factor"):
        advance(solver, solver.start(), 1, events=(SetVolume(-1.0),))
