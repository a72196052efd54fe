"""Loads that a subspace was not made for are told, once, with the share of the answer it misses."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from helpers import DOWN, interval
from reduced_helpers import beam, complete_model, modal_model, run, whole_rule

from supple.elastic import Body
from supple.errors import ArgumentError, SuppleWarning
from supple.method.model import ReducedModel
from supple.method.novelty import GRAVITY, Novelty, digest_load, missed_share
from supple.method.reduced.solver import ReducedSolver
from supple.scene import parse_scene, set_stage
from supple.solve import AddPin, Grab, Gravity, Move, NodalForce, RemovePin, SetGravity
from supple.subspace import RestStiffness, diagonalise

TOLD = r"misses \d+ % of how the body answers {} that it was not trained for: add the load as \[\[training.load\]\]"


@pytest.fixture(scope="module")
def body() -> Body:
    return beam()


def tip_of(body: Body) -> np.ndarray:
    return np.flatnonzero(body.mesh.vertices[:, 0] > body.mesh.bounds()[1][0] - 1e-9)


def push(body: Body, *vector: float) -> NodalForce:
    tip = tip_of(body)
    return NodalForce(tip, np.full(len(tip), 1.0 / len(tip)), np.array(vector))


def trained_for(body: Body, *forces: NodalForce | Gravity) -> ReducedModel:
    """A model that spans the linear answers to some loads and nothing else, and says so."""
    stiffness, columns, facts = RestStiffness(body), [], []
    for force in forces:
        field = np.zeros_like(body.mesh.vertices)
        force.add_to(field, body.mass)
        columns.append(stiffness.spread(stiffness.solve(stiffness.gather(field.reshape(-1, 1))[:, 0])[:, None])[:, 0])
        if isinstance(force, Gravity):
            facts.append({"patch": GRAVITY, "direction": list(force.acceleration)})
        else:
            facts.append({"patch": digest_load(force.vertices, force.weights), "direction": list(force.vector)})
    metric = np.repeat(body.mass, 3)
    q = np.linalg.qr(np.sqrt(metric)[:, None] * np.array(columns).T)[0] / np.sqrt(metric)[:, None]
    basis = diagonalise(replace(modal_model(body, len(columns)).basis, columns=q), body)
    return ReducedModel(basis, whole_rule(body), np.zeros((3 * len(body.mass), 0)), 1e9, 0.01, {"loads": facts})


@pytest.fixture(scope="module")
def model(body: Body) -> ReducedModel:
    return trained_for(body, DOWN, push(body, 0.0, 1.0, 0.0))


def heard(action) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SuppleWarning)
        action()
    return [str(w.message) for w in caught]


def test_trained_directions_and_their_neighbours_are_silent(body: Body, model: ReducedModel) -> None:
    solver = ReducedSolver(body, model)
    for turned in ((0.0, 1.0, 0.0), (0.0, -2.0, 0.0), (0.0, 1.0, 0.9)):
        assert not heard(lambda turned=turned: run(solver, 0.01, 2, DOWN, push(body, *turned)))


def test_same_patch_pushed_another_way_is_told_once_with_the_figure(body: Body, model: ReducedModel) -> None:
    solver, side = ReducedSolver(body, model), push(body, 0.0, 0.0, 0.5)
    [said] = heard(lambda: run(solver, 0.01, 3, DOWN, side, push(body, 0.0, 0.1, 0.5)))
    assert re.search(TOLD.format(rf"a force on {len(side.vertices)} vertices along \(0, 0, 1\)"), said)
    field = np.zeros_like(body.mesh.vertices)
    side.add_to(field, body.mass)
    assert f" {100 * missed_share(RestStiffness(body), model.basis, field):.0f} % " in said


def test_direction_that_comes_later_is_told_when_it_comes(body: Body, model: ReducedModel) -> None:
    solver, force = ReducedSolver(body, model), push(body, 0.0, 0.0, 0.0)
    state = run(solver, 0.01, 1, DOWN, force)[-1]
    force.vector[:] = 0.0, 1.0, 0.0
    state = run(solver, 0.01, 1, DOWN, force, begin=state)[-1]
    force.vector[:] = 0.0, 0.0, 1.0
    with pytest.warns(SuppleWarning, match="a force on"):
        run(solver, 0.01, 1, DOWN, force, begin=state)


def test_force_that_circles_is_not_told_at_every_turn(body: Body, model: ReducedModel) -> None:
    novelty = Novelty(body, lambda: model.basis, model.facts["loads"])
    force = push(body, 0.0, 1.0, 0.0)

    def circle() -> None:
        for angle in np.linspace(0.0, 2.0 * np.pi, 100):
            force.vector[:] = 0.0, np.cos(angle), np.sin(angle)
            novelty.look((force,))

    assert 1 <= len(heard(circle)) <= 2
    assert heard(circle) == []


@pytest.mark.parametrize("by_event", [False, True])
def test_gravity_turned_sideways_is_told(body: Body, model: ReducedModel, by_event: bool) -> None:
    solver, side = ReducedSolver(body, model), (0.0, 0.0, 9.81)
    loads = (DOWN if by_event else Gravity(np.array(side)),)
    events = {0: (SetGravity(side),)} if by_event else None
    [said] = heard(lambda: run(solver, 0.01, 3, *loads, events=events))
    assert re.search(TOLD.format(r"gravity along \(0, 0, 1\)"), said)


def test_gravity_of_a_free_body_bends_nothing_and_is_silent() -> None:
    free = beam(None)
    solver = ReducedSolver(free, modal_model(free, 2, facts={"loads": []}))
    run(solver, 0.01, 2, DOWN)
    with pytest.warns(SuppleWarning, match="a force on"):
        run(solver, 0.01, 2, DOWN, push(free, 1.0, 0.0, 0.0))


@pytest.mark.parametrize("is_free", [False, True])
def test_grab_at_a_new_place_is_told_once(body: Body, model: ReducedModel, is_free: bool) -> None:
    one = beam(None) if is_free else body
    solver = ReducedSolver(one, modal_model(one, 2, facts={"loads": []}) if is_free else model)
    point = int(tip_of(one)[0])
    place = one.mesh.vertices[point]
    grab = Grab("hand", (point,), (1.0,), tuple(place + [0.0, 0.0, 0.1]), 10.0)
    further = Move("hand", tuple(place + [0.0, 0.01, 0.12]))
    [said] = heard(lambda: run(solver, 0.01, 4, DOWN, events={1: (grab,), 3: (further,)}))
    assert re.search(TOLD.format("the grab 'hand' of 1 vertices"), said)


def test_pins_that_are_added_are_told_together_and_once(body: Body, model: ReducedModel) -> None:
    solver, tip = ReducedSolver(body, model), tuple(int(v) for v in tip_of(body))
    put = (AddPin(tip[:1], "xz"), AddPin(tip, "z"))
    [said] = heard(lambda: run(solver, 0.01, 5, DOWN, events={0: put, 2: (RemovePin(tip),), 3: put}))
    assert re.search(TOLD.format(f"pins added to {len(tip)} vertices"), said)


def test_complete_subspace_answers_everything(body: Body) -> None:
    solver = ReducedSolver(body, complete_model(body, facts={"loads": []}))
    point = int(tip_of(body)[0])
    grab = Grab("hand", (point,), (1.0,), tuple(body.mesh.vertices[point] + [0.0, 0.0, 0.1]), 10.0)
    events = {0: (grab, AddPin((point - 1,)))}
    assert not heard(lambda: run(solver, 0.01, 2, DOWN, push(body, 1.0, 0.0, 0.0), events=events))


def test_model_that_says_nothing_of_loads_is_not_checked(body: Body) -> None:
    solver = ReducedSolver(body, modal_model(body, 1))
    assert not heard(lambda: run(solver, 0.01, 1, push(body, 0.0, 0.0, 1.0)))


def test_entries_of_another_form_are_passed_over(body: Body, model: ReducedModel) -> None:
    force = push(body, 0.0, 0.0, 1.0)
    loads = [digest_load(force.vertices, force.weights), {"patch": GRAVITY, "direction": [0.0, 0.0, 0.0]}]
    solver = ReducedSolver(body, replace(model, facts={"loads": loads}))
    with pytest.warns(SuppleWarning, match="a force on"):
        run(solver, 0.01, 1, force)


def test_vector_changed_in_place_is_honoured(body: Body) -> None:
    solver = ReducedSolver(body, modal_model(body, 8), integrator="static")
    force = push(body, 0.0, 1.0, 0.0)
    inputs = interval(body, 0.0, 1.0, force)
    up = solver.step(solver.start(), inputs)[0].shapes[0].copy()
    force.vector[:] = 0.0, 0.0, 1.0
    again = solver.step(solver.start(), inputs)[0].shapes[0]
    fresh = ReducedSolver(body, solver.model, integrator="static")
    assert np.array_equal(again, fresh.step(fresh.start(), inputs)[0].shapes[0])
    assert not np.allclose(again, up)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: SetGravity((0.0, np.nan, 0.0)), r"SetGravity\(acceleration\): got \(0.0, nan, 0.0\)"),
        (lambda: Grab("hand", (5,), (1.0,), (0.0, np.inf, 0.0), 10.0), r"Grab\(target\): got"),
        (lambda: Grab("hand", (5,), (1.0,), (0.0, 0.0, 0.0), np.nan), r"Grab\(stiffness\): got nan"),
        (lambda: Grab("hand", (5,), (np.nan,), (0.0, 0.0, 0.0), 10.0), r"Grab\(weights\): got"),
        (lambda: Move("hand", (0.0, 0.0, np.nan)), r"Move\(target\): got"),
    ],
)
def test_events_that_are_not_finite_are_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        make()


def test_what_a_scene_pushes_is_known_by_patch_and_direction() -> None:
    stage = set_stage(
        parse_scene(
            {
                "time": {"fps": 24, "frames": 4},
                "mesh": {"shape": "beam", "elements": 60},
                "material": {"young": 2e5},
                "gravity": [0.0, -9.81, 0.0],
                "pin": [{"select": "min x"}, {"select": "max x", "axes": "yz", "from": 0.05}],
                "force": [{"kind": "region", "select": "max x", "vector": [0.0, 0.0, 3.0]}],
            }
        )
    )
    entries = stage.drive.directions()
    assert [entry["direction"] for entry in entries] == [[0, -1, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1]]
    model = modal_model(stage.body, 1, facts={"loads": entries})
    solver = ReducedSolver(stage.body, model)
    state = solver.start(stage.drive.inputs(0.0, 0.1))
    for begin in (0.0, 0.1):  # the pin takes hold before the second step
        events = stage.drive.changes(begin - 0.1 if begin else None, begin)
        assert bool(events) == bool(begin)
        state, _ = solver.step(state, stage.drive.inputs(begin, begin + 0.1, events))
