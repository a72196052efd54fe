"""Equilibria under loads that grow are looked for as far on as the last ones went."""

from functools import cache

import numpy as np
import pytest
from reduced_helpers import beam, modal_model

from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.method import CondensationSolver
from supple.method.condensation.step import CondensedStep
from supple.method.condensation.stride import Stride
from supple.solve import Inputs, Moment, NodalForce, Placement

BALL, PULL, STEPS = 0.12, 6.0, 8


@cache
def case():
    """A bar whose end is pulled down more and more, over a ball under its middle."""
    body = beam(elements=600)
    rest = body.mesh.vertices
    low, high = rest.min(axis=0), rest.max(axis=0)
    end = np.flatnonzero(rest[:, 0] > high[0] - 1e-9).astype(np.int32)
    place = (Placement(np.eye(3), np.array([0.0, low[1] - BALL - 0.002, 0.0])),)

    def at(k: int) -> Moment:
        pull = NodalForce(end, np.full(len(end), 1.0 / len(end)), np.array([0.0, -PULL * k, 0.0]))
        return Moment(0.1 * k, rest[body.pins.vertices], (pull,), place)

    inputs = [Inputs(at(k), at(k + 1)) for k in range(STEPS)]
    contact = ContactSettings(friction=0.0, self_contact=False)
    touching = {"integrator": "static", "colliders": (Sphere(BALL),), "contact": contact}
    return body, CondensationSolver(body, modal_model(body, 8), radius=0.2, **touching), inputs


def follow(state, inputs):
    solver, states, iterations = case()[1], [], []
    for one in inputs:
        state, report = solver.step(state, one)
        states.append(state)
        iterations.append(report.newton_iterations)
    assert report.contacts > 0
    assert 0.0 < report.full_share < 1.0
    return states, iterations


def test_they_are_found_in_fewer_iterations_in_the_same_places(monkeypatch: pytest.MonkeyPatch) -> None:
    body, solver, inputs = case()
    states, few = follow(solver.start(inputs[0]), inputs)
    monkeypatch.setattr(CondensedStep, "_goes_on", False)
    others, many = follow(solver.start(inputs[0]), inputs)
    assert sum(few[2:]) <= sum(many[2:]) - 3  # the first meets the ball; 14 and 18
    x, exact = (solver.positions(run[-1]) for run in (states, others))
    assert np.abs(x - exact).max() < 1e-3 * np.abs(exact - body.mesh.vertices).max()


def test_a_run_that_is_resumed_goes_on_as_far() -> None:
    _, solver, inputs = case()
    states, _ = follow(solver.start(inputs[0]), inputs)
    kept = solver.unpack(solver.pack(states[3]))
    assert isinstance(kept.stride, Stride)
    again, _ = follow(kept, inputs[4:])
    assert np.array_equal(solver.positions(again[-1]), solver.positions(states[-1]))


def test_vertices_that_were_not_full_go_as_the_coordinates_take_them() -> None:
    body, solver, inputs = case()
    states, _ = follow(solver.start(inputs[0]), inputs)
    stride, subspace = states[-1].stride, solver._steps.subspace
    some = np.setdiff1d(np.flatnonzero(solver._ground.movable), stride.full)[:5].astype(np.int32)
    full = np.sort(np.concatenate([some, stride.full[:3]]))
    stance, q = subspace.stance(states[-1].below), subspace.coordinates(states[-1].below)
    z = np.concatenate([np.zeros(3 * len(full)), q])
    gone = stride.go_on(stance, full, z, 2.0 * stride.duration) - z
    np.testing.assert_allclose(gone[3 * len(full) :], 2.0 * stride.q, atol=1e-15)
    moved = gone[: 3 * len(full)].reshape(-1, 3)
    np.testing.assert_allclose(moved[np.isin(full, stride.full)], 2.0 * stride.x[:3], atol=1e-15)
    follows = stance.place(q + 2.0 * stride.q, some) - stance.place(q, some)
    np.testing.assert_allclose(moved[np.isin(full, some)], follows, atol=1e-12 * np.ptp(body.mesh.vertices))
