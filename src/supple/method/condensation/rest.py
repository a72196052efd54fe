"""Where a condensed equilibrium is looked for from: where the coordinates alone come to rest."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import ConvergenceError
from supple.method.condensation.state import CondensedState
from supple.method.condensation.subspace import Ahead, Stance
from supple.method.condensation.tools import Tools
from supple.solve.inputs import Inputs

__all__ = ["Rest", "find_rest"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Rest:
    """Coordinates at rest, and full vertices beside them."""

    below: Any
    """The state of the coordinates."""
    q: FloatArray
    """(r,)"""
    full: IntArray
    """Vertices that were full as the step began, ascending, (f,)."""
    beside: FloatArray
    """How far they are from where the coordinates have them [m], (f, 3)."""
    x: FloatArray
    """Their positions [m], (f, 3)."""
    iterations: int
    """Of Newton's method on the coordinates."""

    def follow(self, stance: Stance, q: FloatArray, full: IntArray) -> FloatArray:
        """z of coordinates q and more full vertices, each as far beside them as it was."""
        x = stance.place(q, full)
        x[np.searchsorted(full, self.full)] += self.beside
        return np.concatenate([x.ravel(), q])


def find_rest(tools: Tools, state: CondensedState, inputs: Inputs, ahead: Ahead) -> Rest | None:
    """Where the coordinates come to rest if nothing touches, full vertices as far beside them as they were.

    Flesh that was pressed may turn inside out where bones take it and nothing presses it any more; then it begins where
    the coordinates have it. None where these find no rest.
    """
    try:
        below, report = tools.step_alone(state.below, inputs)
    except ConvergenceError:
        return None
    q, full, stance = tools.ground.subspace.coordinates(below), state.full, ahead.stance
    x, beside = stance.place(q, full), np.zeros((len(full), 3))
    if len(full):
        region = tools.cut(full, np.zeros(0, np.int32))
        footing = tools.stand(region, stance)
        kept = ahead.carry(state.motion[0], full) - stance.place(ahead.begin, full)
        along, there = (footing.place(np.concatenate([some.ravel(), q])) for some in (x + kept, x))
        if region.count_inverted(along) <= region.count_inverted(there):
            x, beside = x + kept, kept
    return Rest(below, q, full, beside, x, report.newton_iterations)
