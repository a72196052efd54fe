"""What the reduced solver refuses, each with a remedy."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from helpers import DOWN, interval
from reduced_helpers import beam, modal_model

from supple.cubature import Rule
from supple.elastic import Body
from supple.errors import ArgumentError, SceneError
from supple.method.model import ReducedModel
from supple.method.reduced.solver import ReducedSolver
from supple.solve import Inputs, Moment, NodalForce


@pytest.fixture(scope="module")
def body() -> Body:
    return beam()


@pytest.fixture(scope="module")
def model(body: Body) -> ReducedModel:
    return modal_model(body, 6)


def test_model_of_another_mesh_is_refused_with_both_sizes(model: ReducedModel) -> None:
    with pytest.raises(SceneError, match="42 vertices where this one has 81: train again"):
        ReducedSolver(beam(elements=150), model)


def test_rule_of_another_mesh_is_refused(body: Body, model: ReducedModel) -> None:
    other = replace(model, rule=Rule(np.array([3, 60]), np.ones(2), 0.0))
    with pytest.raises(SceneError, match="train again"):
        ReducedSolver(body, other)


def test_rule_without_elements_is_refused(body: Body, model: ReducedModel) -> None:
    nothing = replace(model, rule=Rule(np.zeros(0, np.int64), np.zeros(0), 0.0))
    with pytest.raises(SceneError, match="no elements"):
        ReducedSolver(body, nothing)


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"integrator": "rk4"}, "integrator 'rk4' is not known: use one of implicit_euler, newmark, static"),
        ({"tolerance": 0.0}, "tolerance: got 0.0; want above 0, below 1"),
        ({"tolerance": 1.0}, "tolerance: got 1.0"),
        ({"tolerance": float("nan")}, "tolerance: got nan"),
    ],
)
def test_settings_that_make_no_sense_are_refused(body: Body, model: ReducedModel, option: dict, words: str) -> None:
    with pytest.raises((ArgumentError, SceneError), match=words):
        ReducedSolver(body, model, **option)


@pytest.mark.parametrize("end", [0.5, 0.4, float("nan")])
def test_step_without_length_is_refused(body: Body, model: ReducedModel, end: float) -> None:
    solver = ReducedSolver(body, model)
    with pytest.raises((ArgumentError, SceneError), match=r"makes no sense|Moment\(time\): got nan"):
        solver.step(solver.start(), interval(body, 0.5, end, DOWN))


@dataclass(frozen=True)
class Wind:
    """A force of a kind that no subspace knows."""

    def add_to(self, total: np.ndarray, mass: np.ndarray) -> None:
        total[:, 0] += 1.0

    def blend(self, other: "Wind", share: float) -> "Wind":
        return self


@pytest.mark.parametrize("held", [True, False])
def test_force_of_an_unknown_kind_is_refused_by_its_name(held: bool) -> None:
    body = beam() if held else beam(None)
    solver = ReducedSolver(body, modal_model(body, 6))
    with pytest.raises(SceneError, match=r"kind Wind .*full solver"):
        solver.step(solver.start(), interval(body, 0.0, 0.01, Wind()))


def test_static_body_that_nothing_holds_is_refused_with_its_net_force() -> None:
    body = beam(None)
    solver = ReducedSolver(body, modal_model(body, 6), integrator="static")
    weight = 9.81 * body.mass.sum()
    with pytest.raises(SceneError, match=f"net force of {weight:.3g} N.*add a pin"):
        solver.step(solver.start(), interval(body, 0.0, 1.0, DOWN))


def test_static_body_that_nothing_holds_is_stretched_by_forces_in_balance() -> None:
    body = beam(None)
    ends = [np.flatnonzero(side * body.mesh.vertices[:, 0] > 0.49).astype(np.int32) for side in (-1.0, 1.0)]
    pull = [
        NodalForce(end, np.full(len(end), 1 / len(end)), np.array([50.0 * side, 0.0, 0.0]))
        for side, end in zip((-1.0, 1.0), ends, strict=True)
    ]
    solver = ReducedSolver(body, modal_model(body, 20), integrator="static")
    state, _ = solver.step(solver.start(), interval(body, 0.0, 1.0, *pull))
    x = solver.positions(state)
    assert np.ptp(x[:, 0]) > 1.003
    assert np.allclose(body.mass @ x, body.mass @ body.mesh.vertices, atol=1e-6 * body.mass.sum())


def test_targets_that_are_not_finite_do_not_become_positions(body: Body, model: ReducedModel) -> None:
    solver = ReducedSolver(body, model)
    held = body.mesh.vertices[body.pins.vertices]
    with pytest.raises(ArgumentError, match=r"Moment\(targets\): got numbers that are not finite"):
        Moment(0.01, np.full_like(held, np.nan))
    inputs = Inputs(Moment(0.0, held), Moment(0.01, held.copy()))
    inputs.end.targets[:] = np.nan
    with pytest.raises(SceneError, match="not finite"):
        solver.step(solver.start(), inputs)
