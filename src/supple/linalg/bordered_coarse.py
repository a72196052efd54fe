"""The second level of a bordered matrix: rigid motions of clusters of its block rows, beside its dense unknowns.

With Z = (R, 0; 0, I) the coarse matrix ZᵀAZ knows how both levels pull at each other. Without that a patch and what
is around it answer each other only by hundreds of iterations.
"""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["coarsen", "take_out", "tie_springs"]


@njit(cache=True, fastmath={"contract", "nsz"})
def coarsen(matrix, owner, arms, count):
    """ZᵀAZ, (6 k + r, 6 k + r), of an operator of linalg/bordered.py for k = `count` clusters, without its springs."""
    begin, stop, columns, blocks, extra, edge, C, B = matrix[:8]
    start, first, last = matrix[13]
    size, rank = 6 * count, len(B)
    out = np.zeros((size + rank, size + rank))
    out[size:, size:] = B
    if not count:
        return out
    sums, left = np.empty((6, 3)), np.empty((6, 6))
    for v in range(len(begin)):
        m = begin[v]
        _hold(extra[v], arms[v], 6 * owner[v], out)
        while m < stop[v]:  # neighbours of one cluster in one go
            other = owner[columns[m]]
            sums[:] = 0.0
            while m < stop[v] and owner[columns[m]] == other:
                s0, s1, s2 = arms[columns[m], 0], arms[columns[m], 1], arms[columns[m], 2]
                for i in range(3):
                    a, b, c = blocks[m, 3 * i], blocks[m, 3 * i + 1], blocks[m, 3 * i + 2]
                    sums[0, i] += a
                    sums[1, i] += b
                    sums[2, i] += c
                    sums[3, i] += s1 * c - s2 * b
                    sums[4, i] += s2 * a - s0 * c
                    sums[5, i] += s0 * b - s1 * a
                m += 1
            _turn(sums, arms[v], left)
            for p in range(6):
                for s in range(6):
                    out[6 * owner[v] + s, 6 * other + p] += left[p, s]
    for k in range(len(edge)):
        r0, r1, r2 = arms[edge[k], 0], arms[edge[k], 1], arms[edge[k], 2]
        row = 6 * owner[edge[k]]
        for span in range(start[k], start[k + 1]):
            for j in range(first[span], last[span]):
                a, b, c = C[k, 0, j], C[k, 1, j], C[k, 2, j]
                out[row, size + j] += a
                out[row + 1, size + j] += b
                out[row + 2, size + j] += c
                out[row + 3, size + j] += r1 * c - r2 * b
                out[row + 4, size + j] += r2 * a - r0 * c
                out[row + 5, size + j] += r0 * b - r1 * a
    for i in range(size):
        for j in range(size, size + rank):
            out[j, i] = out[i, j]
    return out


def take_out(coarse: NDArray[np.float64], held: NDArray[np.float64], grip: float) -> None:
    """Let held motions of the last unknowns, orthonormal, (r, u), have no stiffness but `grip`, in place."""
    size = len(coarse) - len(held)
    coarse[:, size:] -= (coarse[:, size:] @ held) @ held.T
    coarse[size:] -= held @ (held.T @ coarse[size:])
    coarse[size:, size:] += (grip * held) @ held.T


@njit(cache=True)
def tie_springs(matrix, owner, arms, count, out):
    """Add its springs."""
    rows, weights, curvature, places, H = matrix[8:13]
    for m in range(len(rows)):
        _tie(rows[m], weights[m], curvature[m], places[m], H, owner, arms, 6 * count, out)


@njit(cache=True, fastmath={"contract", "nsz"})
def _turn(sums, arm, left):
    """left = (f, arm x f) of each column f of `sums`, (6, 3)."""
    for p in range(6):
        a, b, c = sums[p, 0], sums[p, 1], sums[p, 2]
        left[p, 0], left[p, 1], left[p, 2] = a, b, c
        left[p, 3] = arm[1] * c - arm[2] * b
        left[p, 4] = arm[2] * a - arm[0] * c
        left[p, 5] = arm[0] * b - arm[1] * a


@njit(cache=True)
def _hold(mass, arm, row, out):
    """Add what is on the diagonal of one point."""
    a, b, c = arm[0], arm[1], arm[2]
    lever = ((0.0, c, -b), (-c, 0.0, a), (b, -a, 0.0))  # columns of w x arm
    squares = a * a + b * b + c * c
    for i in range(3):
        out[row + i, row + i] += mass
        out[row + 3 + i, row + 3 + i] += mass * squares
        for j in range(3):
            out[row + 3 + i, row + 3 + j] -= mass * arm[i] * arm[j]
            out[row + i, row + 3 + j] += mass * lever[i][j]
            out[row + 3 + j, row + i] += mass * lever[i][j]


@njit(cache=True)
def _tie(rows, weights, curvature, place, H, owner, arms, size, out):
    """Add a spring: its gap by the coarse unknowns, twice."""
    known, used = np.empty(6 * len(rows), np.int64), 0
    J = np.zeros((3, 6 * len(rows)))
    for k in range(len(rows)):
        w = weights[k]
        if w == 0.0 or not size:
            continue
        a, b, c = w * arms[rows[k], 0], w * arms[rows[k], 1], w * arms[rows[k], 2]
        for i in range(6):
            known[used + i] = 6 * owner[rows[k]] + i
        for i in range(3):
            J[i, used + i] = w
        J[0, used + 4], J[0, used + 5] = c, -b
        J[1, used + 3], J[1, used + 5] = -c, a
        J[2, used + 3], J[2, used + 4] = b, -a
        used += 6
    own, moved = np.empty(H.shape[2] if place >= 0 else 0, np.int64), 0  # coordinates that move it: in domains few
    for j in range(len(own)):
        if H[place, 0, j] != 0.0 or H[place, 1, j] != 0.0 or H[place, 2, j] != 0.0:
            own[moved] = j
            moved += 1
    pull = np.zeros(3)
    for p in range(used):
        for i in range(3):
            pull[i] = curvature[i, 0] * J[0, p] + curvature[i, 1] * J[1, p] + curvature[i, 2] * J[2, p]
        for s in range(used):
            out[known[s], known[p]] += J[0, s] * pull[0] + J[1, s] * pull[1] + J[2, s] * pull[2]
        for k in range(moved):
            j = own[k]
            value = H[place, 0, j] * pull[0] + H[place, 1, j] * pull[1] + H[place, 2, j] * pull[2]
            out[size + j, known[p]] += value
            out[known[p], size + j] += value
    for l in range(moved):
        p = own[l]
        for i in range(3):
            pull[i] = curvature[i, 0] * H[place, 0, p]
            pull[i] += curvature[i, 1] * H[place, 1, p] + curvature[i, 2] * H[place, 2, p]
        for k in range(moved):
            j = own[k]
            value = H[place, 0, j] * pull[0] + H[place, 1, j] * pull[1] + H[place, 2, j] * pull[2]
            out[size + p, size + j] += value
