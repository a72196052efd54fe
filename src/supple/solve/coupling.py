"""The stiffness of terms that join a few vertices each, as springs between the unknowns."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.elastic import StiffnessMap
from supple.linalg.overlay import Overlay
from supple.solve.potential import Potential

__all__ = ["Coupling"]

FloatArray = NDArray[np.float64]


class Coupling:
    """The Hessian sum w_i w_j C of potentials over the vertices that a map leaves free.

    Which blocks it fills depends on the terms alone, not on their present stiffness: patterns last while a set of
    contacts is frozen.
    """

    def __init__(self, potentials: Sequence[Potential], map: StiffnessMap) -> None:
        self._potentials = potentials
        block_row = np.zeros(len(map.rows), np.int64)
        block_row[map.free] = np.arange(len(map.free))
        free = np.ones(3 * len(map.free))
        free[map.locked] = 0.0
        moves = np.zeros((len(map.rows), 3))
        moves[map.free] = free.reshape(-1, 3)
        count, width = sum(len(one.weights) for one in potentials), max(one.weights.shape[1] for one in potentials)
        self._rows, self._weights = np.zeros((count, width), np.int64), np.zeros((count, width, 3))
        begin = 0
        for one in potentials:
            place = slice(begin, begin + len(one.weights)), slice(0, one.weights.shape[1])
            self._rows[place] = block_row[one.vertices]
            self._weights[place] = one.weights[:, :, None] * moves[one.vertices]
            begin += len(one.weights)

    def stiffen(self, x: FloatArray, *, cautious: bool = False) -> Overlay:
        """The Hessian at x [m], (n, 3)."""
        curvature = [one.curvature(x, cautious=cautious) for one in self._potentials]
        return Overlay(self._rows, self._weights, curvature[0] if len(curvature) == 1 else np.concatenate(curvature))
