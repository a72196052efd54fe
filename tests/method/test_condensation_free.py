"""Condensation on bodies that nothing holds: their frame is among the unknowns, and momentum stays."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from condensation_helpers import Fixed
from reduced_helpers import complete_model, whole_rule

from supple.contact.plane import Plane
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SceneError
from supple.material import StableNeoHookean
from supple.mesh import fill_box
from supple.method import FullSolver, ReducedModel, ReducedSolver
from supple.method.condensation.solver import CondensationSolver
from supple.solve import Gravity, Inputs, Moment, Placement
from supple.subspace import diagonalise, linear_modes

H = 0.01


@cache
def brick() -> Body:
    mesh = fill_box((0.0, 0.0, 0.0), (0.3, 0.15, 0.15), resolution=4)
    return Body.build(mesh, StableNeoHookean(young=2e4, poisson=0.3))


def model(rank: int) -> ReducedModel:
    basis = diagonalise(linear_modes(brick(), rank), brick())
    return ReducedModel(basis, whole_rule(brick()), np.zeros((3 * len(brick().mass), 0)), 1e9)


def throw(solver, steps: int, forces=(), places=()) -> list:
    """States of a body that flies, spins and wobbles."""
    rest = brick().mesh.vertices
    spin, wobble = np.array([1.0, 3.0, 8.0]), 0.3 * np.sin(9.0 * rest[:, [1, 2, 0]])
    v = np.array([0.5, 0.2, -0.1]) + np.cross(spin, rest - rest.mean(axis=0)) + wobble
    states = [solver.from_full(rest, v, np.zeros_like(rest))]
    moments = [Moment(H * k, np.zeros((0, 3)), forces, places) for k in range(steps + 1)]
    for begin, end in pairwise(moments):
        states.append(solver.step(states[-1], Inputs(begin, end))[0])
    return states


def momentum(solver, state) -> np.ndarray:
    return brick().mass @ solver.to_full(state)[1]


def some(seed: int, count: int = 12) -> np.ndarray:
    return np.sort(np.random.default_rng(seed).choice(len(brick().mass), count, replace=False))


def test_activation_and_release_keep_linear_momentum() -> None:
    """Regions come, change and go; nothing acts from outside."""
    regions = [[], some(1), some(1), some(2), [], some(3, 20), [], []]
    solver = CondensationSolver(brick(), model(8), oracle=Fixed(*regions), tolerance=1e-9)
    states = throw(solver, len(regions))
    assert max(len(state.full) for state in states) == 20
    first = momentum(solver, states[0])
    for state in states:
        assert np.abs(momentum(solver, state) - first).max() < 1e-6 * np.abs(first).max()


def test_regions_of_a_body_of_all_motions_are_the_full_body() -> None:
    """With a basis of all motions, what is full makes no difference as it flies, spins and falls."""
    body, gravity = brick(), (Gravity(np.array([0.0, -9.81, 0.0])),)
    regions = [some(1), some(1), some(4, 6), some(2), [], some(3)]
    solver = CondensationSolver(body, complete_model(body), oracle=Fixed(*regions), tolerance=1e-9)
    full = FullSolver(body, tolerance=1e-9)
    (x, *_), (exact, *_) = (one.to_full(throw(one, 6, gravity)[-1]) for one in (solver, full))
    assert np.abs(x - exact).max() < 2e-4 * np.abs(exact - body.mesh.vertices).max()


def test_nothing_full_is_the_reduced_body_bit_for_bit() -> None:
    gravity = (Gravity(np.array([0.0, -9.81, 0.0])),)
    one = throw(CondensationSolver(brick(), model(6), oracle=Fixed([])), 4, gravity)[-1].below
    other = throw(ReducedSolver(brick(), model(6)), 4, gravity)[-1]
    assert np.array_equal(one.shapes, other.shapes)
    assert np.array_equal(one.turns, other.turns)


def test_a_free_body_lands_on_a_floor() -> None:
    """As it does in full space, with what touches in full."""
    place, settings = (Placement(np.eye(3), np.array([0.0, -0.06, 0.0])),), ContactSettings(self_contact=False)
    touching = {"colliders": (Plane((0.0, 1.0, 0.0)),), "contact": settings}
    gravity = (Gravity(np.array([0.0, -30.0, 0.0])),)
    solver = CondensationSolver(brick(), model(12), radius=0.3, **touching)
    states = throw(solver, 10, gravity, place)
    assert 0 < max(len(state.full) for state in states) < len(brick().mass)
    full = FullSolver(brick(), **touching)
    exact = full.to_full(throw(full, 10, gravity, place)[-1])[0]
    flown = throw(full, 10, gravity, (Placement(np.eye(3), np.array([0.0, -9.0, 0.0])),))[-1]
    stopped = np.abs(exact - full.to_full(flown)[0]).max()
    assert np.abs(solver.positions(states[-1]) - exact).max() < 0.1 * stopped


def test_equilibria_of_a_free_body_are_refused() -> None:
    with pytest.raises(SceneError, match="needs a body that pins hold in statics"):
        CondensationSolver(brick(), model(4), integrator="static")
