"""The Solver protocol in a subspace: lift and project, checkpoints, determinism, halving, events, reports."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from helpers import DOWN, interval
from reduced_helpers import beam, complete_model, end_of, modal_model, run, spinning, turn

from supple.elastic import Body, Damping
from supple.errors import ConvergenceError, SceneError, SuppleWarning
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.solve import (
    AddPin,
    Grab,
    Gravity,
    Inputs,
    Moment,
    Move,
    NodalForce,
    Release,
    RemovePin,
    SetGravity,
    SetStiffness,
    SetThrottle,
)

ALL = ["implicit_euler", "newmark", "static"]
SPIN, SPEED = (3.0, 5.0, -8.0), (1.0, 2.0, 0.0)


@pytest.fixture(scope="module")
def body() -> Body:
    return beam(damping=Damping(mass=0.1, stiffness=0.002))


@pytest.fixture(scope="module")
def model(body: Body) -> ReducedModel:
    return modal_model(body, 10, error=0.017)


@pytest.fixture(scope="module")
def free() -> Body:
    return beam(None)


def tip(body: Body) -> int:
    return int(np.argmax(body.mesh.vertices.sum(axis=1)))


def circling(body: Body):
    """Targets of pins that turn and travel."""
    held = body.mesh.vertices[body.pins.vertices]
    return lambda time: held @ turn(2, 8.0 * time).T + [time, 0.0, 0.0]


# Lift and project


@pytest.mark.parametrize("integrator", ALL)
def test_still_state_survives_full_space(body: Body, model: ReducedModel, integrator: str) -> None:
    solver = ReducedSolver(body, model, integrator=integrator)
    state = run(solver, 0.01, 5, DOWN)[-1]
    again = solver.from_full(*solver.to_full(state), state.time)
    assert again.time == state.time
    assert np.allclose(again.shapes, state.shapes, rtol=0, atol=1e-12 * np.abs(state.shapes).max())
    assert again.elastic == pytest.approx(state.elastic, rel=1e-9)


def test_tumbling_newmark_state_survives_full_space(free: Body) -> None:
    solver = ReducedSolver(free, modal_model(free, 10), integrator="newmark")
    state = run(solver, 0.005, 20, DOWN, velocity=spinning(free, SPIN, SPEED))[-1]
    fields = solver.to_full(state)
    again = solver.to_full(solver.from_full(*fields, state.time))
    # The frame may be another one, since it is fitted; the motion is the same
    for before, after in zip(fields, again, strict=True):
        assert np.abs(before - after).max() < 2e-3 * np.abs(before).max()
    third = solver.to_full(solver.from_full(*again, state.time))
    assert np.abs(third[0] - again[0]).max() < 1e-3 * np.abs(fields[0] - again[0]).max() + 1e-12


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_framed_state_of_a_complete_basis_survives_full_space_to_round_off(free: Body, integrator: str) -> None:
    solver = ReducedSolver(free, complete_model(free), integrator=integrator)
    state = run(solver, 0.005, 10, DOWN, velocity=spinning(free, SPIN, SPEED))[-1]
    fields = solver.to_full(state)
    for before, after in zip(fields, solver.to_full(solver.from_full(*fields, state.time)), strict=True):
        assert np.abs(before - after).max() < 1e-10 * np.abs(before).max()


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_carried_state_survives_full_space(body: Body, model: ReducedModel, integrator: str) -> None:
    solver = ReducedSolver(body, model, integrator=integrator)
    state = run(solver, 0.005, 10, DOWN, targets=circling(body))[-1]
    assert state.is_framed
    x, v, _ = solver.to_full(state)
    again = solver.to_full(solver.from_full(*solver.to_full(state), state.time))
    assert np.abs(again[0] - x).max() < 1e-12
    # Implicit Euler's velocities are chords, which lie outside the tangent space by a share of the turn in a step
    assert np.abs(again[1] - v).max() < (1e-9 if integrator == "newmark" else 0.05) * np.abs(v).max()


@pytest.mark.parametrize("moving", [False, True])
def test_chosen_vertices_are_those_of_all(body: Body, model: ReducedModel, moving: bool) -> None:
    solver = ReducedSolver(body, model)
    state = run(solver, 0.01, 3, DOWN, targets=circling(body) if moving else None)[-1]
    chosen = np.array([7, 0, 41, 7])
    assert np.allclose(solver.positions(state, chosen), solver.positions(state)[chosen], rtol=0, atol=1e-15)


def test_start_without_inputs_is_the_body_at_rest(body: Body, model: ReducedModel, free: Body) -> None:
    for one, its in ((body, model), (free, modal_model(free, 6))):
        solver = ReducedSolver(one, its)
        x, v, a = solver.to_full(solver.start())
        assert np.allclose(x, one.mesh.vertices, atol=1e-14)
        assert not v.any()
        assert not a.any()


def test_state_does_not_grow_with_the_mesh() -> None:
    sizes = []
    for elements in (60, 300):
        body = beam(elements=elements)
        solver = ReducedSolver(body, modal_model(body, 6))
        sizes.append(sum(array.nbytes for array in solver.pack(run(solver, 0.01, 1, DOWN)[-1]).values()))
    assert sizes[0] == sizes[1] < 2000


# Checkpoints and determinism


def same_bytes(a, b) -> bool:
    return a.keys() == b.keys() and all(a[key].tobytes() == b[key].tobytes() for key in a)


@pytest.mark.parametrize("case", ["still", "carried", "free"])
@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_restart_equals_the_uninterrupted_run_bit_for_bit(
    body: Body, model: ReducedModel, free: Body, case: str, integrator: str
) -> None:
    whole_body, its = (free, modal_model(free, 10)) if case == "free" else (body, model)
    events = {
        1: (Grab("g", (tip(body),), (1.0,), (0.8, 0.5, 0.0), 50.0), SetStiffness(0.7)),
        2: (SetGravity((0.0, -2.0, 0.0)), AddPin((3,), "y")),
        4: (Move("g", (0.6, 0.6, 0.1)),),
    }
    options = {"events": events, "targets": circling(body) if case == "carried" else None}

    def solver() -> ReducedSolver:
        return ReducedSolver(whole_body, its, integrator=integrator)

    first, second, third = solver(), solver(), solver()
    whole = first.pack(run(first, 0.01, 6, DOWN, **options)[-1])
    packed = {key: array.copy() for key, array in second.pack(run(second, 0.01, 3, DOWN, **options)[-1]).items()}
    assert same_bytes(third.pack(third.unpack(packed)), packed)
    resumed = third.pack(run(third, 0.01, 3, DOWN, begin=third.unpack(packed), **options)[-1])
    assert same_bytes(whole, resumed)


def test_solver_keeps_nothing_between_runs(body: Body, model: ReducedModel) -> None:
    used = ReducedSolver(body, model)
    run(used, 0.01, 3, DOWN, targets=circling(body), events={1: (SetStiffness(3.0),)})
    fresh = ReducedSolver(body, model)
    ends = [solver.pack(run(solver, 0.01, 4, DOWN)[-1]) for solver in (used, fresh)]
    assert same_bytes(*ends)


_AT_SEVERAL_THREADS = """
import hashlib, sys
sys.path.insert(0, {folder!r})
from helpers import DOWN
from reduced_helpers import beam, modal_model, run, spinning
from supple._threads import set_threads
from supple.method.reduced import newton
from supple.method.reduced.solver import ReducedSolver
newton._PARALLEL_FROM = 0
for pins in ({{}}, {{"pins": None}}):
    body = beam(elements=150, **pins)
    model = modal_model(body, 40)
    for count in (1, 2):
        set_threads(count)
        solver = ReducedSolver(body, model)
        state = run(solver, 0.01, 5, DOWN)[-1]
        print(count, hashlib.sha256(b"".join(a.tobytes() for a in solver.pack(state).values())).hexdigest())
