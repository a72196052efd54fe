"""The Solver protocol: events, determinism, checkpoints, the linear solvers agree."""

import numpy as np
import pytest
from helpers import DOWN, interval, simulate

from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError
from supple.material import StableNeoHookean
from supple.method import FullSolver
from supple.shape import make_shape
from supple.solve import (
    AddPin,
    Grab,
    Inputs,
    Moment,
    Move,
    Release,
    RemovePin,
    SetGravity,
    SetStiffness,
    SetThrottle,
    event_from_dict,
    event_to_dict,
)


@pytest.fixture(scope="module")
def body() -> Body:
    mesh = make_shape("beam", resolution=8)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    return Body.build(mesh, StableNeoHookean(young=5e4), pins, Damping(mass=0.1, stiffness=0.002))


def tip(body: Body) -> int:
    return int(np.argmax(body.mesh.vertices.sum(axis=1)))


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark", "static"])
def test_linear_solvers_agree(body: Body, integrator: str) -> None:
    ends = {}
    for name in ("direct", "pcg"):
        solver = FullSolver(body, integrator=integrator, linear_solver=name, tolerance=1e-7)
        states, _ = simulate(solver, solver.start(interval(body, 0, 1, DOWN)), 0.01, 3, DOWN)
        ends[name] = states[-1].x
    scale = np.abs(ends["direct"] - body.mesh.vertices).max()
    assert scale > 1e-3
    assert np.abs(ends["pcg"] - ends["direct"]).max() < 1e-4 * scale


@pytest.mark.parametrize("linear_solver", ["direct", "pcg"])
def test_the_same_run_gives_the_same_bytes(body: Body, linear_solver: str) -> None:
    ends = []
    for _ in range(2):
        solver = FullSolver(body, linear_solver=linear_solver)
        states, _ = simulate(solver, solver.start(), 0.01, 5, DOWN)
        ends.append(states[-1].x.tobytes())
    assert ends[0] == ends[1]


def test_restart_equals_the_uninterrupted_run_bit_for_bit(body: Body) -> None:
    events = {
        1: (Grab("g", (tip(body),), (1.0,), (0.8, 0.5, 0.0), 50.0),),
        2: (SetGravity((0.0, -2.0, 0.0)), AddPin((3,))),
    }

    def run(solver: FullSolver, state, steps):
        for k in steps:
            begin, end = 0.01 * k, 0.01 * (k + 1)
            state, _ = solver.step(state, interval(body, begin, end, DOWN, events=events.get(k, ())))
        return state

    solver = FullSolver(body, integrator="newmark")
    whole = run(solver, solver.start(), range(6))
    first = FullSolver(body, integrator="newmark")
    packed = {k: v.copy() for k, v in first.pack(run(first, first.start(), range(3))).items()}
    second = FullSolver(body, integrator="newmark")
    resumed = run(second, second.unpack(packed), range(3, 6))
    for a, b in zip(solver.pack(whole).items(), second.pack(resumed).items(), strict=True):
        assert a[0] == b[0]
        assert a[1].tobytes() == b[1].tobytes()


def test_moving_pins_carry_the_body(body: Body) -> None:
    solver = FullSolver(body)
    targets = body.mesh.vertices[body.pins.vertices]
    state = solver.start()
    for k in range(10):
        shift = [0.0, 0.02, 0.0]
        moments = [Moment(0.01 * j, targets + np.multiply(shift, j)) for j in (k, k + 1)]
        state, _ = solver.step(state, Inputs(*moments))
    assert np.array_equal(state.x[body.pins.vertices], targets + np.multiply(shift, 10))
    assert np.allclose(state.v[body.pins.vertices], [0.0, 2.0, 0.0], atol=1e-9)
    assert state.x[:, 1].max() > body.mesh.vertices[:, 1].max() + 0.15


def test_grab_pulls_a_point_and_release_lets_it_go(body: Body) -> None:
    solver, point = FullSolver(body), tip(body)
    target = tuple(body.mesh.vertices[point] + [0.0, 0.2, 0.0])
    state = solver.start()
    state, _ = solver.step(state, interval(body, 0, 0.02, events=(Grab("a", (point,), (1.0,), target, 2000.0),)))
    for k in range(1, 40):
        state, _ = solver.step(state, interval(body, 0.02 * k, 0.02 * (k + 1)))
    near = np.linalg.norm(state.x[point] - target)
    assert near < 0.1
    state, _ = solver.step(state, interval(body, 0.8, 0.82, events=(Move("a", tuple(body.mesh.vertices[point])),)))
    assert np.linalg.norm(state.x[point] - target) > near
    state, _ = solver.step(state, interval(body, 0.82, 0.84, events=(Release("a"),)))
    assert state.live.grabs == ()


def test_grab_of_a_triangle_enters_the_hessian(body: Body) -> None:
    # Newton must stay as fast with a stiff grab as without: the coupling between its vertices is exact
    triangle = tuple(int(v) for v in body.mesh.surface_triangles()[-1])
    solver = FullSolver(body)
    target = tuple(body.mesh.vertices[list(triangle)].mean(axis=0) + [0.0, 0.05, 0.0])
    grab = Grab("t", triangle, (1 / 3, 1 / 3, 1 / 3), target, 1e5)
    _, report = solver.step(solver.start(), interval(body, 0, 0.02, events=(grab,)))
    assert report.newton_iterations <= 5


