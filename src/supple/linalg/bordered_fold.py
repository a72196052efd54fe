"""Products of a sparse matrix of blocks with rows U that follow few coordinates each, without the zeros of these."""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["fold_square", "fold_wide"]


@njit(cache=True, fastmath={"contract", "nsz"})
def _add(block, U, first, width, at, out):
    """Add A U to coordinates `at` and on of out (3, r), for a block of nine and U (3, width) at `first` of a list."""
    for j in range(width):
        p, s, t = U[first + j], U[first + width + j], U[first + 2 * width + j]
        out[0, at + j] += block[0] * p + block[1] * s + block[2] * t
        out[1, at + j] += block[3] * p + block[4] * s + block[5] * t
        out[2, at + j] += block[6] * p + block[7] * s + block[8] * t


@njit(cache=True)
def fold_wide(rows, begin, end, columns, blocks, first, start, at, width, place, U, out):
    """Add A U of chosen block rows, each from its block `begin` to its block `end`, to out (k, 3, r).

    Columns from `first` on have entries start[v] to start[v + 1]: `width` coordinates from `at` on, and their rows
    (3, width) from `place` on in the list U.
    """
    for k in range(len(rows)):
        for m in range(begin[rows[k]], end[rows[k]]):
            v = columns[m] - first
            for e in range(start[v], start[v + 1]):
                _add(blocks[m], U, place[e], width[e], at[e], out[k])


@njit(cache=True, fastmath={"contract", "nsz"})
def fold_square(rows, begin, end, columns, blocks, first, start, at, width, place, U, out):
    """Add Uᵀ A U of chosen block rows and columns, all from `first` on, to out (r, r)."""
    moved, widths = np.zeros((3, len(out))), np.zeros(len(out), np.int64)
    met = np.empty(len(out), np.int64)
    for row in rows:
        count = 0
        for m in range(begin[row], end[row]):
            v = columns[m] - first
            for e in range(start[v], start[v + 1]):
                _add(blocks[m], U, place[e], width[e], at[e], moved)
                if not widths[at[e]]:
                    widths[at[e]], met[count] = width[e], at[e]
                    count += 1
        for k in range(count):
            left = met[k]
            right = left + widths[left]
            for f in range(start[row - first], start[row - first + 1]):
                w, p = width[f], place[f]
                for i in range(w):
                    a, b, c, target = U[p + i], U[p + w + i], U[p + 2 * w + i], out[at[f] + i]
                    for j in range(left, right):
                        target[j] += a * moved[0, j] + b * moved[1, j] + c * moved[2, j]
            for j in range(left, right):
                moved[0, j] = moved[1, j] = moved[2, j] = 0.0
            widths[left] = 0
