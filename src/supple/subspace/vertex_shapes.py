"""What coordinates do to single vertices of a body, as compiled loops read it: no matrix is wider than its domain.

A vertex of a body in one piece depends on all coordinates, one of a body in domains on those of its own domain, or of
the two or three whose border it is on.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.subspace.basis import Basis
from supple.subspace.domain_bases import DomainBases

__all__ = ["VertexShapes", "lift_vertices"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class VertexShapes(NamedTuple):
    """Rows of bases, block by block; vertex v has the blocks start[v] to start[v + 1]."""

    start: IntArray
    """(n + 1,); vertices that were left out have none."""
    first: IntArray
    """Coordinate that a block begins with, (b,)."""
    width: IntArray
    """Number of its coordinates, (b,)."""
    at: IntArray
    """Where its three rows begin among the values, (b,)."""
    share: FloatArray
    """What a block counts in the mean of the vertex's copies, (b,)."""
    values: FloatArray

    @classmethod
    def of(cls, basis: Basis | DomainBases, vertices: NDArray[np.integer]) -> "VertexShapes":
        """Those of chosen vertices, ascending."""
        count = len(basis.mass)
        if isinstance(basis, Basis):
            start = np.searchsorted(vertices, np.arange(count + 1)).astype(np.int64)
            rank, blocks = basis.rank, len(vertices)
            return cls(
                start, np.zeros(blocks, np.int64), np.full(blocks, rank), 3 * rank * np.arange(blocks),
                np.ones(blocks), np.ascontiguousarray(basis.rows(vertices)).ravel(),
            )  # fmt: skip
        means = basis.domains.means[vertices]
        copies = np.unique(means.indices)
        first, width, values, at = [], [], [], 0
        place = np.zeros(len(basis.domains.vertex_of), np.int64)
        for one, own, coordinates in basis.each():
            some = copies[(copies >= own.start) & (copies < own.stop)]
            place[some] = at + 3 * one.rank * np.arange(len(some))
            at += 3 * one.rank * len(some)
            values.append(np.ascontiguousarray(one.rows(some - own.start)).ravel())
            first.append(coordinates.start)
            width.append(one.rank)
        owner = basis.domains.domain_of[means.indices]
        counts = np.zeros(count, np.int64)
        counts[vertices] = np.diff(means.indptr)
        return cls(
            np.concatenate([[0], np.cumsum(counts)]), np.array(first, np.int64)[owner],
            np.array(width, np.int64)[owner], place[means.indices], means.data.copy(), np.concatenate(values),
        )  # fmt: skip


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})
def lift_vertices(vertices, shapes, q, rest, A, t, x):
    """Fill x (n, 3) [m] at k vertices with A (X + U q) + t, of frames A (k, 3, 3) and t (k, 3)."""
    for k in range(len(vertices)):
        v = vertices[k]
        y0, y1, y2 = rest[v, 0], rest[v, 1], rest[v, 2]
        for block in range(shapes.start[v], shapes.start[v + 1]):
            width, at, share = shapes.width[block], shapes.at[block], shapes.share[block]
            own = q[shapes.first[block] : shapes.first[block] + width]
            rows = shapes.values[at : at + 3 * width].reshape(3, width)
            u0 = u1 = u2 = 0.0
            for j in range(width):
                u0 += rows[0, j] * own[j]
                u1 += rows[1, j] * own[j]
                u2 += rows[2, j] * own[j]
            y0, y1, y2 = y0 + share * u0, y1 + share * u1, y2 + share * u2
        for axis in range(3):
            x[v, axis] = A[k, axis, 0] * y0 + A[k, axis, 1] * y1 + A[k, axis, 2] * y2 + t[k, axis]