def test_pins_can_be_added_and_removed(body: Body) -> None:
    solver, point = FullSolver(body), tip(body)
    state = solver.start()
    state, _ = solver.step(state, interval(body, 0, 0.01, DOWN, events=(AddPin((point,)),)))
    assert np.array_equal(state.x[point], body.mesh.vertices[point])
    removed = (RemovePin(tuple(int(v) for v in body.pins.vertices)), RemovePin((point,)))
    state, _ = solver.step(state, interval(body, 0.01, 0.02, DOWN, events=removed))
    for k in range(2, 30):
        state, _ = solver.step(state, interval(body, 0.01 * k, 0.01 * (k + 1), DOWN))
    assert state.x[:, 1].max() < body.mesh.vertices[:, 1].max() - 0.2, "nothing holds it: it falls"


def test_stiffness_and_gravity_can_change_live(body: Body) -> None:
    sag = {}
    for factor in (1.0, 10.0):
        solver = FullSolver(body, integrator="static")
        light = (SetGravity((0.0, -0.1, 0.0)), SetStiffness(factor))
        state, _ = solver.step(solver.start(), interval(body, 0, 1, DOWN, events=light))
        sag[factor] = float((body.mesh.vertices - state.x)[tip(body), 1])
    assert np.isclose(sag[1.0], 10 * sag[10.0], rtol=0.01)
    solver = FullSolver(body, integrator="static")
    events = (SetGravity((0.0, 0.0, 0.0)), SetThrottle(0.5))
    state, _ = solver.step(solver.start(), interval(body, 0, 1, DOWN, events=events))
    assert np.abs(state.x - body.mesh.vertices).max() < 1e-9


def test_events_survive_json_and_bad_ones_are_named(body: Body) -> None:
    import json

    for event in (
        Grab("a", (1, 2), (0.5, 0.5), (0.0, 1.0, 2.0), 3.0),
        Move("a", (0.1, 0.2, 0.3)),
        Release("a"),
        AddPin((1,)),
        RemovePin((2, 3)),
        SetStiffness(2.0),
        SetGravity((0.0, -1.0, 0.0)),
        SetThrottle(1.5),
    ):
        assert event_from_dict(json.loads(json.dumps(event_to_dict(event)))) == event
    with pytest.raises(SceneError, match="not known"):
        event_from_dict({"kind": "Explode"})
    with pytest.raises(SceneError, match="takes"):
        event_from_dict({"kind": "Release", "who": "a"})
    solver = FullSolver(body)
    with pytest.raises(SceneError, match="vertices"):
        solver.step(solver.start(), interval(body, 0, 0.01, events=(AddPin((10**6,)),)))
    with pytest.raises(SceneError, match="positive"):
        solver.step(solver.start(), interval(body, 0, 0.01, events=(SetStiffness(-1.0),)))


def test_report_and_description_say_what_happened(body: Body) -> None:
    solver = FullSolver(body)
    state, report = solver.step(solver.start(), interval(body, 0, 0.01, DOWN))
    assert report.kind == "full"
    assert report.full_share == 1.0
    assert report.newton_iterations >= 1
    assert report.residual <= 1e-4
    assert set(report.milliseconds) >= {"assembly", "factorisation", "solve", "other", "total"}
    assert any("linear solver" in line for line in solver.describe())
    assert np.array_equal(solver.positions(state, np.array([3, 1])), state.x[[3, 1]])
    x, v, a = solver.to_full(state)
    again = solver.from_full(x, v, a, state.time)
    assert np.array_equal(again.x, state.x)
    assert again.time == state.time


def test_grab_across_elements_enters_the_hessian(body: Body) -> None:
    # A vertex in the middle and one at the tip pulled as one point: Newton must know how they are coupled
    pair = (int(np.argmin(np.abs(body.mesh.vertices[:, 0] - 0.5 * body.mesh.vertices[tip(body), 0]))), tip(body))
    assert np.isin(body.mesh.tets, pair).sum(axis=1).max() == 1
    solver = FullSolver(body)
    grab = Grab("g", pair, (0.5, 0.5), (0.5, 0.3, 0.0), 1e4)
    _, report = solver.step(solver.start(), interval(body, 0, 0.02, events=(grab,)))
    assert report.newton_iterations <= 8


@pytest.mark.parametrize(
    "data",
    [
        {"kind": "SetGravity", "acceleration": ["a", 0, 0]},
        {"kind": "SetGravity", "acceleration": [0, 0]},
        {"kind": "SetStiffness", "factor": float("nan")},
        {"kind": "AddPin", "vertices": [-1]},
        {"kind": "AddPin", "vertices": [1], "axes": "w"},
    ],
)
def test_events_with_senseless_values_are_refused(data: dict) -> None:
    with pytest.raises(SceneError, match="makes no sense"):
        event_from_dict(data)


def test_pins_added_along_one_axis_leave_the_others_free(body: Body) -> None:
    solver, point = FullSolver(body), tip(body)
    state = solver.start()
    for k in range(5):
        events = (AddPin((point,), "y"),) if k == 0 else ()
        state, _ = solver.step(state, interval(body, 0.01 * k, 0.01 * (k + 1), DOWN, events=events))
    assert state.x[point, 1] == body.mesh.vertices[point, 1]
    assert state.x[point, 0] != body.mesh.vertices[point, 0]
