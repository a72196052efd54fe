"""The elements of a pose: measured against the rest shape of the moment, and seen from the basis of the moment."""

import numpy as np
from numba import njit

from supple.linalg.small import cofactor, det, matmul_tn, point

__all__ = ["pose_elements", "stiffen_elements"]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def pose_elements(edges, weights, volumes, corners, w, placed, R, scale, rows, single, G, table):
    """Fill G (9 c, r), `single` (c, 9, >= r) and volumes times weights in table[0]; the least ratio of an element's
    volume to its own at rest, and whose it is.

    edges (c, m, 9, r): what the columns change from the first corner to corner a + 1 along axis i, at 3 i + a.
    placed [m] (v, 3) in the world, corners (c, 4) among them, R the root's turn, rows (9, r) scratch.
    """
    turn = (R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
    worst, who = np.inf, 0
    for e in range(corners.shape[0]):
        D = matmul_tn(turn, _edges(placed, corners[e, 0], corners[e, 1], corners[e, 2], corners[e, 3]))
        volume, C = det(D) / 6.0, cofactor(D)
        ratio = volume / volumes[e]
        if not ratio >= worst:
            worst, who = ratio, e
        weight = 0.0
        rows[:] = 0.0
        for i in range(w.size):
            if w[i] > 0.0:
                weight += w[i] * weights[i, e]
                _add_rows(edges[e, i], np.float32(w[i]), rows)
        table[0, e] = scale * weight * abs(volume)
        inverse = 1.0 / (6.0 * volume)
        for i in range(3):
            for j in range(3):
                a, b, c = C[3 * j] * inverse, C[3 * j + 1] * inverse, C[3 * j + 2] * inverse
                line = single[e, 3 * i + j]
                _combine(
                    rows[3 * i], rows[3 * i + 1], rows[3 * i + 2], np.float32(a), np.float32(b), np.float32(c), line
                )
                G[9 * e + 3 * i + j, :] = line[: G.shape[1]]
    return worst, who


@njit(cache=True, error_model="numpy")
def stiffen_elements(logs, w, table):
    """Multiply volumes times weights, table[0] (c,), by the stiffness in a pose: Eq. (36) of [XB16] in the logarithm.

    logs (m, c), or none where there is nothing to do.
    """
    for e in range(logs.shape[1] if logs.shape[0] else 0):
        total = 0.0
        for i in range(w.size):
            if w[i] > 0.0:
                total += w[i] * logs[i, e]
        table[0, e] *= np.exp(total)


@point
def _edges(x, o, a, b, c):
    """The edges from corner o to the others, as columns."""
    return (
        x[a, 0] - x[o, 0], x[b, 0] - x[o, 0], x[c, 0] - x[o, 0],
        x[a, 1] - x[o, 1], x[b, 1] - x[o, 1], x[c, 1] - x[o, 1],
        x[a, 2] - x[o, 2], x[b, 2] - x[o, 2], x[c, 2] - x[o, 2],
    )  # fmt: skip


@point
def _add_rows(edges, w, rows):
    for k in range(9):
        for j in range(rows.shape[1]):
            rows[k, j] += w * edges[k, j]


@point
def _combine(x, y, z, a, b, c, out):
    for j in range(x.size):
        out[j] = a * x[j] + b * y[j] + c * z[j]
