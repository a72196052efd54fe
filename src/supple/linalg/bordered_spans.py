"""The border of a bordered matrix where it is not zero: a vertex knows the coordinates of few domains."""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["border_product", "find_spans"]

_STRIDE = 8  # columns that are told apart from others: spans begin and end at multiples of it


@njit(cache=True, fastmath={"reassoc"})
def find_spans(rows):
    """Columns outside which rows (k, a, r) are zero: row i has spans first[j] to last[j] for j from start[i] to
    start[i + 1]; as (start, first, last)."""
    count, axes, rank = rows.shape
    start = np.zeros(count + 1, np.int64)
    most = count * (rank // _STRIDE + 1)
    first, last = np.empty(most, np.int64), np.empty(most, np.int64)
    used, whole, sizes = 0, rank // _STRIDE, np.empty(rank // _STRIDE + 1)
    for row in range(count):
        sizes[:] = 0.0
        for axis in range(axes):
            for k in range(whole):
                for j in range(_STRIDE):
                    sizes[k] += abs(rows[row, axis, k * _STRIDE + j])
            for column in range(whole * _STRIDE, rank):
                sizes[whole] += abs(rows[row, axis, column])
        goes_on = False
        for k in range(whole + 1):
            if sizes[k] != 0.0:
                if not goes_on:
                    first[used] = k * _STRIDE
                    used += 1
                last[used - 1] = min((k + 1) * _STRIDE, rank)
            goes_on = sizes[k] != 0.0
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
