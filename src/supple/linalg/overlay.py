"""A second symmetric matrix over the block rows of a first: springs that come and go, each between a few rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.pattern import BlockPattern

__all__ = ["Merger", "Overlay"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_UPPER = np.array([0, 1, 2, 4, 5, 8])  # of a diagonal block only these are stored


@dataclass(frozen=True, eq=False)
class Overlay:
    """The sum over m springs of blocks W_i C W_j between the block rows i and j of a spring."""

    rows: IntArray
    """Block rows of each spring, (m, k)."""
    weights: FloatArray
    """Diagonals of W, (m, k, 3): zero for axes that do not move, and where a spring has fewer than k rows."""
    curvature: FloatArray
    """C, symmetric, (m, 3, 3)."""

    def is_like(self, other: "Overlay") -> bool:
        """Whether both fill the same blocks."""
        if self.rows is other.rows and self.weights is other.weights:
            return True
        return np.array_equal(self.rows, other.rows) and np.array_equal(self._used, other._used)

    def find_pairs(self) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
        """Spring, its two places i <= j and their block rows, of all pairs that are joined."""
        i, j = np.triu_indices(self.rows.shape[1])
        spring, pair = np.nonzero(self._used[:, i] & self._used[:, j])
        i, j = i[pair], j[pair]
        return spring, i, j, self.rows[spring, i], self.rows[spring, j]

    def find_blocks(self, spring: IntArray, i: IntArray, j: IntArray) -> FloatArray:
        """W_i C W_j, (b, 3, 3)."""
        left, right = self.weights[spring, i], self.weights[spring, j]
        return np.asarray(left[:, :, None] * self.curvature[spring] * right[:, None, :])

    @property
    def _used(self) -> NDArray[np.bool_]:
        return np.asarray(self.weights.any(axis=2))


class Merger:
    """Adds overlays to matrices of one pattern; the pattern of the sum is kept until another overlay comes.

    The merged pattern depends on the present overlay alone, not on earlier ones: a direct solver orders its unknowns by
    the pattern, so that a run that starts in the middle rounds off like one that came from the beginning.
    """

    def __init__(self, base: BlockPattern) -> None:
        self._base = base
        self._other: Overlay | None = None

    def merge(self, data: FloatArray, overlay: Overlay | None) -> tuple[BlockPattern, FloatArray]:
        """The pattern of both and the upper triangle of the sum; without an overlay those given, untouched."""
        if overlay is None:
            return self._base, data
        if self._other is None or not self._other.is_like(overlay):
            self._cover(overlay)
        total = np.zeros(self._pattern.nonzeros)
        total[self._places] = data
        for own, spring, i, j, entries in self._blocks:
            blocks = overlay.find_blocks(spring, i, j)
            if own:  # a row named twice in a spring: both orders of the pair fall on its diagonal block
                blocks[i != j] += blocks[i != j].transpose(0, 2, 1)
            values = blocks.reshape(-1, 9)[:, _UPPER] if own else blocks.reshape(-1, 9)
            np.add.at(total, entries.ravel(), values.ravel())
        return self._pattern, total

    def _cover(self, overlay: Overlay) -> None:
        spring, i, j, a, b = overlay.find_pairs()
        back, own = a > b, a == b
        i, j = np.where(back, j, i), np.where(back, i, j)
        first, second = np.minimum(a, b), np.maximum(a, b)
        new = ~own
        new[new] = ~self._base.holds(first[new], second[new])
        self._pattern, self._places = self._base, np.arange(self._base.nonzeros)
        if new.any():
            mine = self._base.pairs
            self._pattern = BlockPattern.build(
                self._base.count, np.concatenate([mine[0], first[new]]), np.concatenate([mine[1], second[new]])
            )
            old = np.ones(self._pattern.nonzeros, np.bool_)
            old[self._pattern.block_entries(first[new], second[new])] = False
            self._places = np.flatnonzero(old)  # new entries do not change the order of the others
        self._blocks = [
            (True, spring[own], i[own], j[own], self._pattern.diagonal_entries(first[own])),
            (False, spring[~own], i[~own], j[~own], self._pattern.block_entries(first[~own], second[~own])),
        ]
        self._other = overlay
