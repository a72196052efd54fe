"""Which elements of a Gmsh file are tets, and what becomes of the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.io.source import Source

__all__ = ["TetCollector", "node_count"]

#: Nodes of every element type.
NODES = {
    1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 8: 3, 9: 6, 10: 9, 11: 10, 12: 27, 13: 18, 14: 14, 15: 1,
    16: 8, 17: 20, 18: 15, 19: 13, 20: 9, 21: 10, 22: 12, 23: 15, 24: 15, 25: 21, 26: 4, 27: 5, 28: 6,
    29: 20, 30: 35, 31: 56, 92: 64, 93: 125,
}  # fmt: skip
TETS = {4, 11, 29, 30, 31}  # of order 1 to 5, corners first
SOLIDS = {5, 6, 7, 12, 13, 14, 17, 18, 19, 92, 93}


def node_count(source: Source, kind: int) -> int:
    """Number of nodes of an element of that type."""
    if kind not in NODES:
        raise source.damaged(f"it has elements of type {kind}, which supple does not know", "keep only tetrahedra")
    return NODES[kind]


def _pack_rows(rows: NDArray[np.integer]) -> NDArray[np.integer]:
    """The rows without what lay between them, copied row by row: number by number takes ten times as long."""
    whole = rows.view(f"V{rows.shape[1] * rows.itemsize}")
    return np.ascontiguousarray(whole).view(rows.dtype)


class TetCollector:
    """Node numbers and regions of the tets met so far, in the file's order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tets: list[NDArray[np.integer]] = []
        self._regions: list[NDArray[np.integer]] = []
        self._curved = 0
        self._skipped = 0

    def add(self, kind: int, nodes: NDArray[np.integer], regions: NDArray[np.integer]) -> None:
        """Take elements of one type: their nodes, shape (k, nodes), and regions, shape (k,)."""
        if kind in TETS:
            self._tets.append(_pack_rows(nodes[:, :4]))
            self._regions.append(regions)
            self._curved += len(nodes) if kind != 4 else 0
        elif kind in SOLIDS:
            self._skipped += len(nodes)

    def gather(self) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
        """Node numbers (m, 4) and regions (m,) of all tets."""
        if not self._tets:
            raise self._source.damaged("it has no tetrahedra", "mesh the volume, or use it as a surface file")
        if len(self._tets) == 1:
            return self._tets[0], self._regions[0]
        return np.concatenate(self._tets), np.concatenate(self._regions)

    def notes(self) -> tuple[str, ...]:
        """What was left out, in a user's words."""
        notes = []
        if self._curved:
            notes.append(f"took the corners of {self._curved:,} curved tets")
        if self._skipped:
            notes.append(f"skipped {self._skipped:,} solid elements that are not tets")
        return tuple(notes)
