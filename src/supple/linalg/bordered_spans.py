"""The border of a bordered matrix where it is not zero: a vertex knows the coordinates of few domains."""

import numpy as np
from numba import njit

__all__ = ["border_product", "find_spans"]

_GAP = 8  # zeros that are not worth a new span


@njit(cache=True)
def find_spans(rows):
    """Columns in which rows (k, a, r) are not zero: row i has spans first[j] to last[j] for j from start[i] to
    start[i + 1]; as (start, first, last)."""
    count, axes, rank = rows.shape
    start = np.zeros(count + 1, np.int64)
    most = count * (rank // (_GAP + 1) + 1)
    first, last = np.empty(most, np.int64), np.empty(most, np.int64)
    used = 0
    for row in range(count):
        end = -_GAP - 1
        for column in range(rank):
            filled = False
            for axis in range(axes):
                filled |= rows[row, axis, column] != 0.0
            if filled:
                if column - end > _GAP:
                    first[used] = column
                    used += 1
                end = column + 1
                last[used - 1] = end
        start[row + 1] = used
    return start, first[:used].copy(), last[:used].copy()


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def border_product(edge, C, B, spans, ends, x, q, out, low):
    """Add C q to rows `edge` of out, (n, 3), and Cᵀ x and B q to low, (r,), which is zero; returns what (x, q) makes of
    all that."""
    start, first, last = ends
    total = 0.0
    for j in range(len(q)):
        for span in range(start[j], start[j + 1]):
            for i in range(first[span], last[span]):
                low[i] += B[j, i] * q[j]
    start, first, last = spans
    for k in range(len(edge)):
        row = edge[k]
        p, s, t = x[row, 0], x[row, 1], x[row, 2]
        a = b = c = 0.0
        for span in range(start[k], start[k + 1]):
            begin, end = first[span], last[span]
            one, two, three = C[k, 0, begin:end], C[k, 1, begin:end], C[k, 2, begin:end]
            values, sums = q[begin:end], low[begin:end]
            for j in range(end - begin):
                a += one[j] * values[j]
                b += two[j] * values[j]
                c += three[j] * values[j]
                sums[j] += one[j] * p + two[j] * s + three[j] * t
        out[row, 0] += a
        out[row, 1] += b
        out[row, 2] += c
        total += a * p + b * s + c * t
    for j in range(len(q)):
        total += low[j] * q[j]
    return total