"""


def test_same_bytes_at_one_and_two_threads() -> None:
    folder = os.path.dirname(__file__)
    done = subprocess.run(
        [sys.executable, "-c", _AT_SEVERAL_THREADS.format(folder=folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_NUM_THREADS": "2"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    still_one, still_two, free_one, free_two = (line.split()[1] for line in done.stdout.splitlines())
    assert still_one == still_two
    assert free_one == free_two


_IN_A_FRESH_PROCESS = """
import sys
sys.path.insert(0, {folder!r})
from helpers import DOWN
from reduced_helpers import beam, modal_model, run
from supple.method.reduced import newton
from supple.method.reduced.solver import ReducedSolver
newton._PARALLEL_FROM = 0
body = beam(elements=150, pins={pins})
run(ReducedSolver(body, modal_model(body, 40)), 0.01, 2, DOWN)
"""


@pytest.mark.parametrize("pins", ["None", "__import__('reduced_helpers').end_of"])
def test_kernels_with_threads_run_from_the_cache_in_a_fresh_process(pins: str) -> None:
    script = _IN_A_FRESH_PROCESS.format(folder=os.path.dirname(__file__), pins=pins)
    for time in ("first", "second"):  # the first may compile, the second finds all in the cache
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{time}: {done.stderr}"


# Steps that fail


def test_violent_step_is_halved_and_still_arrives(body: Body, model: ReducedModel) -> None:
    hard = ReducedSolver(body, model, max_iterations=2)
    load = Gravity(np.array([0.0, -200.0, 50.0]))
    state, report = hard.step(hard.start(), interval(body, 0.0, 0.1, load))
    assert 1 <= report.halvings <= 6
    assert report.newton_iterations > 2
    assert state.time == 0.1
    assert report.residual <= hard.tolerance


def test_violent_move_of_pins_is_halved_and_arrives_where_they_are(body: Body, model: ReducedModel) -> None:
    hard = ReducedSolver(body, model, max_iterations=3)
    held = body.mesh.vertices[body.pins.vertices]

    def targets(time: float) -> np.ndarray:
        return held + [5.0 * time, 0.0, 9.0 * time]

    inputs = Inputs(Moment(0.0, targets(0.0), (DOWN,)), Moment(0.1, targets(0.1), (DOWN,)))
    state, report = hard.step(hard.start(), inputs)
    assert report.halvings >= 1
    assert np.allclose(hard.positions(state)[body.pins.vertices], targets(0.1), atol=1e-12)


def test_hopeless_step_names_time_element_term_and_remedy(body: Body, model: ReducedModel) -> None:
    solver = ReducedSolver(body, model, max_iterations=1, tolerance=1e-12)
    load = Gravity(np.array([0.0, -1e5, 0.0]))
    with pytest.raises(
        ConvergenceError, match=r"0 s to .* tet \d+ .*volume ratio.*external force dominates.*lower the force"
    ) as caught:
        solver.step(solver.start(), interval(body, 0.0, 1.0, load))
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize("held", [True, False])
def test_forces_that_are_not_finite_stop_the_run_and_the_solver_goes_on(
    body: Body, model: ReducedModel, free: Body, held: bool
) -> None:
    one, its = (body, model) if held else (free, modal_model(free, 10))
    solver, fresh = ReducedSolver(one, its), ReducedSolver(one, its)
    pull = Gravity(np.zeros(3))
    pull.acceleration[1] = np.nan  # as what overflows on the way
    with pytest.raises(ConvergenceError, match="not finite"):
        solver.step(solver.start(), interval(one, 0.0, 0.01, pull))
    ends = [each.pack(run(each, 0.01, 2, DOWN)[-1]) for each in (solver, fresh)]
    assert same_bytes(*ends), "nothing of the failure is left"


# Events


def test_added_pin_holds_and_lets_go(body: Body, model: ReducedModel) -> None:
    # Held by springs as stiff as the subspace is: 2 % of the way it would go with 10 modes
    solver, point = ReducedSolver(body, model), tip(body)
    loose = solver.positions(run(solver, 0.01, 20, DOWN)[-1])[point]
    held = run(solver, 0.01, 20, DOWN, events={0: (AddPin((point,)),)})[-1]
    rest = body.mesh.vertices[point]
    assert np.linalg.norm(solver.positions(held)[point] - rest) < 0.03 * np.linalg.norm(loose - rest)
    let_go = run(solver, 0.01, 20, DOWN, begin=held, events={20: (RemovePin((point,)),)})[-1]
    assert np.linalg.norm(solver.positions(let_go)[point] - rest) > 0.5 * np.linalg.norm(loose - rest)


def test_added_pin_holds_better_with_more_coordinates(body: Body) -> None:
    point, slips = tip(body), []
    for rank in (5, 20, 80):
        solver = ReducedSolver(body, modal_model(body, rank), integrator="static")
        state, _ = solver.step(solver.start(), interval(body, 0.0, 1.0, DOWN, events=(AddPin((point,)),)))
        slips.append(float(np.linalg.norm(solver.positions(state)[point] - body.mesh.vertices[point])))
    assert slips[0] > slips[1] > slips[2]
    assert slips[2] < 1e-4 * body.mesh.size()


def test_pin_added_to_a_bent_body_holds_it_where_it_is(body: Body, model: ReducedModel) -> None:
    solver, point = ReducedSolver(body, model), tip(body)
    bent = run(solver, 0.01, 10, DOWN)[-1]
    place = solver.positions(bent)[point]
    held = run(solver, 0.01, 10, DOWN, begin=bent, events={10: (AddPin((point,)), SetGravity((0.0, 9.81, 0.0)))})[-1]
    went = np.linalg.norm(place - body.mesh.vertices[point])
    assert went > 0.01
    assert np.linalg.norm(solver.positions(held)[point] - place) < 0.05 * went


def test_pin_added_along_one_axis_leaves_the_others_free(body: Body, model: ReducedModel) -> None:
    solver, point = ReducedSolver(body, model), tip(body)
    slanted = Gravity(np.array([0.0, -9.81, 9.81]))
    end = solver.positions(run(solver, 0.01, 15, slanted, events={0: (AddPin((point,), "y"),)})[-1])[point]
    moved = np.abs(end - body.mesh.vertices[point])
    assert moved[2] > 0.02
    assert moved[1] < 0.05 * moved[2]


def test_pin_added_to_a_free_body_stops_its_fall(free: Body) -> None:
    solver = ReducedSolver(free, modal_model(free, 10))
    corners = tuple(int(v) for v in np.flatnonzero(free.mesh.vertices[:, 0] < -0.49))
    end = solver.positions(run(solver, 0.02, 25, DOWN, events={0: (AddPin(corners),)})[-1])
    assert np.abs(end - free.mesh.vertices)[list(corners)].max() < 0.02
    assert np.abs(end - free.mesh.vertices).max() > 0.02, "the other end sags"


def test_pin_of_the_scene_cannot_be_released(body: Body, model: ReducedModel) -> None:
    solver = ReducedSolver(body, model)
    pinned = tuple(int(v) for v in body.pins.vertices[:1])
    for axes in ("xyz", "y"):
        with pytest.raises(SceneError, match=r"pin of the scene cannot be released.*full solver"):
            solver.step(solver.start(), interval(body, 0.0, 0.01, events=(RemovePin(pinned, axes),)))


def test_release_of_what_no_pin_holds_changes_nothing(model: ReducedModel, body: Body) -> None:
    solver = ReducedSolver(body, model)
    ends = [
        solver.step(solver.start(), interval(body, 0.0, 0.01, DOWN, events=events))[0].shapes.tobytes()
        for events in ((), (RemovePin((tip(body),)),), (SetThrottle(0.5),))
    ]
    assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_grab_pulls_a_point_follows_its_target_and_lets_go(body: Body, model: ReducedModel, integrator: str) -> None:
    solver, point = ReducedSolver(body, model, integrator=integrator), tip(body)
    up, down = (tuple(body.mesh.vertices[point] + [0.0, y, 0.0]) for y in (0.2, -0.2))
    events = {0: (Grab("a", (point,), (1.0,), up, 2000.0),), 60: (Move("a", down),), 120: (Release("a"),)}
    states = run(solver, 0.02, 180, events=events)
    height = np.array([solver.positions(state, np.array([point]))[0, 1] for state in states])
    height -= body.mesh.vertices[point, 1]
    assert height[30:60].mean() > 0.1
    assert height[90:120].mean() < -0.1
    assert abs(height[150:].mean()) < 0.05
    assert states[-1].live.grabs == ()


def test_stiffness_and_gravity_can_change_live(body: Body, model: ReducedModel) -> None:
    sag = {}
    for factor in (1.0, 10.0):
        solver = ReducedSolver(body, model, integrator="static")
        light = (SetGravity((0.0, -0.1, 0.0)), SetStiffness(factor))
        state, _ = solver.step(solver.start(), interval(body, 0, 1, DOWN, events=light))
        sag[factor] = float((body.mesh.vertices - solver.positions(state))[tip(body), 1])
    assert sag[1.0] == pytest.approx(10 * sag[10.0], rel=0.01)
    solver = ReducedSolver(body, model, integrator="static")
    state, _ = solver.step(solver.start(), interval(body, 0, 1, events=(SetGravity((0.0, -9.81, 0.0)),)))
    alone = solver.positions(state)
    state, _ = solver.step(solver.start(), interval(body, 0, 1, DOWN))
    assert np.allclose(solver.positions(state), alone, atol=1e-12), "gravity may come from the user alone"


def test_forces_that_change_their_strength_are_not_taken_for_the_old_ones(body: Body, model: ReducedModel) -> None:
    solver = ReducedSolver(body, model, integrator="static", tolerance=1e-8)
    push = NodalForce(np.array([tip(body)], np.int32), np.ones(1), np.array([0.0, 0.1, 0.0]))
    heights = []
    for strength in (1.0, 2.0):
        stronger = replace(push, vector=strength * push.vector)
        state, _ = solver.step(solver.start(), interval(body, 0.0, 1.0, stronger))
        heights.append(solver.positions(state)[tip(body), 1] - body.mesh.vertices[tip(body), 1])
    assert heights[1] == pytest.approx(2.0 * heights[0], rel=1e-3)


@pytest.mark.parametrize(
    "event",
    [AddPin((10**6,)), Grab("g", (10**6,), (1.0,), (0.0, 0.0, 0.0), 1.0), RemovePin((42,)), AddPin(())],
)
def test_unknown_vertices_are_refused(body: Body, model: ReducedModel, event) -> None:
    solver = ReducedSolver(body, model)
    with pytest.raises(SceneError, match="vertices"):
        solver.step(solver.start(), interval(body, 0, 0.01, events=(event,)))


# Reports and warnings


def test_report_and_description_say_what_happened(body: Body, model: ReducedModel) -> None:
    solver = ReducedSolver(body, model)
    _, report = solver.step(solver.start(), interval(body, 0.0, 0.01, DOWN))
    assert report.kind == "reduced"
    assert report.full_share == 0.0
    assert report.newton_iterations >= 1
    assert report.linear_iterations == 0
    assert (report.trained_error, report.estimated_error) == (0.017, None), "nothing is measured"
    assert 0.0 < report.residual <= 1e-4
    assert report.halvings == 0
    assert report.milliseconds["total"] > 0.0
    assert sum(t for name, t in report.milliseconds.items() if name != "total") == pytest.approx(
        report.milliseconds["total"]
    )
    text = "\n".join(solver.describe())
    for word in ("10 coordinates", "implicit euler", "60 of 60 elements", "1.7 %", "0.0001"):
        assert word in text


def test_deformation_beyond_training_is_told_once_with_the_figure() -> None:
    body = beam(end_of)
    model = modal_model(body, 8)
    solver = ReducedSolver(body, model, integrator="static")
    q = solver.step(solver.start(), interval(body, 0.0, 1.0, DOWN))[0].shapes[0]
    size = float(np.sqrt(model.basis.importance @ q**2))
    within, beyond = (
        ReducedSolver(body, replace(model, reach=size / times), integrator="static") for times in (1.4, 3)
    )
    run(within, 1.0, 2, DOWN)
    with pytest.warns(SuppleWarning, match=r"at 1 s .*deformed 3 times as much .*full solver") as caught:
        run(beyond, 1.0, 3, DOWN)
    assert len(caught) == 1


def test_deformation_of_a_tumbling_body_beyond_training_is_told_once(free: Body) -> None:
    solver = ReducedSolver(free, modal_model(free, 8, reach=1e-3))
    with pytest.warns(SuppleWarning, match="times as much") as caught:
        run(solver, 0.01, 4, velocity=spinning(free, SPIN))
    assert len(caught) == 1
