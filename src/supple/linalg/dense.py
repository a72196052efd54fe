"""Small dense symmetric systems inside compiled loops: a factor that says when there is none."""

import numpy as np

from supple.linalg.jit import njit

__all__ = ["cholesky", "cholesky_solve", "mirror"]

_TILE = 8  # numbers in a line of the cache

# Sums may be reordered into vector lanes; the order is fixed by the code, not by the run.
_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz", "reassoc"})


@_kernel
def _dot(a, b, count):
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@_kernel
def cholesky(A):
    """Overwrite the lower triangle of A (n, n) with its factor L; False where A is not positive definite."""
    n = A.shape[0]
    for j in range(n):
        row = A[j]
        pivot = row[j] - _dot(row, row, j)
        if not pivot > 1e-14 * abs(row[j]):  # also where it is not a number
            return False
        root = np.sqrt(pivot)
        row[j] = root
        whole = j + 1 + (n - j - 1) // 4 * 4
        for i in range(j + 1, whole, 4):  # four at a time: the row above is read once for them
            first, second, third, fourth = A[i], A[i + 1], A[i + 2], A[i + 3]
            a = b = c = d = 0.0
            for k in range(j):
                a += first[k] * row[k]
                b += second[k] * row[k]
                c += third[k] * row[k]
                d += fourth[k] * row[k]
            first[j] = (first[j] - a) / root
            second[j] = (second[j] - b) / root
            third[j] = (third[j] - c) / root
            fourth[j] = (fourth[j] - d) / root
        for i in range(whole, n):
            A[i, j] = (A[i, j] - _dot(A[i], row, j)) / root
    return True


@_kernel
def cholesky_solve(L, b):
    """Overwrite b (n,) with the solution of L Lᵀ x = b."""
    n = L.shape[0]
    for i in range(n):
        b[i] = (b[i] - _dot(L[i], b, i)) / L[i, i]
    for i in range(n - 1, -1, -1):
        b[i] /= L[i, i]
        value = b[i]
        for k in range(i):
            b[k] -= L[i, k] * value


@njit(cache=True)
def mirror(A):
    """Overwrite the upper triangle of A (n, n) with the lower one, tile by tile: neither is read or written across."""
    n = A.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    A[j, i] = A[i, j]
