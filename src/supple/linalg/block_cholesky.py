"""Cholesky factors of sparse symmetric matrices made of blocks of 4 x 4: small, factored often, solved every frame."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.jit import block_njit, njit
from supple.linalg.vectors import copy_rows

__all__ = ["BlockCholesky", "multiply_blocks"]

FloatArray = NDArray[np.float64]
B = 4


class BlockCholesky:
    """L Lᵀ = A with blocks in an order of least fill."""

    def __init__(self, matrix: sp.sparray) -> None:
        """A (4 k, 4 k), positive definite."""
        A = sp.bsr_array(matrix, blocksize=(B, B))
        A.sort_indices()
        order = _least_degree(A.indptr, A.indices, A.shape[0] // B)
        self._order = order, *_fill(A.indptr, A.indices, order)
        self._values, sound = _factor(A.indptr, A.indices, A.data, *self._order)
        if not sound:
            raise NotPositiveDefinite

    def solve(self, b: FloatArray) -> FloatArray:
        """x with A x = b, (4 k,) or (4 k, m)."""
        order, starts, rows, _, _ = self._order
        right = np.ascontiguousarray(np.reshape(b, (len(b), -1)), np.float64)
        out = np.empty_like(right)
        if right.shape[1] <= 4:
            _solve_four(order, starts, rows, self._values, right, out)
        else:
            x = right.reshape(len(order), B, -1)[order]
            _solve_lower(starts, rows, self._values, x)
            _solve_upper(starts, rows, self._values, x)
            out.reshape(len(order), B, -1)[order] = x
        return out.reshape(np.shape(b))

    def square(self, b: FloatArray, precision: type[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """bᵀ A⁻¹ b of columns b (4 k, m), as the square of L⁻¹ b."""
        order, starts, rows, _, _ = self._order
        x = np.reshape(b, (len(order), B, -1))[order]
        _solve_lower(starts, rows, self._values, x)
        half = x.reshape(len(b), -1).astype(precision)
        return np.asarray(half.T @ half)


@block_njit
def multiply_blocks(starts, columns, data, x):
    """A x of a matrix of blocks, (r, 4 b), with x (c, 3)."""
    wide, out = np.zeros((len(x), 4)), np.empty((B * (len(starts) - 1), 3))
    copy_rows(x, wide[:, :3])
    for i in range(len(starts) - 1):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
        for k in range(np.uint64(starts[i]), np.uint64(starts[i + 1])):
            first = np.uint64(B * columns[k])
            for b in range(B):
                row = first + np.uint64(b)
                x0, x1, x2, x3 = wide[row, 0], wide[row, 1], wide[row, 2], wide[row, 3]
                w0, w1, w2, w3 = data[k, 0, b], data[k, 1, b], data[k, 2, b], data[k, 3, b]
                a0, a1, a2, a3 = a0 + w0 * x0, a1 + w0 * x1, a2 + w0 * x2, a3 + w0 * x3
                b0, b1, b2, b3 = b0 + w1 * x0, b1 + w1 * x1, b2 + w1 * x2, b3 + w1 * x3
                c0, c1, c2, c3 = c0 + w2 * x0, c1 + w2 * x1, c2 + w2 * x2, c3 + w2 * x3
                d0, d1, d2, d3 = d0 + w3 * x0, d1 + w3 * x1, d2 + w3 * x2, d3 + w3 * x3
        out[B * i, 0], out[B * i, 1], out[B * i, 2] = a0, a1, a2
        out[B * i + 1, 0], out[B * i + 1, 1], out[B * i + 1, 2] = b0, b1, b2
        out[B * i + 2, 0], out[B * i + 2, 1], out[B * i + 2, 2] = c0, c1, c2
        out[B * i + 3, 0], out[B * i + 3, 1], out[B * i + 3, 2] = d0, d1, d2
    return out


@njit(cache=True)
def _least_degree(starts, columns, size):
    """Blocks in the order in which elimination joins the fewest neighbours."""
    joined = np.zeros((size, size), np.bool_)
    for i in range(size):
        for k in range(starts[i], starts[i + 1]):
            joined[i, columns[k]] = True
            joined[columns[k], i] = True
        joined[i, i] = False
    degree = np.empty(size, np.int64)
    for i in range(size):
        degree[i] = joined[i].sum()
    order = np.empty(size, np.int64)
    for step in range(size):
        chosen = np.argmin(degree)
        order[step] = chosen
        near = np.flatnonzero(joined[chosen])
        for i in near:
            joined[i, chosen] = False
            for j in near:
                joined[i, j] = True
            joined[i, i] = False
            degree[i] = joined[i].sum()
        degree[chosen] = size + 1
    return order


@njit(cache=True)
def _fill(starts, columns, order):
    """Blocks of L by columns, the diagonal first, and by rows where each column that reaches a row has its block."""
    size = len(order)
    place = np.empty(size, np.int64)
    for i in range(size):
        place[order[i]] = i
    filled = np.zeros((size, size), np.bool_)  # by columns
    for i in range(size):
        for k in range(starts[i], starts[i + 1]):
            a, b = place[i], place[columns[k]]
            filled[min(a, b), max(a, b)] = True
    begin = np.zeros(size + 1, np.int64)
    for j in range(size):
        filled[j, j] = True
        below = np.flatnonzero(filled[j])
        begin[j + 1] = begin[j] + len(below)
        if len(below) > 1:
            parent = below[1]
            for i in below[1:]:
                filled[parent, i] = True
    rows = np.empty(begin[-1], np.int64)
    counts = np.zeros(size + 1, np.int64)
    for j in range(size):
        at = begin[j]
        for i in range(j, size):
            if filled[j, i]:
                rows[at] = i
                at += 1
                counts[i + 1] += i > j
    across = np.cumsum(counts)
    entries, next_free = np.empty((across[-1], 2), np.int64), across[:-1].copy()
    for j in range(size):
        for k in range(begin[j] + 1, begin[j + 1]):
            i = rows[k]
            entries[next_free[i], 0], entries[next_free[i], 1] = j, k
            next_free[i] += 1
    return begin, rows, across, entries


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _factor(starts, columns, data, order, begin, rows, across, entries):
    """Blocks of L, those on the diagonal inverted, and whether all pivots were positive."""
    size = len(order)
    place = np.empty(size, np.int64)
    for k in range(size):
        place[order[k]] = k
    out = np.zeros((len(rows), B, B))
    work = np.zeros((size, B, B))
    for j in range(size):
        for k in range(begin[j], begin[j + 1]):
            work[rows[k]] = 0.0
        for k in range(starts[order[j]], starts[order[j] + 1]):
            i = place[columns[k]]
            if i >= j:
                for a in range(B):
                    for b in range(B):
                        work[i, a, b] = data[k, b, a]
        for at in range(across[j], across[j + 1]):
            left, first = entries[at, 0], entries[at, 1]
            D = out[first]
            for k in range(first, begin[left + 1]):
                W, L = work[rows[k]], out[k]
                for a in range(B):
                    for b in range(B):
                        W[a, b] -= L[a, 0] * D[b, 0] + L[a, 1] * D[b, 1] + L[a, 2] * D[b, 2] + L[a, 3] * D[b, 3]
        diagonal = work[j]
        inverse = out[begin[j]]
        for a in range(B):  # its own factor, in place
            for b in range(a + 1):
                total = diagonal[a, b]
                for c in range(b):
                    total -= diagonal[a, c] * diagonal[b, c]
                if a > b:
                    diagonal[a, b] = total / diagonal[b, b]
                elif total > 1e-14 * abs(diagonal[a, a]):
                    diagonal[a, a] = np.sqrt(total)
                else:
                    return out, False
        for b in range(B):
            inverse[b, b] = 1.0 / diagonal[b, b]
            for a in range(b + 1, B):
                total = 0.0
                for c in range(b, a):
                    total -= diagonal[a, c] * inverse[c, b]
                inverse[a, b] = total / diagonal[a, a]
        for k in range(begin[j] + 1, begin[j + 1]):
            W, L = work[rows[k]], out[k]
            for a in range(B):
                for b in range(B):
                    total = 0.0
                    for c in range(b + 1):
                        total += W[a, c] * inverse[b, c]
                    L[a, b] = total
    return out, True


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _solve_lower(starts, rows, values, x):
    """Overwrite x (k, 4, m) with L⁻¹ x, in the factor's order."""
    size, width = len(starts) - 1, x.shape[2]
    y = np.empty((B, width))
    for j in range(size):
        L = values[starts[j]]
        for a in range(B):
            for c in range(width):
                y[a, c] = L[a, 0] * x[j, 0, c] + L[a, 1] * x[j, 1, c] + L[a, 2] * x[j, 2, c] + L[a, 3] * x[j, 3, c]
        copy_rows(y, x[j])
        for k in range(starts[j] + 1, starts[j + 1]):
            L, target = values[k], x[rows[k]]
            for a in range(B):
                for c in range(width):
                    target[a, c] -= L[a, 0] * y[0, c] + L[a, 1] * y[1, c] + L[a, 2] * y[2, c] + L[a, 3] * y[3, c]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _solve_upper(starts, rows, values, x):
    """Overwrite x (k, 4, m) with L⁻ᵀ x, in the factor's order."""
    size, width = len(starts) - 1, x.shape[2]
    y = np.empty((B, width))
    for j in range(size - 1, -1, -1):
        copy_rows(x[j], y)
        for k in range(starts[j] + 1, starts[j + 1]):
            L, s = values[k], x[rows[k]]
            for a in range(B):
                for c in range(width):
                    y[a, c] -= L[0, a] * s[0, c] + L[1, a] * s[1, c] + L[2, a] * s[2, c] + L[3, a] * s[3, c]
        L = values[starts[j]]
        for a in range(B):
            for c in range(width):
                x[j, a, c] = L[0, a] * y[0, c] + L[1, a] * y[1, c] + L[2, a] * y[2, c] + L[3, a] * y[3, c]


