"""Descent with a constant matrix: the local and global steps of projective dynamics, and faster.

Liu, Bouaziz, Kavan, "Quasi-Newton methods for real-time simulation of hyperelastic materials", 2017: a global step is a
quasi-Newton step x - A⁻¹∇Φ(x) with the constant matrix A in place of the Hessian. What earlier steps tell about the
Hessian (L-BFGS, `history` pairs) makes steps longer, and energies that A does not bound from above become admissible:
a step after which the objective has risen is halved until it has not.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.method.projective.stopping import Stopping, find_change

__all__ = ["NOTHING", "Descent", "descend"]

FloatArray = NDArray[np.float64]
_ROUND_OFF = 1e-13  # of an objective, relative to the sum of its parts
NOTHING = 1e-11  #: of the largest coordinate: a change that is round-off
_MOST_HALVINGS = 30


class Descent(NamedTuple):
    """Where a descent ended."""

    x: FloatArray
    iterations: int
    change: float
    """Share of its way that it still had to go, as its last iterations tell (stopping.py)."""
    objectives: list[float]
    """Φ wherever it was evaluated and accepted [J]."""


def descend(
    evaluate: Callable[[FloatArray], tuple[float, FloatArray]],
    precondition: Callable[[FloatArray], FloatArray],
    x: FloatArray,
    *,
    stopping: Stopping,
    still: float = 0.0,
    history: int = 0,
    bounded: bool = True,
) -> Descent:
    """Minimise Φ from x [m], (n, 3), until `stopping` ends it or a step is not above `still` [m].

    `evaluate` gives Φ and its gradient; `precondition` may change the array it is given, and return it.

    Where A bounds the curvature of Φ from above, its own steps are safe: without history the last is not evaluated.
    """
    value, gradient = evaluate(x)
    objectives, pairs = [value], list[tuple[FloatArray, FloatArray, float]]()
    start, nothing = x, max(NOTHING * float(np.abs(x).max(initial=0.0)), still)
    changes, count, done, left = np.zeros(stopping.most), 0, 0, 0.0
    for done in range(1, stopping.most + 1):
        residual = -gradient if history else np.negative(gradient, out=gradient)
        direction = _two_loops(residual, pairs, precondition)
        there, change, way = _advance(x, direction, 1.0, start)
        if bounded and not history:
            changes[count] = change
            left = find_change(changes, count + 1, way, nothing)
            if done == stopping.most or change <= still or stopping.is_enough(done, left):
                return Descent(there, done, left, objectives)
        share, found = 1.0, False
        for _ in range(_MOST_HALVINGS):
            new_value, new_gradient = evaluate(there)
            found = new_value <= value + _ROUND_OFF * max(abs(value), abs(new_value))
            if found:
                break
            share *= 0.5
            there, _, way = _advance(x, direction, share, start)
        if not found:
            if not pairs:
                left = 0.0  # the minimum, to round-off
                break
            pairs.clear()
            continue
        if history:
            step, turn = there - x, new_gradient - gradient
            bend = float(np.vdot(step, turn))
            pairs = [*pairs, (step, turn, bend)][-history:] if bend > 0.0 else pairs
        x, value, gradient = there, new_value, new_gradient
        objectives.append(value)
        changes[count] = share * change
        count += 1
        left = find_change(changes, count, way, nothing)
        if changes[count - 1] <= still or stopping.is_enough(done, left):
            break
    return Descent(x, done, left, objectives)


@njit(cache=True)
def _advance(x, direction, share, start):
    """x + share direction, both (n, 3), the largest change of a coordinate in a whole step, and how far the result is
    from the start: one pass over all."""
    there, most, way = np.empty_like(x), 0.0, 0.0
    for k in range(len(x)):
        for i in range(3):
            most = max(most, abs(direction[k, i]))
            there[k, i] = x[k, i] + share * direction[k, i]
            way = max(way, abs(there[k, i] - start[k, i]))
    return there, most, way


def _two_loops(
    residual: FloatArray,
    pairs: list[tuple[FloatArray, FloatArray, float]],
    precondition: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """L-BFGS: the inverse Hessian of the remembered pairs, with the constant matrix at its heart, times a residual."""
    shares = []
    for step, turn, bend in reversed(pairs):
        share = float(np.vdot(step, residual)) / bend
        residual = residual - share * turn
        shares.append(share)
    direction = precondition(residual)
    for (step, turn, bend), share in zip(pairs, reversed(shares), strict=True):
        direction = direction + (share - float(np.vdot(turn, direction)) / bend) * step
    return direction
