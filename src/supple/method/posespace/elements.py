"""The elements of a pose: measured against the rest shape of the moment, and seen from the basis of the moment."""

import numpy as np

from supple.linalg.jit import njit
from supple.linalg.small import cofactor, det, matmul_tn, point

__all__ = ["pad_width", "pose_elements", "stiffen_elements"]


def pad_width(rank: int) -> int:
    """Columns to store for so many: whole vectors of the processor, where that does not add much."""
    unit = 16 if rank < 64 else 8
    return -(-rank // unit) * unit


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def pose_elements(edges, spans, weights, volumes, corners, w, placed, turning, R, scale, single, table):
    """Fill `single` (c, 9, k) with G, and table[0] with volumes times weights; the least ratio of an element's volume
    to its own at rest, and whose it is.

    edges: what the columns change from the first corner to corner a + 1 along axis i, at 3 i + a, (m, 9, columns) of
    one element after another; spans (c, 2): where those of an element begin, and how many columns it knows.
    placed [m] (v, 3) in the world, corners (c, 4) among them, R the root's turn. If columns are turning with the flesh,
    its turns stand beside the places, (v, 12), edges are the columns at the corners, (m, 12, columns), and R is the
    unit.
    """
    lines = 12 if turning else 9
    turn = (R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2])
    worst, who = np.inf, 0
    rows, active = np.empty(12 * single.shape[2], np.float32), np.flatnonzero(w > 0.0)
    there = np.empty(12 * single.shape[2] if turning else 0, np.float32)
    for e in range(corners.shape[0]):
        D = matmul_tn(turn, _edges(placed, corners[e, 0], corners[e, 1], corners[e, 2], corners[e, 3]))
        volume, C = det(D) / 6.0, cofactor(D)
        ratio = volume / volumes[e]
        if not ratio >= worst:
            worst, who = ratio, e
        weight, width = 0.0, spans[e, 1]
        for a in range(active.size):
            i = active[a]
            weight += w[i] * weights[i, e]
            at = spans[e, 0] + lines * width * i
            _add_rows(edges[at : at + lines * width], np.float32(w[i]), a == 0, rows[: lines * width])
        if turning:
            for a in range(4):
                _turn_corner(
                    rows[3 * a * width : 3 * (a + 1) * width], placed[corners[e, a]],
                    there[3 * a * width : 3 * (a + 1) * width],
                )  # fmt: skip
            for i in range(3):
                for a in range(3):
                    _subtract(
                        there[(3 * a + 3 + i) * width : (3 * a + 4 + i) * width], there[i * width : (i + 1) * width],
                        rows[(3 * i + a) * width : (3 * i + a + 1) * width],
                    )  # fmt: skip
        table[0, e] = scale * weight * abs(volume)
        inverse = 1.0 / (6.0 * volume)
        for i in range(3):
            _combine(
                rows[3 * i * width : 3 * (i + 1) * width],
                np.float32(C[0] * inverse), np.float32(C[1] * inverse), np.float32(C[2] * inverse),
                np.float32(C[3] * inverse), np.float32(C[4] * inverse), np.float32(C[5] * inverse),
                np.float32(C[6] * inverse), np.float32(C[7] * inverse), np.float32(C[8] * inverse),
                single[e, 3 * i, :width], single[e, 3 * i + 1, :width], single[e, 3 * i + 2, :width],
            )  # fmt: skip
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
def _add_rows(edges, w, is_first, rows):
    if is_first:
        for j in range(rows.size):
            rows[j] = w * edges[j]
    else:
        for j in range(rows.size):
            rows[j] += w * edges[j]


@point
def _combine(rows, a, b, c, d, e, f, g, h, i, first, second, third):
    """Three rows of k, one after another, times a matrix, to three (k,)."""
    width = first.size
    for j in range(width):
        x, y, z = rows[j], rows[width + j], rows[2 * width + j]
        first[j] = a * x + b * y + c * z
        second[j] = d * x + e * y + f * z
        third[j] = g * x + h * y + i * z


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _turn_corner(rows, place, out):
    """Three rows of k, one after another, by the turn of a vertex beside its place, (12,)."""
    width = rows.size // 3
    _combine(
        rows,
        np.float32(place[3]), np.float32(place[4]), np.float32(place[5]),
        np.float32(place[6]), np.float32(place[7]), np.float32(place[8]),
        np.float32(place[9]), np.float32(place[10]), np.float32(place[11]),
        out[:width], out[width : 2 * width], out[2 * width :],
    )  # fmt: skip


@point
def _subtract(a, b, out):
    for j in range(out.size):
        out[j] = a[j] - b[j]
