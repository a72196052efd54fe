"""Which parts of a body never touch each other, however they come to lie: neighbours, and what the user ruled out."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import SceneError
from supple.linalg.jit import njit
from supple.mesh.adjacency import unique_edges
from supple.mesh.tetmesh import TetMesh

__all__ = ["Neighbourhood", "are_kin", "is_beside", "may_touch"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_MOST_IGNORED = 63  # pairs that a vertex's bits can name


class Neighbourhood(NamedTuple):
    """For every vertex what lies around it at rest, as the plain arrays that kernels take."""

    ring_start: IntArray
    """(n + 1,)"""
    ring: IntArray
    """Vertices joined to each by an edge."""
    near_start: IntArray
    """(n + 1,)"""
    near: IntArray
    """Surface vertices to which edges lead without leaving the ball of that vertex, ascending; none for inner ones."""
    radius: FloatArray
    """What a vertex touches lies farther from it at rest than this, unless no edges lead there [m], (n,)."""
    one: NDArray[np.int64]
    """Bit i is set for vertices of the first set of ignored pair i, (n,)."""
    other: NDArray[np.int64]
    """The same for the second set, (n,)."""

    @classmethod
    def build(cls, mesh: TetMesh, factor: float, ignored: Sequence[tuple[ArrayLike, ArrayLike]]) -> "Neighbourhood":
        """The neighbourhoods of a mesh; the radius is `factor` longest edges of the vertex."""
        count = len(mesh.vertices)
        ring_start, ring = mesh.vertex_neighbours()
        edges = unique_edges(mesh.tets, count)
        lengths = np.linalg.norm(mesh.vertices[edges[:, 0]] - mesh.vertices[edges[:, 1]], axis=1)
        longest = np.zeros(count)
        np.maximum.at(longest, edges.ravel(), np.repeat(lengths, 2))
        on_surface = np.zeros(count, np.bool_)
        on_surface[mesh.surface_vertices()] = True
        # One edge more than the radius: a point within it may lie on a triangle whose corners are beyond
        near_start, near = _gather_near(mesh.vertices, ring_start, ring, on_surface, (factor + 1.0) * longest)
        return cls(ring_start, ring, near_start, near, factor * longest, *_name_ignored(ignored, count))


def _name_ignored(
    ignored: Sequence[tuple[ArrayLike, ArrayLike]], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if len(ignored) > _MOST_IGNORED:
        raise SceneError(f"contact ignores {len(ignored)} pairs; join sets until at most {_MOST_IGNORED} are left.")
    bits = np.zeros((2, count), np.int64)
    for number, pair in enumerate(ignored):
        for side, members in enumerate(pair):
            vertices = np.asarray(members, dtype=np.int64)
            if vertices.size and not (vertices.min() >= 0 and vertices.max() < count):
                raise SceneError(
                    f"ignored pair {number} names vertex {int(vertices.max())} of a body with {count:,} vertices; "
                    f"give numbers from 0 to {count - 1}."
                )
            bits[side, vertices] |= 1 << number
    return bits[0], bits[1]


@njit(cache=True)
def _gather_near(
    rest: FloatArray, ring_start: IntArray, ring: IntArray, on_surface: NDArray[np.bool_], radius: FloatArray
) -> tuple[IntArray, IntArray]:
    count = len(rest)
    start, near = np.zeros(count + 1, np.int32), np.empty(0, np.int32)
    seen, queue = np.empty(count, np.int32), np.empty(count, np.int32)
    for fill in (False, True):
        seen[:] = -1
        filled = 0
        for vertex in range(count):
            reached = 0
            if on_surface[vertex]:
                reached = _reach(vertex, rest, ring_start, ring, radius[vertex], seen, queue)
            for entry in range(reached):
                if on_surface[queue[entry]]:
                    if fill:
                        near[filled] = queue[entry]
                    filled += 1
            start[vertex + 1] = filled
            if fill:
                near[start[vertex] : filled].sort()
        if not fill:
            near = np.empty(filled, np.int32)
    return start, near


@njit(cache=True)
def _reach(
    vertex: int, rest: FloatArray, ring_start: IntArray, ring: IntArray, radius: float, seen: IntArray, queue: IntArray
) -> int:
    """Number of vertices, put into `queue`, that edges within the ball around a vertex lead to."""
    queue[0], seen[vertex] = vertex, vertex
    head, tail = 0, 1
    while head < tail:
        for entry in range(ring_start[queue[head]], ring_start[queue[head] + 1]):
            other = ring[entry]
            if seen[other] != vertex:
                seen[other] = vertex
                squared = 0.0
                for axis in range(3):
                    squared += (rest[other, axis] - rest[vertex, axis]) ** 2
                if squared <= radius**2:
                    queue[tail] = other
                    tail += 1
        head += 1
    return tail


@njit(cache=True)
def are_kin(vertex: int, cells: IntArray, number: int, around: Neighbourhood) -> bool:
    """Whether an edge joins a corner of the cell to the vertex."""
    for entry in range(around.ring_start[vertex], around.ring_start[vertex + 1]):
        for k in range(cells.shape[1]):
            if around.ring[entry] == cells[number, k]:
                return True
    return False


@njit(cache=True)
def is_beside(vertex: int, triangles: IntArray, number: int, distance: float, around: Neighbourhood) -> bool:
    """Whether a point of the triangle, at rest `distance` [m] from the vertex, belongs to the vertex's surroundings."""
    if distance <= around.radius[vertex]:
        near = around.near[around.near_start[vertex] : around.near_start[vertex + 1]]
        for k in range(3):
            place = np.searchsorted(near, triangles[number, k])
            if place < len(near) and near[place] == triangles[number, k]:
                return True
    return False


@njit(cache=True)
def may_touch(vertex: int, triangles: IntArray, number: int, around: Neighbourhood) -> bool:
    """Whether the triangle is not the vertex's own, and no ignored pair holds the vertex and one of its corners."""
    for k in range(3):
        corner = triangles[number, k]
        if (
            corner == vertex
            or around.one[vertex] & around.other[corner] != 0
            or around.other[vertex] & around.one[corner] != 0
        ):
            return False
    return True
