"""The space of a body in overlapping regions, as Newton's method sees it (method/reduced/newton.py).

An element knows the coordinates of the regions that reach it, and no others: rows of G hold those side by side, and
elements that know the same make one block of the stiffness. G stands for (rows (9 c, k), rank, groups (g, 5), members):
elements groups[j, 0] to groups[j, 1] know coordinates members[groups[j, 2] : groups[j, 3]], filled up to groups[j, 4]
columns; pieces are the blocks, one after another.
"""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.cubature.reduced_stiffness import square_rows
from supple.linalg.jit import njit
from supple.method.posespace.elements import pad_width
from supple.method.reduced.space import WHOLE, begin_of

__all__ = ["POSED", "Packed", "pack_regions", "sign_regions"]

_FEW = 4  # groups
# Sums may be reordered into vector lanes; the order is fixed by the code, not by the run
_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


class Packed(NamedTuple):
    """Edges of elements without the coordinates that they do not know."""

    edges: NDArray[np.float32]
    """(m, 9, columns) of one element after another, filled up with zeros to whole vectors."""
    spans: NDArray[np.int64]
    """Where those of each element begin, and their columns, (c, 2)."""
    groups: NDArray[np.int64]
    """Of elements that know the same: the first and the end, of `members` likewise, and columns; (g, 5)."""
    members: NDArray[np.int64]

    @property
    def width(self) -> int:
        """Columns of the element that knows most."""
        return int(self.spans[:, 1].max())

    @property
    def blocks(self) -> int:
        """Numbers in all blocks of the stiffness."""
        return int(((self.groups[:, 3] - self.groups[:, 2]) ** 2).sum())


def sign_regions(owners: NDArray[np.int64], edges: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which regions reach which elements, (c, d), by the region of every coordinate (r,) and edges (c, m, 9, r)."""
    moved = np.asarray(edges.any(axis=(1, 2)))
    return np.stack([moved[:, owners == region].any(axis=1) for region in np.unique(owners)], axis=1)


def pack_regions(owners: NDArray[np.int64], edges: NDArray[np.float32]) -> Packed:
    """The same edges, (c, m, 9, r), for elements that know the same coordinates and stand beside each other.

    No owners at all are one region. Of few groups each is cut in two, for as many threads.
    """
    owners = owners if len(owners) else np.zeros(edges.shape[3], np.int64)
    reached = sign_regions(owners, edges)
    starts = np.flatnonzero(np.r_[True, (reached[1:] != reached[:-1]).any(axis=1)])
    if len(starts) < _FEW:
        starts = np.unique(np.r_[starts, (starts + np.r_[starts[1:], len(edges)]) // 2])
    ends = np.r_[starts[1:], len(edges)]
    numbers = np.searchsorted(np.unique(owners), owners)
    known = [np.flatnonzero(reached[k][numbers]) for k in starts]
    last = np.cumsum([len(one) for one in known])
    widths = [pad_width(len(one)) for one in known]
    groups = np.column_stack([starts, ends, np.r_[0, last[:-1]], last, widths])
    packed, spans, at = [], np.empty((len(edges), 2), np.int64), 0
    for (begin, end, _, _, width), members in zip(groups, known, strict=True):
        part = np.zeros((end - begin, *edges.shape[1:3], width), np.float32)
        part[..., : len(members)] = edges[begin:end][..., members]
        packed.append(part.ravel())
        spans[begin:end, 0], spans[begin:end, 1] = at + np.arange(end - begin) * part[0].size, width
        at += part.size
    return Packed(np.concatenate(packed), spans, groups.astype(np.int64), np.concatenate(known).astype(np.int64))


@njit(cache=True)
def _rank_of(G):
    return G[1]


@_kernel
def _strain(G, q, F):
    A, _, groups, members = G
    for g in range(groups.shape[0]):
        own, y = members[groups[g, 2] : groups[g, 3]], np.zeros(groups[g, 4])
        for j in range(own.size):
            y[j] = q[own[j]]
        for k in range(9 * groups[g, 0], 9 * groups[g, 1]):
            row, total = A[k], 0.0
            for j in range(y.size):
                total += row[j] * y[j]
            F[k] = total


@_kernel
def _gather(P, G, out):
    A, _, groups, members = G
    out[:] = 0.0
    for g in range(groups.shape[0]):
        own, y = members[groups[g, 2] : groups[g, 3]], np.zeros(groups[g, 4])
        for k in range(9 * groups[g, 0], 9 * groups[g, 1], 9):
            a, b, c, d, e = P[k], P[k + 1], P[k + 2], P[k + 3], P[k + 4]
            f, h, i, l = P[k + 5], P[k + 6], P[k + 7], P[k + 8]
            B = A[k : k + 9]
            for j in range(y.size):
                first = a * B[0, j] + b * B[1, j] + c * B[2, j]
                second = d * B[3, j] + e * B[4, j] + f * B[5, j]
                third = h * B[6, j] + i * B[7, j] + l * B[8, j]
                y[j] += first + second + third
        for j in range(own.size):
            out[own[j]] += y[j]


def _square(address, single, G, F, table, bounds, form, L, signs, stack, pieces):
    """The stiffness of every group of elements, the lower triangle of its block."""
    groups = G[2]
    for g in prange(groups.shape[0]):
        begin, end, rank = groups[g, 0], groups[g, 1], groups[g, 3] - groups[g, 2]
        at = begin_of(groups, g)
        if rank > 0:  # elements between pins know nothing
            roots(F, table, bounds, 0, begin, end, L, signs)
            block = pieces[at : at + rank * rank].reshape(rank, rank)
            square_rows(address, single, L, signs, begin, end, form, stack, block)


@njit(cache=True)
def _join(pieces, G, K):
    K[:] = 0.0
    groups, members, at = G[2], G[3], 0
    for g in range(groups.shape[0]):
        own = members[groups[g, 2] : groups[g, 3]]
        for i in range(own.size):
            for j in range(i + 1):
                K[own[i], own[j]] += np.float64(pieces[at + i * own.size + j])
        at += own.size * own.size


#: The space of a pose: G has its rows in single precision, (9 c, k), the number of coordinates, groups and members;
#: products are summed in double precision.
POSED = WHOLE._replace(rank_of=_rank_of, strain=_strain, gather=_gather, square=_square, join=_join, name="posed")
