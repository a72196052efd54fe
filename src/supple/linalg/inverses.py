"""What preconditions conjugate gradients: inverses of blocks, and the inverse or the factor of a small dense matrix."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.jit import njit
from supple.linalg.mirror import mirror

__all__ = ["are_definite", "factorise", "invert_blocks", "invert_dense"]

FloatArray = NDArray[np.float64]


@njit(cache=True, error_model="numpy")
def invert_blocks(blocks):
    """Inverses of symmetric blocks by their cofactors, (n, 9)."""
    out = np.empty_like(blocks)
    for k in range(len(blocks)):
        a, b, c = blocks[k, 0], blocks[k, 1], blocks[k, 2]
        d, e, f = blocks[k, 4], blocks[k, 5], blocks[k, 8]
        aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
        dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
        whole = a * aa + b * bb + c * cc
        out[k, 0], out[k, 1], out[k, 2] = aa / whole, bb / whole, cc / whole
        out[k, 3], out[k, 4], out[k, 5] = bb / whole, dd / whole, ee / whole
        out[k, 6], out[k, 7], out[k, 8] = cc / whole, ee / whole, ff / whole
    return out


@njit(cache=True)
def are_definite(blocks):
    """Whether symmetric blocks, (n, 9), are positive definite, by their leading minors."""
    for k in range(len(blocks)):
        a, b, c = blocks[k, 0], blocks[k, 1], blocks[k, 2]
        d, e, f = blocks[k, 4], blocks[k, 5], blocks[k, 8]
        minor = a * d - b * b
        if not (a > 0.0 and minor > 0.0 and f * minor > a * e * e - 2.0 * b * c * e + d * c * c):
            return False
    return True


def invert_dense(matrix: FloatArray, *, bends: bool = False) -> FloatArray:
    """The inverse of a positive-definite matrix, which may be empty.

    `bends`: where it is not, that of the matrix with the sizes of its eigenvalues."""
    if not len(matrix):
        return matrix
    factor, failed = dpotrf(matrix, lower=True)
    if failed:
        values, vectors = _eigen_sizes(matrix, bends)
        return np.ascontiguousarray((vectors / values) @ vectors.T)
    inverse, _ = dpotri(factor, lower=True)
    return mirror(inverse.T)


def factorise(matrix: FloatArray, *, bends: bool) -> FloatArray:
    """L of a symmetric matrix A = L Lᵀ, which is overwritten and may be empty; what is above the diagonal is not zero.

    `bends`: where A is not positive definite, L is of the matrix with the sizes of its eigenvalues."""
    if not len(matrix):
        return matrix
    # Rows in memory are columns to LAPACK, whose upper factor is our lower one; nothing is copied
    factor, failed = dpotrf((matrix.copy() if bends else matrix).T, lower=False, clean=False, overwrite_a=True)
    if not failed:
        return np.asarray(factor.T)
    values, vectors = _eigen_sizes(matrix, bends)
    return factorise((vectors * values) @ vectors.T, bends=False)


def _eigen_sizes(matrix: FloatArray, bends: bool) -> tuple[FloatArray, FloatArray]:
    """Sizes of the eigenvalues of a symmetric matrix that is not definite, and its eigenvectors, where it `bends`."""
    if not bends:
        raise NotPositiveDefinite
    values, vectors = np.linalg.eigh(matrix)
    return np.maximum(np.abs(values), 1e-12 * np.abs(values).max()), vectors
