"""Symmetric systems whose rows end early: a factor that leaves out what is zero in every step.

A = R Rᵀ with R upper triangular, made from the last row up: where rows of parents end with their last child, nothing
fills in. The order of a tree in which parents come first is then the reverse of Cuthill and McKee's.
"""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["envelope_factor", "envelope_solve"]

# Sums may be reordered into vector lanes; the order is fixed by the code, not by the run.
_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


@_kernel
def _dot(a, b, begin, end):
    a, b = a[begin:end], b[begin:end]  # loops from 0 on vectorise: no index may be negative
    total = 0.0
    for k in range(a.size):
        total += a[k] * b[k]
    return total


@_kernel
def envelope_factor(A, last, shift, root):
    """Fill the upper triangle of A (n, n) with R of A + shift I, but for its diagonal, which goes to root (n,).

    Row i is zero from column last[i] on. The lower triangle and the diagonal of A are read and kept. False where there
    is no factor, as A is not positive definite.
    """
    for j in range(A.shape[0] - 1, -1, -1):
        row, end, own = A[j], last[j], A[j, j] + shift
        pivot = own - _dot(row, row, j + 1, end)
        if not pivot > 1e-14 * abs(own):  # also where it is not a number
            return False
        root[j] = np.sqrt(pivot)
        for i in range(j):
            if last[i] > j:
                A[i, j] = (row[i] - _dot(A[i], row, j + 1, min(end, last[i]))) / root[j]
    return True


@_kernel
def envelope_solve(A, last, root, b):
    """Overwrite b (n,) with the solution of R Rᵀ x = b."""
    n = A.shape[0]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - _dot(A[i], b, i + 1, last[i])) / root[i]
    for i in range(n):
        b[i] /= root[i]
        row, value, rest = A[i, i + 1 : last[i]], b[i], b[i + 1 : last[i]]
        for k in range(row.size):
            rest[k] -= row[k] * value
