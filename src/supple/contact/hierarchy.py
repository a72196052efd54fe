"""Trees of axis-aligned boxes: built once over things at rest, fitted again wherever the things have gone.

A tree is complete: node 1 is the root, nodes 2 i and 2 i + 1 lie below node i, and the last `leaves` nodes are the
leaves, a few things each. So it needs no pointers, and one pass from the last node to the first fits all boxes. A box
is six numbers in a row: its lowest corner, then its highest.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["BoxTree", "LeafPairs", "cross_trees"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_LEAF = 8  # most things a leaf holds; it holds more than half as many


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Who lies in which leaf; the boxes come from `refit`."""

    leaves: int
    """A power of 2."""
    start: IntArray
    """Leaf k holds things order[start[k] : start[k + 1]], (leaves + 1,)."""
    order: IntArray
    """Numbers of the things, leaf by leaf, (p,)."""
    corner_start: IntArray
    """Leaf k bounds vertices corners[corner_start[k] : corner_start[k + 1]], (leaves + 1,)."""
    corners: IntArray
    """Every vertex of a leaf's things once."""

    @classmethod
    def build(cls, points: FloatArray, things: IntArray, leaf: int = _LEAF) -> "BoxTree":
        """The tree over things of k vertices each, (p, k), halved across their longest side at `points` [m], (n, 3)."""
        count = len(things)
        leaves = 1 << max(0, int(np.ceil(np.log2(max(count, 1) / leaf))))
        order = _halve(points[things].mean(axis=1), leaves)
        start = _bounds(count, leaves)
        owner = np.repeat(np.arange(leaves), np.diff(start))
        keys = np.unique(owner[:, None] * len(points) + things[order])
        corner_start = np.searchsorted(keys, np.arange(leaves + 1) * len(points))
        return cls(
            leaves, start.astype(np.int32), order.astype(np.int32),
            corner_start.astype(np.int32), (keys % max(len(points), 1)).astype(np.int32),
        )  # fmt: skip

    def refit(self, x: FloatArray) -> FloatArray:
        """Boxes of all nodes at positions x [m], (2 leaves, 6); row 0 is no node, an empty leaf's box is inside out."""
        boxes = np.empty((2 * self.leaves, 6))
        _fit(x, self.corner_start, self.corners, boxes)
        return boxes

    def join_boxes(self, things: FloatArray) -> FloatArray:
        """Boxes of all nodes, (2 leaves, 6), from those of the things, (p, 6), leaf by leaf."""
        boxes = np.empty((2 * self.leaves, 6))
        _join_boxes(self.start, things, boxes)
        return boxes

    def box_things(self, x: FloatArray, things: IntArray) -> FloatArray:
        """Boxes of the things, (p, k), themselves at positions x [m], (p, 6), leaf by leaf."""
        boxes = np.empty((len(things), 6))
        _box_things(x, things, self.order, boxes)
        return boxes


@dataclass(frozen=True, eq=False)
class LeafPairs:
    """Which leaves of a tree each of g groups of points may lie in."""

    start: NDArray[np.int64]
    """Group k may lie in leaves[start[k] : start[k + 1]], (g + 1,)."""
    leaves: IntArray
    """In the order they were met, which depends on the boxes alone."""


def cross_trees(groups: FloatArray, boxes: FloatArray) -> LeafPairs:
    """For every leaf of one tree the leaves of another that its box meets; both by their boxes, (2 leaves, 6)."""
    return LeafPairs(*_cross(groups, boxes))


