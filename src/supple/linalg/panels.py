"""Columns of a sparse factor in panels of four, and substitution through them for x, y and z at once."""

import numpy as np

from supple.linalg.jit import block_njit, njit

__all__ = ["lay_panels", "substitute"]

_WASTE = 1.3  # numbers of a panel over those of its columns, at most: more zeros cost more than they save


@njit(cache=True)
def lay_panels(start, rows, values):
    """Panels of the columns of L below the diagonal: (first, begin, below, wide, corner, thin).

    Panel p begins with column first[p] and ends before first[p + 1], after one column or four. Of its rows
    below[begin[p] : begin[p + 1]] single columns have numbers in `thin`, four have one each in `wide`, (k, 4), and six
    more, column by column, where they meet each other, in `corner`, (panels, 6).
    """
    count, most = len(start) - 1, start[-1]
    first, begin = np.empty(count + 1, np.int64), np.zeros(count + 1, np.int64)
    below, union = np.empty(most, np.int32), np.empty(count, np.int32)
    seen, place = np.full(count, -1, np.int64), np.empty(count, np.int64)
    wide, thin = np.zeros((int(_WASTE * most) // 4 + 1, 4)), np.empty(most)
    corner, panels, at, j = np.zeros((count, 6)), 0, 0, 0
    used_wide = used_thin = 0
    while j < count:
        first[panels] = j
        size, entries = 0, 0
        is_chain = j + 3 < count
        for k in range(j, min(j + 3, count - 1)):
            is_chain = is_chain and start[k + 1] > start[k] and rows[start[k]] == k + 1
        if is_chain:
            for k in range(j, j + 4):
                for e in range(start[k], start[k + 1]):
                    entries += 1
                    if rows[e] > j + 3 and seen[rows[e]] != panels:
                        seen[rows[e]] = panels
                        union[size] = rows[e]
                        size += 1
            is_chain = 4 * size + 6 <= _WASTE * entries
        if is_chain:
            union[:size].sort()
            for k in range(size):
                below[at + k], place[union[k]] = union[k], used_wide + k
            for k in range(j, j + 4):
                for e in range(start[k], start[k + 1]):
                    if rows[e] > j + 3:
                        wide[place[rows[e]], k - j] = values[e]
                    else:
                        corner[panels, (0, 3, 5)[k - j] + rows[e] - k - 1] = values[e]
            used_wide += size
            j += 4
        else:
            size = start[j + 1] - start[j]
            for e in range(size):
                below[at + e], thin[used_thin + e] = rows[start[j] + e], values[start[j] + e]
            used_thin += size
            j += 1
        at += size
        panels += 1
        begin[panels] = at
    first[panels] = count
    return (
        first[: panels + 1].copy(), begin[: panels + 1].copy(), below[:at].copy(), wide[:used_wide].copy(),
        corner[:panels].copy(), thin[:used_thin].copy(),
    )  # fmt: skip


@block_njit
def substitute(first, begin, below, wide, corner, thin, inverse, b, out):
    """out = (L D Lᵀ)⁻¹ b, both (n, 3) and perhaps the same: forward through the panels, and back."""
    count, panels = len(b), len(first) - 1
    x = np.empty((count, 4))  # the fourth makes rows whole vectors
    for i in range(count):
        x[i, 0], x[i, 1], x[i, 2], x[i, 3] = b[i, 0], b[i, 1], b[i, 2], 0.0
    at_wide = at_thin = np.uint64(0)
    for p in range(panels):
        j, last = np.uint64(first[p]), np.uint64(begin[p + 1])
        a0, a1, a2, a3 = x[j, 0], x[j, 1], x[j, 2], x[j, 3]
        if first[p + 1] - first[p] == 1:
            for k in range(np.uint64(begin[p]), last):
                i, w = np.uint64(below[k]), thin[at_thin]
                at_thin += np.uint64(1)
                x0, x1, x2, x3 = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
                x[i, 0], x[i, 1], x[i, 2], x[i, 3] = x0 - w * a0, x1 - w * a1, x2 - w * a2, x3 - w * a3
            continue
        j1, j2, j3, w = j + np.uint64(1), j + np.uint64(2), j + np.uint64(3), corner[p]
        b0, b1, b2, b3 = x[j1, 0] - w[0] * a0, x[j1, 1] - w[0] * a1, x[j1, 2] - w[0] * a2, x[j1, 3] - w[0] * a3
        c0, c1 = x[j2, 0] - w[1] * a0 - w[3] * b0, x[j2, 1] - w[1] * a1 - w[3] * b1
        c2, c3 = x[j2, 2] - w[1] * a2 - w[3] * b2, x[j2, 3] - w[1] * a3 - w[3] * b3
        d0, d1 = x[j3, 0] - w[2] * a0 - w[4] * b0 - w[5] * c0, x[j3, 1] - w[2] * a1 - w[4] * b1 - w[5] * c1
        d2, d3 = x[j3, 2] - w[2] * a2 - w[4] * b2 - w[5] * c2, x[j3, 3] - w[2] * a3 - w[4] * b3 - w[5] * c3
        x[j1, 0], x[j1, 1], x[j1, 2], x[j1, 3] = b0, b1, b2, b3
        x[j2, 0], x[j2, 1], x[j2, 2], x[j2, 3] = c0, c1, c2, c3
        x[j3, 0], x[j3, 1], x[j3, 2], x[j3, 3] = d0, d1, d2, d3
        for k in range(np.uint64(begin[p]), last):
            i = np.uint64(below[k])
            w0, w1, w2, w3 = wide[at_wide, 0], wide[at_wide, 1], wide[at_wide, 2], wide[at_wide, 3]
            at_wide += np.uint64(1)
            x0, x1, x2, x3 = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
            x[i, 0] = x0 - (w0 * a0 + w1 * b0 + w2 * c0 + w3 * d0)
            x[i, 1] = x1 - (w0 * a1 + w1 * b1 + w2 * c1 + w3 * d1)
            x[i, 2] = x2 - (w0 * a2 + w1 * b2 + w2 * c2 + w3 * d2)
            x[i, 3] = x3 - (w0 * a3 + w1 * b3 + w2 * c3 + w3 * d3)
    _back(first, begin, below, wide, corner, thin, inverse, x)
    for i in range(count):
        out[i, 0], out[i, 1], out[i, 2] = x[i, 0], x[i, 1], x[i, 2]


@block_njit
def _back(first, begin, below, wide, corner, thin, inverse, x):
    """x (n, 4) = L⁻ᵀ D⁻¹ x."""
    at_wide, at_thin, one = np.uint64(len(wide)), np.uint64(len(thin)), np.uint64(1)
    for p in range(len(first) - 2, -1, -1):
        j, d, begun, size = np.uint64(first[p]), inverse[first[p]], np.uint64(begin[p]), begin[p + 1] - begin[p]
        a0, a1, a2, a3 = d * x[j, 0], d * x[j, 1], d * x[j, 2], d * x[j, 3]
        if first[p + 1] - first[p] == 1:
            at_thin -= np.uint64(size)
            for k in range(np.uint64(size)):
                i, w = np.uint64(below[begun + k]), thin[at_thin + k]
                a0, a1, a2, a3 = a0 - w * x[i, 0], a1 - w * x[i, 1], a2 - w * x[i, 2], a3 - w * x[i, 3]
            x[j, 0], x[j, 1], x[j, 2], x[j, 3] = a0, a1, a2, a3
            continue
        j1, j2, j3, c = j + one, j + one + one, j + one + one + one, corner[p]
        d = inverse[j1]
        b0, b1, b2, b3 = d * x[j1, 0], d * x[j1, 1], d * x[j1, 2], d * x[j1, 3]
        d = inverse[j2]
        c0, c1, c2, c3 = d * x[j2, 0], d * x[j2, 1], d * x[j2, 2], d * x[j2, 3]
        d = inverse[j3]
        d0, d1, d2, d3 = d * x[j3, 0], d * x[j3, 1], d * x[j3, 2], d * x[j3, 3]
        at_wide -= np.uint64(size)
        for k in range(np.uint64(size)):
            i, e = np.uint64(below[begun + k]), at_wide + k
            w0, w1, w2, w3 = wide[e, 0], wide[e, 1], wide[e, 2], wide[e, 3]
            x0, x1, x2, x3 = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
            a0, a1, a2, a3 = a0 - w0 * x0, a1 - w0 * x1, a2 - w0 * x2, a3 - w0 * x3
            b0, b1, b2, b3 = b0 - w1 * x0, b1 - w1 * x1, b2 - w1 * x2, b3 - w1 * x3
            c0, c1, c2, c3 = c0 - w2 * x0, c1 - w2 * x1, c2 - w2 * x2, c3 - w2 * x3
            d0, d1, d2, d3 = d0 - w3 * x0, d1 - w3 * x1, d2 - w3 * x2, d3 - w3 * x3
        c0, c1, c2, c3 = c0 - c[5] * d0, c1 - c[5] * d1, c2 - c[5] * d2, c3 - c[5] * d3
        b0, b1 = b0 - c[3] * c0 - c[4] * d0, b1 - c[3] * c1 - c[4] * d1
        b2, b3 = b2 - c[3] * c2 - c[4] * d2, b3 - c[3] * c3 - c[4] * d3
        a0, a1 = a0 - c[0] * b0 - c[1] * c0 - c[2] * d0, a1 - c[0] * b1 - c[1] * c1 - c[2] * d1
        a2, a3 = a2 - c[0] * b2 - c[1] * c2 - c[2] * d2, a3 - c[0] * b3 - c[1] * c3 - c[2] * d3
        x[j, 0], x[j, 1], x[j, 2], x[j, 3] = a0, a1, a2, a3
        x[j1, 0], x[j1, 1], x[j1, 2], x[j1, 3] = b0, b1, b2, b3
        x[j2, 0], x[j2, 1], x[j2, 2], x[j2, 3] = c0, c1, c2, c3
        x[j3, 0], x[j3, 1], x[j3, 2], x[j3, 3] = d0, d1, d2, d3
