"""Where the stiffness of terms that join a few vertices stands in the matrix of the unknowns; found once per set."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import StiffnessMap
from supple.linalg.overlay import Overlay
from supple.linalg.pattern import BlockPattern
from supple.solve.potential import Potential

__all__ = ["Coupling"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_WHOLE = np.arange(9)
_UPPER = np.array([0, 1, 2, 4, 5, 8])  # of a diagonal block only these are stored


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Blocks w_i w_j C that go to one array."""

    term: IntArray
    """Which C, (b,)."""
    factor: FloatArray
    """w_i w_j, zero for locked axes, (b, entries)."""
    entries: IntArray
    """Where each stored entry goes, (b, entries)."""
    parts: IntArray
    """Which of the nine numbers of C are stored, (entries,)."""

    def add(self, curvature: FloatArray, out: FloatArray) -> None:
        values = self.factor * curvature.reshape(-1, 9)[self.term[:, None], self.parts]
        np.add.at(out, self.entries.ravel(), values.ravel())


class Coupling:
    """The Hessian sum w_i w_j C of potentials over the vertices that a map leaves free.

    Blocks of vertices that share an element go into the map's matrix, the others into an overlay of it. Which do
    depends on the terms alone, not on their present stiffness: patterns last while a set of contacts is frozen.
    """

    def __init__(self, potentials: Sequence[Potential], map: StiffnessMap) -> None:
        term, first, second, factor = _list_pairs(potentials, map)
        pattern, own = map.pattern, first == second
        inside = np.zeros_like(own)
        inside[~own] = pattern.holds(first[~own], second[~own])
        outside = ~own & ~inside
        masked = factor[:, None] * _free_entries(map, first, second)
        self._potentials = potentials
        self._overlay = BlockPattern.build(pattern.count, first[outside], second[outside]) if outside.any() else None
        self._own = _Blocks(term[own], masked[own][:, _UPPER], pattern.diagonal_entries(first[own]), _UPPER)
        self._inside = _Blocks(
            term[inside], masked[inside], pattern.block_entries(first[inside], second[inside]), _WHOLE
        )
        if self._overlay is not None:
            places = self._overlay.block_entries(first[outside], second[outside])
            self._outside = _Blocks(term[outside], masked[outside], places, _WHOLE)

    def add(self, x: FloatArray, out: FloatArray, *, cautious: bool = False) -> Overlay | None:
        """Add to `out`, the upper triangle over the map's pattern; blocks outside the pattern come back."""
        curvature = np.concatenate([potential.curvature(x, cautious=cautious) for potential in self._potentials])
        self._own.add(curvature, out)
        self._inside.add(curvature, out)
        if self._overlay is None:
            return None
        data = np.zeros(self._overlay.nonzeros)
        self._outside.add(curvature, data)
        return Overlay(self._overlay, data)


def _list_pairs(potentials: Sequence[Potential], map: StiffnessMap) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Term, block rows first <= second and weight product of all blocks of free vertices on or above the diagonal."""
    block_row = np.full(len(map.rows), -1, np.int64)
    block_row[map.free] = np.arange(len(map.free))
    found, begin = [], 0
    for potential in potentials:
        rows, weights = block_row[potential.vertices], potential.weights
        i, j = np.triu_indices(rows.shape[1])
        a, b = rows[:, i], rows[:, j]
        # A vertex named twice in a term: both orders of the pair fall on its diagonal block
        factor = weights[:, i] * weights[:, j] * np.where((a == b) & (i != j), 2.0, 1.0)
        term, column = np.nonzero((a >= 0) & (b >= 0) & (factor != 0.0))
        a, b = a[term, column], b[term, column]
        found.append((begin + term, np.minimum(a, b), np.maximum(a, b), factor[term, column]))
        begin += len(rows)
    term, first, second, factor = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return term, first, second, factor


def _free_entries(map: StiffnessMap, first: IntArray, second: IntArray) -> FloatArray:
    """1 for the entries of blocks whose row and column are free, 0 for those that a pin locks, (b, 9)."""
    free = np.ones((map.pattern.count, 3))
    free.ravel()[map.locked] = 0.0
    return (free[first][:, :, None] * free[second][:, None, :]).reshape(-1, 9)
