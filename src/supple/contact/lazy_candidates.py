"""Which tets a vertex may lie in, kept up cluster by cluster: what has hardly moved is not even placed.

Vertices of the surface lie in groups and tets in leaves. A pair that was farther apart than `pad` when it was last
looked at cannot meet while its group and its leaf have both moved by less than half of that. How far a cluster can have
moved is bounded by a few numbers for the whole body ([JP04]); where the bound is used up its vertices are placed and
measured, and only clusters that have truly moved so far are listed again, against all others.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.candidates import Candidates
from supple.contact.places import Moment, Places
from supple.linalg.jit import njit

__all__ = ["LazyCandidates", "Near"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_MOMENTS = 12  # moments in which clusters were measured, before all are listed again
_MOST = 0.3  # share of the clusters from which on it is as well to list them all
_ROUND_OFF = 1e-9  # of the body's size, that the room is smaller than what was listed


class Near(NamedTuple):
    """Vertices that have tets to be tested against."""

    vertices: IntArray
    """(k,)"""
    start: NDArray[np.int64]
    """Vertex k is tested against tets[start[k] : start[k + 1]], (k + 1,)."""
    tets: IntArray
    reads: IntArray
    """All vertices of either, ascending."""


class _Clusters:
    """Sets of vertices, where they were when they were last listed, and how far they may have gone since."""

    def __init__(self, start: IntArray, members: IntArray, count: int) -> None:
        """Cluster k has members[start[k] : start[k + 1]] of `count` vertices."""
        self.start, self.members, self.size = start, members, len(start) - 1
        owner = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(start))
        order = np.argsort(members, kind="stable")
        self._of, self._of_start = owner[order], np.searchsorted(members[order], np.arange(count + 1))
        self.at, self.lengths = np.zeros((len(members), 3)), np.zeros((self.size, 0))
        self.when, self.used = np.zeros(self.size, np.int32), np.zeros(self.size)
        """The moment in which each was last measured, and how far it had moved then [m]."""
        self._longest: FloatArray | None = None  # what the lengths are of

    def hold(self, vertices: IntArray) -> NDArray[np.bool_]:
        """Which of them have some of the vertices."""
        found = np.zeros(self.size, np.bool_)
        found[self._of[_spans(self._of_start, vertices)]] = True
        return found

    def list_members(self, some: NDArray[np.integer]) -> IntArray:
        """Vertices of some clusters."""
        return self.members[_spans(self.start, some)]

    def note(self, x: FloatArray, moment: Moment) -> None:
        """All of them are at x [m], (n, 3)."""
        self.at, self.when[:], self.used[:] = x[self.members], 0, 0.0
        lengths = moment.lengths
        if self._longest is lengths:
            return
        self._longest, self.lengths = lengths, np.zeros((self.size, lengths.shape[1]))
        filled = np.flatnonzero(np.diff(self.start))
        if len(filled):
            self.lengths[filled] = np.maximum.reduceat(lengths[self.members], self.start[filled])

    def renew(self, some: NDArray[np.integer], x: FloatArray) -> None:
        """Some of them are listed at x from now on."""
        entries = _spans(self.start, some)
        self.at[entries], self.used[some] = x[self.members[entries]], 0.0

    def bound(self, gone: FloatArray) -> FloatArray:
        """How far each can have moved [m], given m since every moment, (k, c)."""
        return np.asarray(self.used + np.einsum("kc,kc->k", self.lengths, gone[self.when]))

    def measure(self, some: NDArray[np.integer], x: FloatArray, when: int) -> FloatArray:
        """How far some have moved now [m], which is moment `when`."""
        found: FloatArray = _measure(np.asarray(some, np.int64), self.start, self.members, self.at, x)
        self.used[some], self.when[some] = found, when
        return found


class LazyCandidates:
    """Lists of a body that is looked at again and again."""

    def __init__(self, whole: Candidates, pad: float) -> None:
        """Lists tets of `whole` that are within its thickness of a vertex, or `pad` [m] farther away."""
        self._whole, self._pad = whole, pad + whole.thickness
        groups, tree = whole.groups, whole.tree
        count = len(whole.rest)
        self._groups = _Clusters(groups.start, whole.vertices[groups.order], count)
        self._leaves = _Clusters(tree.corner_start, tree.corners, count)
        self._half = 0.5 * pad - _ROUND_OFF * float(np.ptp(whole.rest, axis=0).max())
        self._moments: list[Moment] = []
        nobody = np.zeros(0, np.int32)
        self._near = Near(nobody, np.zeros(1, np.int64), nobody, nobody)
        self._pairs = np.zeros((2, 0), np.int32)  # places of vertices among those of the surface, and their tets
        self._group_of, self._leaf_of = np.empty(len(whole.vertices), np.int32), np.empty(len(whole.tets), np.int32)
        self._group_of[groups.order] = np.repeat(np.arange(groups.leaves, dtype=np.int32), np.diff(groups.start))
        self._leaf_of[tree.order] = np.repeat(np.arange(tree.leaves, dtype=np.int32), np.diff(tree.start))
        self._apart: tuple[IntArray, list[NDArray[np.bool_]]] = np.zeros(0, np.int32), []

    def near(self, x: Places) -> Near:
        """Vertices and the tets that each may lie in, or be in front of within the thickness, at positions x."""
        moment = x.moment
        assert moment is not None
        gone = np.array([moment.since(then) for then in self._moments])
        if not len(gone) or not np.isfinite(gone).all():
            return self._list_all(x, moment)
        both, moved = (self._groups, self._leaves), []
        suspects = [
            np.flatnonzero((one.bound(gone) > self._half) | held)
            for one, held in zip(both, self._hold(x.apart), strict=True)
        ]
        members = [one.list_members(some) for one, some in zip(both, suspects, strict=True)]
        at = x.read(np.concatenate([*members, self._near.reads]))  # in one go, for most lists stay
        when = self._begin_moment(moment)
        for one, some in zip(both, suspects, strict=True):
            moved.append(some[~(one.measure(some, at, when) <= self._half)])
        if not any(len(some) for some in moved):
            return self._near
        if sum(map(len, moved)) > _MOST * sum(one.size for one in both) or when == _MOMENTS:
            return self._list_all(x, moment)
        for one, some in zip(both, moved, strict=True):
            one.renew(some, at)
        return self._list_some(*moved)

    def _begin_moment(self, moment: Moment) -> int:
        """The number of a moment that clusters are measured in; those of which none is left are forgotten."""
        both = self._groups, self._leaves
        used = np.unique(np.concatenate([one.when for one in both]))
        if len(used) < len(self._moments):
            self._moments = [self._moments[k] for k in used]
            for one in both:
                one.when[:] = np.searchsorted(used, one.when)
        self._moments.append(moment)
        return len(self._moments) - 1

    def _hold(self, apart: IntArray) -> list[NDArray[np.bool_]]:
        """Clusters that have vertices which no moment bounds."""
        if self._apart[0] is not apart or not self._apart[1]:
            self._apart = apart, [one.hold(apart) for one in (self._groups, self._leaves)]
        return self._apart[1]

    def _list_all(self, x: Places, moment: Moment) -> Near:
        at = x.read(np.arange(len(x)))
        for one in (self._groups, self._leaves):
            one.note(at, moment)
        self._moments = [moment] if np.isfinite(at).all() else []
        whole = self._whole
        self._points = at[whole.vertices]
        self._boxes = whole.tree.box_things(at, whole.tets)  # leaf by leaf
        start, tets = whole.list_near(self._points, self._boxes, self._pad)
        self._pairs = np.stack([np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start)), tets])
        return self._settle()

    def _list_some(self, groups: NDArray[np.intp], leaves: NDArray[np.intp]) -> Near:
        """Lists after some clusters have been placed anew."""
        whole, open_groups, open_leaves = (
            self._whole,
            np.zeros(self._groups.size, np.bool_),
            np.zeros(self._leaves.size, np.bool_),
        )
        open_groups[groups], open_leaves[leaves] = True, True
        entries = _spans(self._groups.start, groups)
        self._points[whole.groups.order[entries]] = self._groups.at[entries]
        _box_some(
            np.asarray(leaves, np.int64), whole.tree.start, whole.tree.order, whole.tets,
            self._leaves.start, self._leaves.members, self._leaves.at, self._boxes,
        )  # fmt: skip
        start, tets = whole.list_near(self._points, self._boxes, self._pad, open_groups, open_leaves)
        new = np.stack([np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start)), tets])
        vertices, known = self._pairs
        kept = ~(open_groups[self._group_of[vertices]] | open_leaves[self._leaf_of[known]])
        pairs = np.concatenate([self._pairs[:, kept], new], axis=1)
        self._pairs = pairs[:, np.argsort(pairs[0], kind="stable")]
        return self._settle()

    def _settle(self) -> Near:
        """What the pairs say."""
        places, tets = self._pairs
        own, first = np.unique(places, return_index=True)
        vertices = self._whole.vertices[own]
        reads = np.unique(np.concatenate([vertices, self._whole.tets[np.unique(tets)].ravel()]))
        self._near = Near(vertices, np.append(first, len(places)).astype(np.int64), tets, reads.astype(np.int32))
        return self._near


def _spans(start: NDArray[np.integer], some: NDArray[np.integer]) -> NDArray[np.int64]:
    """Places start[k] to start[k + 1] of some k, one after another."""
    counts = np.asarray(start[some + 1] - start[some], np.int64)
    first = np.repeat(start[some] - (np.cumsum(counts) - counts), counts)
    return np.asarray(first + np.arange(len(first)), np.int64)


@njit(cache=True)
def _measure(
    some: NDArray[np.int64], start: IntArray, members: IntArray, then: FloatArray, x: FloatArray
) -> FloatArray:
    """How far the farthest member of each has moved [m]; infinite if one is no number."""
    out = np.empty(len(some))
    for k in range(len(some)):
        farthest = 0.0
        for entry in range(start[some[k]], start[some[k] + 1]):
            squared = 0.0
            for axis in range(3):
                squared += (x[members[entry], axis] - then[entry, axis]) ** 2
            if not squared <= farthest:
                farthest = squared if squared == squared else np.inf
        out[k] = np.sqrt(farthest)
    return out


@njit(cache=True)
def _box_some(
    some: NDArray[np.int64],
    start: IntArray,
    order: IntArray,
    tets: IntArray,
    corner_start: IntArray,
    corners: IntArray,
    at: FloatArray,
    boxes: FloatArray,
) -> None:
    """Boxes of the tets of some leaves, corners of which, ascending in each, are `at` [m]."""
    for k in range(len(some)):
        first, last = corner_start[some[k]], corner_start[some[k] + 1]
        for entry in range(start[some[k]], start[some[k] + 1]):
            for axis in range(3):
                boxes[entry, axis], boxes[entry, 3 + axis] = np.inf, -np.inf
            for i in range(4):
                place = first + np.searchsorted(corners[first:last], tets[order[entry], i])
                for axis in range(3):
                    boxes[entry, axis] = min(boxes[entry, axis], at[place, axis])
                    boxes[entry, 3 + axis] = max(boxes[entry, 3 + axis], at[place, axis])
