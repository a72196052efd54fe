"""A second symmetric matrix over the block rows of a first, for blocks that come and go outside its pattern."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.pattern import BlockPattern

__all__ = ["Merger", "Overlay"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Overlay:
    """What is added to a matrix."""

    pattern: BlockPattern
    data: FloatArray
    """Its upper triangle; diagonal blocks may be zero."""


class Merger:
    """Adds overlays to matrices of one pattern; the pattern of the sum is kept until another overlay comes.

    The merged pattern depends on the present overlay alone, not on earlier ones: a direct solver orders its unknowns by
    the pattern, so that a run that starts in the middle rounds off like one that came from the beginning.
    """

    def __init__(self, base: BlockPattern) -> None:
        self._base = base
        self._other: BlockPattern | None = None

    def merge(self, data: FloatArray, overlay: Overlay | None) -> tuple[BlockPattern, FloatArray]:
        """The pattern of both and the upper triangle of the sum; without an overlay those given, untouched."""
        if overlay is None:
            return self._base, data
        if self._other is None or not _is_same(self._other, overlay.pattern):
            self._cover(overlay.pattern)
        total = np.zeros(self._pattern.nonzeros)
        total[self._places] = data
        total[self._places_other] += overlay.data
        return self._pattern, total

    def _cover(self, other: BlockPattern) -> None:
        first, second = other.pairs
        new = ~self._base.holds(first, second)
        first, second = first[new], second[new]
        mine = self._base.pairs
        self._pattern = BlockPattern.build(
            self._base.count, np.concatenate([mine[0], first]), np.concatenate([mine[1], second])
        )
        own = np.ones(self._pattern.nonzeros, np.bool_)
        own[self._pattern.block_entries(first, second)] = False
        self._places = np.flatnonzero(own)  # new entries do not change the order of the others
        self._places_other = other.places_in(self._pattern)
        self._other = other


def _is_same(a: BlockPattern, b: BlockPattern) -> bool:
    return a is b or np.array_equal(a.keys, b.keys)
