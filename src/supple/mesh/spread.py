"""Vertices within a straight distance of some others, found by walking along edges: work grows with what is found."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["Spread"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class Spread:
    """Searches over one mesh, one after the other, in memory that is cleaned only where it was used."""

    def __init__(
        self, points: FloatArray, neighbours: tuple[IntArray, IntArray], allowed: NDArray[np.bool_] | None = None
    ) -> None:
        """`points` [m], (n, 3), and the vertices that each shares an edge with; only `allowed` ones are found."""
        count = len(points)
        self._points, self._neighbours = points, neighbours
        self._allowed = np.ones(count, np.bool_) if allowed is None else allowed
        self._nearest = np.full(count, -1, np.int32)

    def reach(self, sources: NDArray[np.integer], radius: float) -> IntArray:
        """What edges lead to without leaving the balls of a radius [m] about the sources, with these, ascending."""
        begin: IntArray = np.unique(sources).astype(np.int32)
        found = _walk(self._points, *self._neighbours, self._allowed, begin, radius**2, self._nearest)
        self._nearest[found] = -1
        return np.sort(found)


@njit(cache=True)
def _walk(
    points: FloatArray,
    start: IntArray,
    neighbours: IntArray,
    allowed: NDArray[np.bool_],
    sources: IntArray,
    square: float,
    nearest: IntArray,
) -> IntArray:
    """Every vertex keeps the nearest source that has come by, and passes it on whenever a nearer one comes."""
    found, queue = [np.int32(0)], [np.int32(0)]
    found.clear()
    queue.clear()
    for v in sources:
        if allowed[v]:
            nearest[v] = v
            found.append(v)
            queue.append(v)
    head = 0
    while head < len(queue):
        v = queue[head]
        head += 1
        source = nearest[v]
        for k in range(start[v], start[v + 1]):
            w = neighbours[k]
            if not allowed[w]:
                continue
            new, old, known = 0.0, 0.0, nearest[w]
            for i in range(3):
                new += (points[w, i] - points[source, i]) ** 2
                if known >= 0:
                    old += (points[w, i] - points[known, i]) ** 2
            if new > square or (known >= 0 and new >= old):
                continue
            if known < 0:
                found.append(w)
            nearest[w] = source
            queue.append(w)
    return np.array(found, np.int32)