def _bounds(count: int, parts: int) -> NDArray[np.int64]:
    """Where each of `parts` equal parts of `count` things begins; halving the parts keeps every second bound."""
    return np.asarray(np.arange(parts + 1, dtype=np.int64) * count // parts)


def _halve(centres: FloatArray, leaves: int) -> NDArray[np.intp]:
    """The things leaf by leaf: every part halved at the median of the longest side of its box."""
    order = np.arange(len(centres))
    parts = 1
    while parts < leaves:
        start = _bounds(len(centres), parts)
        owner = np.repeat(np.arange(parts), np.diff(start))
        inside = centres[order]
        side = np.maximum.reduceat(inside, start[:-1]) - np.minimum.reduceat(inside, start[:-1])
        along = np.take_along_axis(inside, side.argmax(axis=1)[owner, None], axis=1)[:, 0]
        order = order[np.lexsort((along, owner))]
        parts *= 2
    return order


@njit(cache=True, fastmath={"nnan", "nsz"})
def _fit(x: FloatArray, start: IntArray, corners: IntArray, boxes: FloatArray) -> None:
    leaves = len(start) - 1
    for leaf in range(leaves):
        low0 = low1 = low2 = np.inf
        high0 = high1 = high2 = -np.inf
        for entry in range(start[leaf], start[leaf + 1]):
            vertex = corners[entry]
            x0, x1, x2 = x[vertex, 0], x[vertex, 1], x[vertex, 2]
            low0, low1, low2 = min(low0, x0), min(low1, x1), min(low2, x2)
            high0, high1, high2 = max(high0, x0), max(high1, x1), max(high2, x2)
        node = leaves + leaf
        boxes[node, 0], boxes[node, 1], boxes[node, 2] = low0, low1, low2
        boxes[node, 3], boxes[node, 4], boxes[node, 5] = high0, high1, high2
    _join_up(boxes)


@njit(cache=True, fastmath={"nnan", "nsz"})
def _join_up(boxes: FloatArray) -> None:
    """Fill the boxes above the leaves."""
    for node in range(len(boxes) // 2 - 1, 0, -1):
        for axis in range(3):
            boxes[node, axis] = min(boxes[2 * node, axis], boxes[2 * node + 1, axis])
            boxes[node, 3 + axis] = max(boxes[2 * node, 3 + axis], boxes[2 * node + 1, 3 + axis])
    for axis in range(6):
        boxes[0, axis] = 0.0


@njit(cache=True, fastmath={"nnan", "nsz"})
def _join_boxes(start: IntArray, things: FloatArray, boxes: FloatArray) -> None:
    leaves = len(start) - 1
    for leaf in range(leaves):
        for axis in range(3):
            boxes[leaves + leaf, axis], boxes[leaves + leaf, 3 + axis] = np.inf, -np.inf
        for entry in range(start[leaf], start[leaf + 1]):
            for axis in range(3):
                boxes[leaves + leaf, axis] = min(boxes[leaves + leaf, axis], things[entry, axis])
                boxes[leaves + leaf, 3 + axis] = max(boxes[leaves + leaf, 3 + axis], things[entry, 3 + axis])
    _join_up(boxes)


@njit(cache=True, fastmath={"nnan", "nsz"})
def _box_things(x: FloatArray, things: IntArray, order: IntArray, boxes: FloatArray) -> None:
    for entry in range(len(order)):
        thing = order[entry]
        for axis in range(3):
            low = high = x[things[thing, 0], axis]
            for k in range(1, things.shape[1]):
                here = x[things[thing, k], axis]
                low, high = min(low, here), max(high, here)
            boxes[entry, axis], boxes[entry, 3 + axis] = low, high


@njit(cache=True)
def _meet(a: FloatArray, i: int, b: FloatArray, j: int) -> bool:
    """Whether boxes i of a and j of b have a point in common; without branches, which no processor could foresee."""
    return bool(
        (a[i, 0] <= b[j, 3]) & (a[i, 3] >= b[j, 0])
        & (a[i, 1] <= b[j, 4]) & (a[i, 4] >= b[j, 1])
        & (a[i, 2] <= b[j, 5]) & (a[i, 5] >= b[j, 2])
    )  # fmt: skip


@njit(cache=True)
def _cross(groups: FloatArray, boxes: FloatArray) -> tuple[NDArray[np.int64], IntArray]:
    """CSR lists of the leaves of `boxes` that meet the leaves of `groups`.

    All pairs stand at the same depth: first the deeper tree is gone down alone, then both.
    """
    first, leaves = len(groups) // 2, len(boxes) // 2
    one, two = np.ones(1, np.int32), np.ones(1, np.int32)
    level, depth = 1, 1  # leaves a tree would have if it ended here
    while level < first or depth < leaves:
        ahead, behind = first // level, leaves // depth  # halvings left
        split, below = 1 + (ahead >= behind and ahead > 1), 1 + (behind >= ahead and behind > 1)
        next_one = np.empty(len(one) * split * below, np.int32)
        next_two = np.empty(len(next_one), np.int32)
        count = 0
        for pair in range(len(one)):
            for i in range(split * one[pair], split * one[pair] + split):
                for j in range(below * two[pair], below * two[pair] + below):
                    next_one[count], next_two[count] = i, j
                    count += _meet(groups, i, boxes, j)
        one, two = next_one[:count], next_two[:count]
        level, depth = level * split, depth * below
    return _sort_pairs(one - first, two - leaves, first)


@njit(cache=True)
def _sort_pairs(one: IntArray, two: IntArray, count: int) -> tuple[NDArray[np.int64], IntArray]:
    """CSR lists of the second members by the first, those of one first in the order given."""
    start = np.zeros(count + 1, np.int64)
    for pair in range(len(one)):
        start[one[pair] + 1] += 1
    for k in range(count):
        start[k + 1] += start[k]
    place = start[:-1].copy()
    sorted_two = np.empty(len(two), np.int32)
    for pair in range(len(one)):
        sorted_two[place[one[pair]]] = two[pair]
        place[one[pair]] += 1
    return start, sorted_two
