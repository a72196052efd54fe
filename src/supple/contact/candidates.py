"""Which tets a surface vertex may lie in: listed with some room to move, and kept until something has moved farther.

A vertex and a tet that are `pad` apart cannot meet while neither has moved by half of it, whatever rigid motion the
body has made as a whole. So most looks for contact find their lists as the last ones left them; what is found does not
depend on when a list was made.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.contact.hierarchy import BoxTree, cross_trees
from supple.contact.neighbourhood import Neighbourhood
from supple.linalg.jit import njit
from supple.linalg.rigid import fit_rigid
from supple.linalg.vectors import copy_into

__all__ = ["Candidates"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Vector = tuple[float, float, float]
_TETS = 16  # in a leaf at most: half the boxes to fit of 8, and lists come no slower
_ROUND_OFF = 1e-9  # of the body's size, that the room is smaller than what was listed


class Candidates:
    """Pairs of a surface vertex and a tet that come near each other; kin are never listed."""

    def __init__(
        self,
        rest: FloatArray,
        tets: IntArray,
        vertices: IntArray,
        around: Neighbourhood,
        pad: float,
        thickness: float = 0.0,
    ) -> None:
        """Of vertices, (k,), and tets, (m, 4), at rest positions [m], (n, 3), that are within a thickness [m] of each
        other, or `pad` [m] farther apart."""
        self.tree = BoxTree.build(rest, tets, _TETS)
        """Over the tets."""
        self.rest, self.tets, self.vertices, self.thickness = rest, tets, vertices, thickness
        self._around, self._pad = around, pad + thickness
        self.groups = BoxTree.build(rest[vertices], np.arange(len(vertices), dtype=np.int32)[:, None])
        """Over the vertices, by their places in the list."""
        self._room = pad - _ROUND_OFF * float(np.ptp(rest, axis=0).max())
        self._own_start, self._own = _list_own_leaves(self.tree, tets, vertices, around)
        self._mass = np.ones(len(rest))
        self._seen: tuple[FloatArray, FloatArray] | None = None
        self._lists = np.zeros(1, np.int64), np.zeros(0, np.int32)

    def near(self, points: FloatArray, x: FloatArray) -> tuple[NDArray[np.int64], IntArray]:
        """Starts, (k + 1,), and tets of the lists of points [m], (k, 3), that stand for the vertices at x [m], (n, 3).

        All tets that a point lies in, or within the thickness of, are listed for it, but those of which the vertex or
        one joined to it by an edge is a corner.
        """
        if self._seen is None or not self._still_hold(points, x, *self._seen):
            self._lists = self._gather(points, x)
            self._seen = (points.copy(), x.copy()) if np.isfinite(x).all() else None
        return self._lists

    def _still_hold(self, points: FloatArray, x: FloatArray, points_then: FloatArray, then: FloatArray) -> bool:
        """Whether points and tets have not come nearer to each other than there was room for."""
        if not np.isfinite(x).all():
            return False
        motion = fit_rigid(x, then, self._mass)
        return _find_way(points, points_then, *motion) + _find_way(x, then, *motion) <= self._room

    def _gather(self, points: FloatArray, x: FloatArray) -> tuple[NDArray[np.int64], IntArray]:
        return self.list_near(points, self.tree.box_things(x, self.tets), self._pad)

    def list_near(
        self,
        points: FloatArray,
        boxes: FloatArray,
        pad: float,
        groups: NDArray[np.bool_] | None = None,
        leaves: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.int64], IntArray]:
        """Starts, (k + 1,), and tets of the lists of points [m], (k, 3), whose boxes [m], (m, 6), leaf by leaf, are
        within `pad` [m]; of some groups of points or leaves of tets alone, where those are given."""
        fitted, leaf_boxes = self.groups.refit(points), self.tree.join_boxes(boxes)
        fitted[:, :3] -= pad
        fitted[:, 3:] += pad
        pairs = cross_trees(fitted, leaf_boxes)
        start, listed = pairs.start, pairs.leaves
        if groups is not None and leaves is not None:
            kept = np.repeat(groups, np.diff(start)) | leaves[listed]
            start, listed = np.concatenate([[0], np.cumsum(kept)])[start], listed[kept]
        found: tuple[NDArray[np.int64], IntArray] = _list_near(
            points, pad, self.vertices, self.groups.start, self.groups.order, start, listed,
            leaf_boxes, self.tree.start, self.tree.order, boxes, self.tets,
            self._own_start, self._own, self._around,
        )  # fmt: skip
        return found


def _list_own_leaves(
    tree: BoxTree, tets: IntArray, vertices: IntArray, around: Neighbourhood
) -> tuple[IntArray, IntArray]:
    """CSR lists of the leaves that hold nothing but kin of each vertex: a vertex lies amid them, and need not look."""
    count, sizes = len(around.ring_start) - 1, np.diff(tree.start)
    ring = csr_array((np.ones(len(around.ring), np.int32), around.ring, around.ring_start), (count, count))
    corners = csr_array(
        (np.ones(tets.size, np.int32), tets.ravel(), np.arange(0, tets.size + 1, 4)), (len(tets), count)
    )
    leaf = np.empty(len(tets), np.int64)
    leaf[tree.order] = np.repeat(np.arange(tree.leaves), sizes)
    home = csr_array((np.ones(len(tets), np.int32), leaf, np.arange(len(tets) + 1)), (len(tets), tree.leaves))
    kin = (ring[vertices] @ corners.T).astype(bool).astype(np.int32)
    held = (kin @ home).tocoo()
    own = held.data == sizes[held.col]
    rows, order = held.row[own], np.argsort(held.row[own], kind="stable")
    start = np.searchsorted(rows[order], np.arange(len(vertices) + 1))
    return start.astype(np.int32), held.col[own][order].astype(np.int32)


@njit(cache=True)
def _find_way(now: FloatArray, then: FloatArray, R: FloatArray, c: FloatArray) -> float:
    """How far the farthest of points has moved beside a rigid motion [m]; infinite if one is no number."""
    farthest = 0.0
    for k in range(len(now)):
        squared = 0.0
        for axis in range(3):
            carried = R[axis, 0] * then[k, 0] + R[axis, 1] * then[k, 1] + R[axis, 2] * then[k, 2] + c[axis]
            squared += (now[k, axis] - carried) ** 2
        if not squared <= farthest:
            farthest = squared if squared == squared else np.inf
    return float(np.sqrt(farthest))


@njit(cache=True)
def _list_near(
    points: FloatArray,
    pad: float,
    vertices: IntArray,
    groups: IntArray,
    order: IntArray,
    leaves_start: NDArray[np.int64],
    leaves: IntArray,
    leaf_boxes: FloatArray,
    tets_start: IntArray,
    tet_order: IntArray,
    boxes: FloatArray,
    tets: IntArray,
    own_start: IntArray,
    own_leaves: IntArray,
    around: Neighbourhood,
) -> tuple[NDArray[np.int64], IntArray]:
    """CSR lists of the tets whose box holds each point: points groups[g] to groups[g + 1] of `order` against the tets
    of leaves[leaves_start[g] : leaves_start[g + 1]]."""
    first, last = np.zeros(len(points), np.int64), np.zeros(len(points), np.int64)
    found, count = np.empty(8 * len(points) + 64, np.int32), 0
    kin = np.full(len(around.ring_start), -1, np.int32)  # for whom a vertex was last marked
    inner = len(leaf_boxes) // 2
    passed = np.full(inner, -1, np.int32)  # the same for leaves
    most = np.max(leaves_start[1:] - leaves_start[:-1])
    near, met, sides = np.empty(most, np.int32), np.empty(most, np.bool_), np.empty((6, most))
    for group in range(len(groups) - 1):
        begin, size = leaves_start[group], leaves_start[group + 1] - leaves_start[group]
        for i in range(size):
            for side in range(6):
                sides[side, i] = leaf_boxes[inner + leaves[begin + i], side]
        for place in range(groups[group], groups[group + 1]):
            k = order[place]
            for entry in range(around.ring_start[vertices[k]], around.ring_start[vertices[k] + 1]):
                kin[around.ring[entry]] = k
            for entry in range(own_start[k], own_start[k + 1]):
                passed[own_leaves[entry]] = k
            low = points[k, 0] + pad, points[k, 1] + pad, points[k, 2] + pad
            high = points[k, 0] - pad, points[k, 1] - pad, points[k, 2] - pad
            for i in range(size):
                met[i] = (
                    (low[0] >= sides[0, i]) & (high[0] <= sides[3, i])
                    & (low[1] >= sides[1, i]) & (high[1] <= sides[4, i])
                    & (low[2] >= sides[2, i]) & (high[2] <= sides[5, i])
                )  # fmt: skip
            held = 0  # most are not, and no processor could foresee which: so no branch depends on it, here and below
            for i in range(size):
                near[held] = leaves[begin + i]
                held += met[i] & (passed[near[held]] != k)
            first[k] = count
            for i in range(held):
                leaf = near[i]
                while count + tets_start[leaf + 1] - tets_start[leaf] >= len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                hit = count
                for entry in range(tets_start[leaf], tets_start[leaf + 1]):
                    found[hit] = tet_order[entry]
                    hit += _holds(boxes, entry, low, high)
                for h in range(count, hit):
                    tet, own = found[h], False
                    for corner in range(4):
                        own |= kin[tets[tet, corner]] == k
                    found[count] = tet
                    count += not own
            last[k] = count
    return _pack(first, last, found)


@njit(cache=True)
def _holds(boxes: FloatArray, i: int, low: Vector, high: Vector) -> bool:
    """Whether a box begins below `low` and ends above `high`."""
    return bool(
        (low[0] >= boxes[i, 0]) & (high[0] <= boxes[i, 3])
        & (low[1] >= boxes[i, 1]) & (high[1] <= boxes[i, 4])
        & (low[2] >= boxes[i, 2]) & (high[2] <= boxes[i, 5])
    )  # fmt: skip


@njit(cache=True)
def _pack(first: NDArray[np.int64], last: NDArray[np.int64], found: IntArray) -> tuple[NDArray[np.int64], IntArray]:
    """Lists found[first[k] : last[k]] one after the other."""
    start = np.zeros(len(first) + 1, np.int64)
    for k in range(len(first)):
        start[k + 1] = start[k] + last[k] - first[k]
    listed = np.empty(start[-1], np.int32)
    for k in range(len(first)):
        copy_into(found[first[k] : last[k]], listed[start[k] : start[k + 1]])
    return start, listed
