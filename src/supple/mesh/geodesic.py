"""Distances along a mesh: through the volume of tetrahedra, over the surface of triangles.

Dijkstra's search with short-term vectors (Campen et al. 2013): the way to a vertex is not the sum of edge lengths, but
the straight line from one of its last few predecessors, which takes most of the zigzag out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.mesh.adjacency import vertex_graph

__all__ = ["Geodesics", "Reached"]

FloatArray = NDArray[np.float64]
_MEMORY = 6  # predecessors looked back to: more gain no digit, and cut corners of what bends


@dataclass(frozen=True, eq=False)
class Reached:
    """What lies within a radius of some sources: for source j the entries start[j] to start[j + 1]."""

    start: NDArray[np.int64]
    """(k + 1,)"""
    vertices: NDArray[np.int32]
    """(m,)"""
    distances: FloatArray
    """[m], (m,)"""


@dataclass(frozen=True, eq=False)
class Geodesics:
    """The edges of a mesh, along which distances are measured."""

    points: FloatArray
    """Vertices [m], (n, 3)."""
    starts: NDArray[np.int32]
    """(n + 1,)"""
    neighbours: NDArray[np.int32]
    """Of vertex i: entries starts[i] to starts[i + 1]."""

    @classmethod
    def along(cls, points: FloatArray, cells: NDArray[np.int32]) -> "Geodesics":
        """Distances along cells: tetrahedra (m, 4) or triangles (m, 3)."""
        starts, neighbours = vertex_graph(cells, len(points))
        return cls(np.ascontiguousarray(points, np.float64), starts, neighbours)

    def distances(self, sources: NDArray[np.integer], radius: float = np.inf) -> FloatArray:
        """Distance of every vertex to the nearest source [m], (n,); infinite beyond the radius and without a way."""
        nearest = np.full(len(self.points), np.inf)
        search = Search(self)
        for source in sources:
            search.approach(int(source), nearest, radius)
        return nearest

    def within(self, sources: NDArray[np.integer], radius: float) -> Reached:
        """The vertices nearer than a radius [m] to each source, with their distances."""
        search = Search(self)
        found = [search.reach(int(source), radius) for source in sources]
        counts = np.array([len(vertices) for vertices, _ in found], np.int64)
        return Reached(
            np.concatenate([[0], np.cumsum(counts)]),
            np.concatenate([np.zeros(0, np.int32), *(vertices for vertices, _ in found)]),
            np.concatenate([np.zeros(0), *(distances for _, distances in found)]),
        )


class Search:
    """Searches over one mesh, one after the other, in memory that is cleaned only where it was used."""

    def __init__(self, graph: Geodesics) -> None:
        count = len(graph.points)
        self._graph = graph
        self._distance = np.full(count, np.inf)
        self._scratch = (
            np.full(count, -1, np.int32),
            np.full(count, -1, np.int32),
            np.empty(count, np.int32),
            np.empty(count, np.int32),
        )

    def approach(self, source: int, nearest: FloatArray, radius: float = np.inf) -> NDArray[np.int32]:
        """Lower `nearest` [m], (n,), wherever the source is nearer than it says; which vertices those are."""
        reached = self._run(source, nearest, radius)
        nearest[reached] = np.minimum(nearest[reached], self._distance[reached])
        self._distance[reached] = np.inf
        return reached

    def reach(self, source: int, radius: float) -> tuple[NDArray[np.int32], FloatArray]:
        """The vertices nearer than a radius [m], nearest first, and their distances."""
        reached = self._run(source, np.empty(0), radius).copy()
        distances = self._distance[reached]
        self._distance[reached] = np.inf
        return reached, distances

    def _run(self, source: int, bound: FloatArray, radius: float) -> NDArray[np.int32]:
        graph = self._graph
        count = _search(
            graph.points, graph.starts, graph.neighbours, source, radius, bound, self._distance, *self._scratch
        )
        return self._scratch[3][:count]


@njit(cache=True)
def _rise(heap, place, key, at):
    """Move an entry up until its parent is nearer."""
    item = heap[at]
    while at > 0:
        parent = (at - 1) >> 1
        if key[heap[parent]] <= key[item]:
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = item
    place[item] = at


@njit(cache=True)
def _sink(heap, place, key, size):
    """Move the first entry down until both children are farther."""
    item, at = heap[0], 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and key[heap[child + 1]] < key[heap[child]]:
            child += 1
        if key[item] <= key[heap[child]]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = item
    place[item] = at


@njit(cache=True)
def _search(points, starts, neighbours, source, radius, bound, distance, before, place, heap, done):
    """Settle every vertex nearer to the source than the radius and than `bound` (n,) (empty: no bound).

    Fills `distance` where settled; returns how many, their numbers being the first of `done`. `before` are the
    predecessors, `place` the places in the heap (-1: never seen; both are left clean).
    """
    bounded = bound.size > 0
    distance[source], before[source], heap[0], place[source] = 0.0, source, source, 0
    size, count, settled = 1, 0, -2
    while size > 0:
        v = heap[0]
        size -= 1
        if size > 0:
            heap[0] = heap[size]
            _sink(heap, place, distance, size)
        place[v] = settled
        done[count] = v
        count += 1
        for slot in range(starts[v], starts[v + 1]):
            w = neighbours[slot]
            if place[w] == settled:
                continue
            limit = min(radius, distance[w])
            if bounded:
                limit = min(limit, bound[w])
            x, y, z = points[w, 0], points[w, 1], points[w, 2]
            shortest, p = np.inf, v
            for _ in range(_MEMORY):
                a, b, c = x - points[p, 0], y - points[p, 1], z - points[p, 2]
                shortest = min(shortest, distance[p] + np.sqrt(a * a + b * b + c * c))
                if before[p] == p:
                    break
                p = before[p]
            if shortest < limit:
                distance[w], before[w] = shortest, v
                if place[w] == -1:
                    place[w], heap[size] = size, w
                    size += 1
                _rise(heap, place, distance, place[w])
    for k in range(count):
        place[done[k]], before[done[k]] = -1, -1
    return count
