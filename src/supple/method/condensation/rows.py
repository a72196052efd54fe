"""What coordinates do to the vertices of a region, (3 l, r), without the zeros that domains leave."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.method.condensation.subspace import Part, Stance

__all__ = ["Rows"]

FloatArray = NDArray[np.float64]


class Strip(NamedTuple):
    """A part, cut where the full vertices end."""

    where: NDArray[np.intp]
    full: int
    """How many of its vertices are full; they come first."""
    at: slice
    U: FloatArray
    """(3 k, c)"""


class Rows:
    """Of vertices of which the first `full` are full."""

    def __init__(self, parts: list[Part], count: int, full: int, rank: int) -> None:
        self._count, self._full, self.rank = count, full, rank
        self._strips = [
            Strip(one.where, int(np.searchsorted(one.where, full)), one.at, one.rows.reshape(-1, one.rows.shape[2]))
            for one in parts
        ]

    @classmethod
    def of_full(cls, stance: Stance, vertices: NDArray[np.integer], rank: int) -> "Rows":
        """Of vertices that are all full."""
        return cls(stance.parts(vertices), len(vertices), len(vertices), rank)

    @cached_property
    def _only(self) -> FloatArray | None:
        """The one matrix that there is, unless domains are told apart."""
        strips = self._strips
        return strips[0].U if len(strips) == 1 and strips[0].U.shape == (3 * self._count, self.rank) else None

    def to_dense(self) -> FloatArray:
        """All of it, (3 l, r)."""
        if self._only is not None:
            return self._only
        out = np.zeros((self._count, 3, self.rank))
        for where, _, at, U in self._strips:
            out[where, :, at] = U.reshape(len(where), 3, U.shape[1])
        return out.reshape(-1, self.rank)

    def pick(self, vertices: NDArray[np.integer]) -> FloatArray:
        """Of chosen vertices, (k, 3, r)."""
        out = np.zeros((len(vertices), 3, self.rank))
        for where, _, at, U in self._strips:
            place = np.minimum(np.searchsorted(where, vertices), len(where) - 1)
            own = np.flatnonzero(where[place] == vertices)
            out[own, :, at] = U.reshape(len(where), 3, U.shape[1])[place[own]]
        return out

    @cached_property
    def around(self) -> tuple[NDArray[Any], ...]:
        """Those of vertices that are not full, as linalg/bordered_fold.py takes them."""
        strips = [one for one in self._strips if one.full < len(one.where)]
        owner = np.concatenate([np.zeros(0, np.intp), *(one.where[one.full :] - self._full for one in strips)])
        counts = [len(one.where) - one.full for one in strips]
        ends = np.array([(one.at.start, one.at.stop) for one in strips], np.int64).reshape(-1, 2)
        at, width = np.repeat(ends[:, 0], counts), np.repeat(ends[:, 1] - ends[:, 0], counts)
        place = np.concatenate([[0], np.cumsum(3 * width)]).astype(np.int64)[:-1]
        U = np.concatenate([np.zeros(0), *(one.U[3 * one.full :].ravel() for one in strips)])
        order = np.argsort(owner, kind="stable")
        start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=self._count - self._full))])
        return start.astype(np.int64), at[order], width[order], place[order], U

    def move(self, q: FloatArray) -> FloatArray:
        """U q of the vertices that are not full, (a, 3)."""
        if (U := self._only) is not None:
            return np.asarray(U[3 * self._full :] @ q).reshape(-1, 3)
        out = np.zeros((self._count - self._full, 3))
        for where, full, at, U in self._strips:
            out[where[full:] - self._full] += (U[3 * full :] @ q[at]).reshape(-1, 3)
        return out

    def move_full(self, motions: FloatArray) -> FloatArray:
        """U_f times motions (r,) or (r, u), (3 f,) or (3 f, u)."""
        out = np.zeros((self._full, 3, *motions.shape[1:]))
        for where, full, at, U in self._strips:
            out[where[:full]] += (U[: 3 * full] @ motions[at]).reshape(full, 3, *motions.shape[1:])
        return out.reshape(-1, *motions.shape[1:])

    def gather(self, field: FloatArray) -> FloatArray:
        """Uᵀ f of forces on the vertices that are not full, (a, 3); (r,)."""
        if (U := self._only) is not None:
            return np.asarray(field.ravel() @ U[3 * self._full :])
        out = np.zeros(self.rank)
        for where, full, at, U in self._strips:
            out[at] += field[where[full:] - self._full].ravel() @ U[3 * full :]
        return out

    def gather_full(self, field: FloatArray) -> FloatArray:
        """The same of forces on the full ones, (3 f,)."""
        if (U := self._only) is not None:
            return np.asarray(field.ravel() @ U[: 3 * self._full])
        out, field = np.zeros(self.rank), field.reshape(-1, 3)
        for where, full, at, U in self._strips:
            out[at] += field[where[:full]].ravel() @ U[: 3 * full]
        return out

    def weigh_full(self, mass: FloatArray) -> FloatArray:
        """U_fᵀ M U_f with the masses of full vertices [kg], (f,); (r, r)."""
        out, roots = np.zeros((self.rank, self.rank)), np.sqrt(mass)
        weighed = [
            roots[one.where[: one.full], None, None] * one.U[: 3 * one.full].reshape(one.full, 3, one.U.shape[1])
            for one in self._strips
        ]
        shared = np.zeros(self._full, np.int64)
        for one in self._strips:
            shared[one.where[: one.full]] += 1
        for k, (one, own) in enumerate(zip(self._strips, weighed, strict=True)):
            flat = own.reshape(-1, own.shape[2])
            out[one.at, one.at] = flat.T @ flat
            twice = np.flatnonzero(shared[one.where[: one.full]] > 1)  # copies of one vertex couple domains
            for other, theirs in zip(self._strips[:k], weighed[:k], strict=True):
                _, here, there = np.intersect1d(
                    one.where[twice], other.where[: other.full], assume_unique=True, return_indices=True
                )
                if len(here):
                    block = np.tensordot(own[twice[here]], theirs[there], ((0, 1), (0, 1)))
                    out[one.at, other.at], out[other.at, one.at] = block, block.T
        return out
