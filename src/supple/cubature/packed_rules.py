"""Contact rules as one compiled loop reads them: which two poses of all are nearest, for every two bones at once.

Poses of two bones are sorted by their first coordinate. Who looks for the nearest goes outward from the present one
until that coordinate alone is farther away than the second nearest found: thousands of poses cost hardly more than ten.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

if TYPE_CHECKING:
    from supple.cubature.contact_rules import PairRules

__all__ = ["PackedRules", "blend_all", "find_nearest_two", "sort_stably"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_MET = 1e-9  # share of the distance to the second nearest pose within which the nearest is met


class PackedRules(NamedTuple):
    """The rules of p pairs of bones, one after another."""

    bones: IntArray
    """(p, 2)"""
    root: FloatArray
    """L of rig/relative_poses.py, (p, 4, 4)."""
    mean: FloatArray
    """(p, 12)"""
    axes: FloatArray
    """(p, 6, 12)"""
    reach: FloatArray
    """[m], (p,)"""
    first: IntArray
    """Poses of pair i are first[i] to first[i + 1], (p + 1,)."""
    at: FloatArray
    """Their coordinates [m], ascending by the first within a pair, (k, 6)."""
    start: IntArray
    """Where the contacts of each pose begin, (k,)."""
    stop: IntArray
    """Where they end, (k,)."""
    pairs: NDArray[np.int32]
    """Vertices and triangles, (m, 2)."""
    weights: FloatArray
    """(m,)"""

    @classmethod
    def of(cls, rules: Sequence["PairRules"]) -> "PackedRules":
        """Of rules one by one."""
        orders = [np.argsort(rule.at[:, 0], kind="stable") for rule in rules]
        ends = np.concatenate([[0], np.cumsum([len(rule.weights) for rule in rules])]).astype(np.int64)

        def stack(parts: list[FloatArray], *shape: int) -> FloatArray:
            return np.ascontiguousarray(np.concatenate([np.zeros((0, *shape)), *parts]))

        def count(parts: list[IntArray]) -> IntArray:
            return np.concatenate([np.zeros(0, np.int64), *parts])

        return cls(
            np.array([rule.bones for rule in rules], np.int64).reshape(-1, 2),
            stack([rule.seen.root[None] for rule in rules], 4, 4),
            stack([rule.seen.mean[None] for rule in rules], 12),
            stack([rule.seen.axes[None] for rule in rules], 6, 12),
            np.array([rule.reach for rule in rules], np.float64),
            np.concatenate([[0], np.cumsum([len(order) for order in orders])]).astype(np.int64),
            stack([rule.at[order] for rule, order in zip(rules, orders, strict=True)], 6),
            count([end + rule.start[order] for rule, order, end in zip(rules, orders, ends, strict=False)]),
            count([end + rule.start[order + 1] for rule, order, end in zip(rules, orders, ends, strict=False)]),
            np.ascontiguousarray(np.concatenate([np.zeros((0, 2), np.int32), *(rule.pairs for rule in rules)])),
            stack([rule.weights for rule in rules]),
        )


@njit(cache=True)
def find_nearest_two(at, begin, end, point):
    """The two nearest of coordinates at[begin:end], sorted by the first, to a point (6,), and their distances [m].

    Where there is one only, the second is -1 and infinitely far.
    """
    low = begin + np.searchsorted(at[begin:end, 0], point[0]) - 1
    high = low + 1
    one, other, least, second = -1, -1, np.inf, np.inf
    while low >= begin or high < end:
        below = point[0] - at[low, 0] if low >= begin else np.inf
        above = at[high, 0] - point[0] if high < end else np.inf
        if min(below, above) ** 2 > second:
            break
        k = low if below <= above else high
        squared = 0.0
        for a in range(point.size):
            squared += (at[k, a] - point[a]) ** 2
        if squared < least:
            one, other, least, second = k, one, squared, least
        elif squared < second:
            other, second = k, squared
        if below <= above:
            low -= 1
        else:
            high += 1
    return one, other, np.sqrt(least), np.sqrt(second)


@njit(cache=True)
def blend_all(packed, R, t):
    """Pairs (m, 2) and weights (m,) for bones at R (j, 3, 3) and t (j, 3), sorted by vertex and triangle, none twice;
    and whether each pair of bones has no rule there, (p,)."""
    count = len(packed.bones)
    lacking, pick, share, total = np.zeros(count, np.bool_), np.full((count, 2), -1), np.zeros((count, 2)), 0
    away, point = np.empty(12), np.empty(6)
    for p in range(count):
        _see(packed, p, R, t, away)
        beside = 0.0
        for a in range(12):
            beside += away[a] ** 2
        for a in range(6):
            point[a] = 0.0
            for b in range(12):
                point[a] += packed.axes[p, a, b] * away[b]
            beside -= point[a] ** 2
        one, other, least, second = find_nearest_two(packed.at, packed.first[p], packed.first[p + 1], point)
        if one < 0 or np.sqrt(least**2 + max(beside, 0.0)) > packed.reach[p]:
            lacking[p] = True
            continue
        # They sum to one, and a pose that is met has all; one without contacts knows nothing of weights
        met = other < 0 or least <= _MET * second
        ahead = 1.0 if met else second / (least + second)
        has_one = packed.stop[one] > packed.start[one]
        has_other = other >= 0 and packed.stop[other] > packed.start[other]
        if has_one != has_other:
            ahead = 1.0 if has_one else 0.0
            if not has_one and met:
                continue  # nothing touches in this very pose
        pick[p, 0], pick[p, 1], share[p, 0], share[p, 1] = one, other, ahead, 1.0 - ahead
        for k in range(2):
            if share[p, k] > 0.0:
                total += packed.stop[pick[p, k]] - packed.start[pick[p, k]]
    keys, weights, filled = np.empty(total, np.int64), np.empty(total), 0
    for p in range(count):
        for k in range(2):
            if share[p, k] > 0.0:
                for i in range(packed.start[pick[p, k]], packed.stop[pick[p, k]]):
                    keys[filled] = (np.int64(packed.pairs[i, 0]) << 32) + packed.pairs[i, 1]
                    weights[filled] = share[p, k] * packed.weights[i]
                    filled += 1
    return *_join(keys, weights), lacking


@njit(cache=True)
def _see(packed, p, R, t, away):
    """Fill the 12-vector of a neighbour in a bone's frame, from the mean of those trained."""
    bone, other = packed.bones[p, 0], packed.bones[p, 1]
    for i in range(3):
        row = np.zeros(4)
        for k in range(3):
            for j in range(3):
                row[j] += R[bone, k, i] * R[other, k, j]
            row[3] += R[bone, k, i] * (t[other, k] - t[bone, k])
        for j in range(4):
            away[4 * i + j] = -packed.mean[p, 4 * i + j]
            for k in range(4):
                away[4 * i + j] += row[k] * packed.root[p, k, j]


