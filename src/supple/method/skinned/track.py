"""The poses of the last steps of a skinned body, and how derivatives of the skinning at the end of the next follow.

Beside what its coordinates do, x = φ(p, X + U q) has the acceleration w = Ä (X + U q) + ẗ + 2 Ȧ U q̇. A and t at the end
of a step and before give w there, so that Newmark's method is of second order. q and q̇ at the end are foreseen, by
which w does not depend on the unknowns.
"""

from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.method.skinned.state import SkinnedState

__all__ = ["Past", "recall", "recall_last"]

FloatArray = NDArray[np.float64]
_FIRST = 2  # moments of the past for a first derivative of second order; a second one needs all three


class Past(NamedTuple):
    """The moments before the end of a step, the last one first."""

    poses: list[FloatArray]
    first: FloatArray
    """Weights of the last ones in the first derivative at the end [1/s]."""
    second: FloatArray
    """Of all of them in the second [1/s²]; none where there is only one."""


def recall(state: SkinnedState, h: float) -> Past:
    """The past of a step of h [s] that begins at a state, for derivatives of second order."""
    spans = [h, *state.spans[: int(np.cumprod(state.spans > 0.0).sum())]]
    times = -np.cumsum(spans)
    second = _weigh(times, 2) if len(times) > 1 else np.zeros(0)
    return Past([state.pose, *state.former_poses][: len(times)], _weigh(times[:_FIRST], 1), second)


def recall_last(state: SkinnedState, h: float) -> Past:
    """The moment where a step of h [s] begins, as implicit Euler sees it."""
    return Past([state.pose], np.array([-1.0 / h]), np.zeros(0))


def _weigh(times: FloatArray, order: int) -> FloatArray:
    """Weights of values at times [s] before the end in a derivative there; that of the end is minus their sum."""
    unit = times[0]
    powers = np.arange(1, len(times) + 1)
    wanted = np.where(powers == order, factorial(order) / unit**order, 0.0)
    return np.linalg.solve((times / unit) ** powers[:, None], wanted)
