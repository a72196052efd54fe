"""Stiffness matrices of a body over its free vertices; the pattern and the places of its blocks are found once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic.elements import Elements
from supple.elastic.kernels import PROJECTED
from supple.elastic.pins import Pins
from supple.linalg.pattern import BlockPattern

__all__ = ["StiffnessMap"]

FloatArray = NDArray[np.float64]
_PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


@dataclass(frozen=True, eq=False)
class StiffnessMap:
    """From elements to the matrix of the unknowns that given pins leave."""

    free: NDArray[np.int64]
    """Vertices with at least one free axis, ascending: the block rows."""
    locked: NDArray[np.int64]
    """Scalar rows of free vertices that are held along that axis."""
    pattern: BlockPattern
    rows: NDArray[np.int64]
    """Position of each vertex's diagonal block, -1 where it is held, (n,)."""
    lengths: NDArray[np.int64]
    slots: tuple[NDArray[np.int64], ...]
    """Per part: position of the block of each pair of an element's vertices, -1 where one is held, (6, m)."""
    dropped: NDArray[np.int64]
    """Positions of the off-diagonal entries of locked rows."""

    @classmethod
    def build(cls, count: int, parts: Sequence[Elements], pins: Pins) -> "StiffnessMap":
        """The map of `count` vertices."""
        block_row = np.zeros(count, np.int64)
        block_row[pins.vertices[pins.held.all(axis=1)]] = -1
        free = np.flatnonzero(block_row == 0)
        block_row[free] = np.arange(len(free))
        pairs = [_pairs(part, block_row) for part in parts]
        pattern = BlockPattern.build(
            len(free),
            np.concatenate([first[good] for first, _, good in pairs]),
            np.concatenate([second[good] for _, second, good in pairs]),
        )
        slots = []
        for first, second, good in pairs:
            places = np.full(first.shape, -1, np.int64)
            places[good] = pattern.slots(first[good], second[good])
            slots.append(places)
        rows, lengths = np.full(count, -1, np.int64), np.zeros(count, np.int64)
        rows[free], lengths[free] = pattern.rows, pattern.lengths
        partly = ~pins.held.all(axis=1)
        axis_of = np.argwhere(pins.held[partly])
        locked = np.sort(3 * block_row[pins.vertices[partly][axis_of[:, 0]]] + axis_of[:, 1])
        return cls(free, locked, pattern, rows, lengths, tuple(slots), _off_diagonal(pattern, locked))

    def assemble(
        self, parts: Sequence[Elements], x: FloatArray, out: FloatArray, *, form: int = PROJECTED
    ) -> FloatArray:
        """Fill `out` with the upper triangle of the stiffness [N/m] at positions x [m]; locked rows are zero.

        `form`: EXACT, PROJECTED or VISCOUS (elastic/kernels.py).
        """
        out[:] = 0.0
        for part, slots in zip(parts, self.slots, strict=True):
            part.kernels.stiffness(
                x, part.tets, part.inverse, part.volume, part.moduli, part.clusters.start, part.clusters.colour,
                form, self.rows, self.lengths, slots, out,
            )  # fmt: skip
        return self._unlock(out)

    def _unlock(self, data: FloatArray) -> FloatArray:
        """The matrix with the rows and columns of locked unknowns zeroed, in place."""
        data[self.dropped] = 0.0
        data[self.pattern.diagonal[self.locked]] = 0.0
        return data

    def extract(self, data: FloatArray, places: NDArray[np.int64]) -> FloatArray:
        """This map's matrix out of one over all vertices, without touching an element; see `places_in`."""
        return self._unlock(data[places])

    def places_in(self, whole: "StiffnessMap") -> NDArray[np.int64]:
        """Position in the matrix over all vertices of every entry of this one."""
        return self.pattern.places_in(whole.pattern, self.free)

    def unknowns(self, field: FloatArray) -> FloatArray:
        """The entries of a vertex field (n, 3) that are free, as one vector; locked ones become zero."""
        vector = field[self.free].ravel()
        vector[self.locked] = 0.0
        return vector


def _pairs(
    part: Elements, block_row: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    corners = block_row[part.tets]
    first = np.stack([corners[a] for a, _ in _PAIRS])
    second = np.stack([corners[b] for _, b in _PAIRS])
    return first, second, (first >= 0) & (second >= 0)


def _off_diagonal(pattern: BlockPattern, locked: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions of all entries in the given scalar rows and columns, but the diagonal."""
    if not len(locked):
        return np.zeros(0, np.int64)
    row_of = np.repeat(np.arange(pattern.size), np.diff(pattern.indptr))
    hit = np.isin(row_of, locked) | np.isin(pattern.indices, locked)
    return np.flatnonzero(hit & (row_of != pattern.indices))