@block_njit
def _solve_four(order, starts, rows, values, b, out):
    """The same for b (4 k, m), m up to 4, in the matrix's own order: 16 numbers of a block stay in registers."""
    size, width = len(order), b.shape[1]
    x = np.zeros((size, B, 4))
    for j in range(size):
        for a in range(B):
            for c in range(width):
                x[j, a, c] = b[B * order[j] + a, c]
    for j in range(size):
        first = np.uint64(starts[j])
        a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 = _read_block(x, j)
        for a in range(B):
            w0, w1, w2, w3 = values[first, a, 0], values[first, a, 1], values[first, a, 2], values[first, a, 3]
            x[j, a, 0] = w0 * a0 + w1 * b0 + w2 * c0 + w3 * d0
            x[j, a, 1] = w0 * a1 + w1 * b1 + w2 * c1 + w3 * d1
            x[j, a, 2] = w0 * a2 + w1 * b2 + w2 * c2 + w3 * d2
            x[j, a, 3] = w0 * a3 + w1 * b3 + w2 * c3 + w3 * d3
        a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 = _read_block(x, j)
        for k in range(first + np.uint64(1), np.uint64(starts[j + 1])):
            i = np.uint64(rows[k])
            for a in range(B):
                w0, w1, w2, w3 = values[k, a, 0], values[k, a, 1], values[k, a, 2], values[k, a, 3]
                x0, x1, x2, x3 = x[i, a, 0], x[i, a, 1], x[i, a, 2], x[i, a, 3]
                x[i, a, 0] = x0 - (w0 * a0 + w1 * b0 + w2 * c0 + w3 * d0)
                x[i, a, 1] = x1 - (w0 * a1 + w1 * b1 + w2 * c1 + w3 * d1)
                x[i, a, 2] = x2 - (w0 * a2 + w1 * b2 + w2 * c2 + w3 * d2)
                x[i, a, 3] = x3 - (w0 * a3 + w1 * b3 + w2 * c3 + w3 * d3)
    for j in range(size - 1, -1, -1):
        first = np.uint64(starts[j])
        a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 = _read_block(x, j)
        for k in range(first + np.uint64(1), np.uint64(starts[j + 1])):
            i = np.uint64(rows[k])
            for a in range(B):
                w0, w1, w2, w3 = values[k, a, 0], values[k, a, 1], values[k, a, 2], values[k, a, 3]
                x0, x1, x2, x3 = x[i, a, 0], x[i, a, 1], x[i, a, 2], x[i, a, 3]
                a0, a1, a2, a3 = a0 - w0 * x0, a1 - w0 * x1, a2 - w0 * x2, a3 - w0 * x3
                b0, b1, b2, b3 = b0 - w1 * x0, b1 - w1 * x1, b2 - w1 * x2, b3 - w1 * x3
                c0, c1, c2, c3 = c0 - w2 * x0, c1 - w2 * x1, c2 - w2 * x2, c3 - w2 * x3
                d0, d1, d2, d3 = d0 - w3 * x0, d1 - w3 * x1, d2 - w3 * x2, d3 - w3 * x3
        for a in range(B):
            w0, w1, w2, w3 = values[first, 0, a], values[first, 1, a], values[first, 2, a], values[first, 3, a]
            x[j, a, 0] = w0 * a0 + w1 * b0 + w2 * c0 + w3 * d0
            x[j, a, 1] = w0 * a1 + w1 * b1 + w2 * c1 + w3 * d1
            x[j, a, 2] = w0 * a2 + w1 * b2 + w2 * c2 + w3 * d2
            x[j, a, 3] = w0 * a3 + w1 * b3 + w2 * c3 + w3 * d3
    for j in range(size):
        for a in range(B):
            for c in range(width):
                out[B * order[j] + a, c] = x[j, a, c]


@njit(inline="always")
def _read_block(x, j):
    """The 16 numbers of block j."""
    return (
        x[j, 0, 0], x[j, 0, 1], x[j, 0, 2], x[j, 0, 3], x[j, 1, 0], x[j, 1, 1], x[j, 1, 2], x[j, 1, 3],
        x[j, 2, 0], x[j, 2, 1], x[j, 2, 2], x[j, 2, 3], x[j, 3, 0], x[j, 3, 1], x[j, 3, 2], x[j, 3, 3],
    )  # fmt: skip