@njit(cache=True)
def sort_stably(keys):
    """Numbers of keys, ascending, equal ones in their order: merges of ever longer runs.

    NumPy's own stable sort takes ten seconds to compile.
    """
    count, width = len(keys), 1
    order, merged = np.arange(count), np.empty(count, np.int64)
    while width < count:
        for begin in range(0, count, 2 * width):
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            low, high = begin, middle
            for k in range(begin, end):
                if high == end or (low < middle and keys[order[low]] <= keys[order[high]]):
                    merged[k] = order[low]
                    low += 1
                else:
                    merged[k] = order[high]
                    high += 1
        order, merged = merged, order
        width *= 2
    return order


@njit(cache=True)
def _join(keys, weights):
    """Pairs by ascending key, with the sums of their weights, those without any left out."""
    order = sort_stably(keys)
    pairs, sums, count = np.empty((len(keys), 2), np.int32), np.empty(len(keys)), 0
    last = np.int64(-1)
    for k in order:
        if weights[k] == 0.0:
            continue
        if keys[k] != last:
            last = keys[k]
            pairs[count, 0], pairs[count, 1], sums[count] = last >> 32, last & 0xFFFFFFFF, 0.0
            count += 1
        sums[count - 1] += weights[k]
    return pairs[:count].copy(), sums[:count].copy()
