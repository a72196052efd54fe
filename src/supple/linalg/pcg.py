"""Conjugate gradients with the inverse diagonal blocks as preconditioner, every pass fused.

The matrix is stored in single precision: its products are summed in double, half the bytes move, and a Newton
step asks for a few digits only. Dot products are summed over fixed chunks, in order: threads change nothing.
"""

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from supple.linalg.blocks import BlockRows
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.pattern import BlockPattern

__all__ = ["ConjugateGradients"]

FloatArray = NDArray[np.float64]
_CHUNK = 512  # block rows summed as one


class ConjugateGradients:
    """Solves positive-definite systems of one pattern."""

    name = "block-Jacobi PCG"
    notices_indefinite = True

    def __init__(self, pattern: BlockPattern, max_iterations: int = 3000) -> None:
        self._rows = BlockRows.build(pattern)
        self._max_iterations = max_iterations
        self.iterations = 0
        """Iterations of the last solve."""

    def prepare(self, data: FloatArray) -> None:
        """Take the matrix whose upper triangle is `data`."""
        self._blocks = self._rows.fill(data, np.float32)
        self._inverse = _inverse_diagonal(data, self._rows.pattern)

    def solve(self, b: FloatArray, tolerance: float) -> FloatArray:
        """x with |A x - b| <= tolerance |b| in the norm of the preconditioner."""
        n = self._rows.pattern.count
        x = np.zeros((n, 3))
        work = np.zeros((4, n, 3))
        partial = np.zeros((n + _CHUNK - 1) // _CHUNK)
        done = _iterate(
            self._rows.start, self._rows.columns, self._blocks, self._inverse,
            b.reshape(n, 3), x, work, partial, tolerance, self._max_iterations,
        )  # fmt: skip
        if done < 0:
            raise NotPositiveDefinite
        self.iterations = done
        return x.ravel()

    @property
    def memory(self) -> int:
        """Bytes held."""
        return self._blocks.nbytes + self._inverse.nbytes + self._rows.columns.nbytes + self._rows.source.nbytes


def _inverse_diagonal(data: FloatArray, pattern: BlockPattern) -> FloatArray:
    """Inverses of the symmetric diagonal blocks by their cofactors, (n, 9)."""
    p, step = pattern.rows, pattern.lengths
    a, b, c = data[p], data[p + 1], data[p + 2]
    d, e, f = data[p + step], data[p + step + 1], data[p + 2 * step - 1]
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
    cofactors = np.stack([aa, bb, cc, bb, dd, ee, cc, ee, ff], axis=1)
    return np.asarray(cofactors / (a * aa + b * bb + c * cc)[:, None])


@njit(cache=True, parallel=True, fastmath={"contract", "nsz"})
def _iterate(start, columns, blocks, inverse, b, x, work, partial, tolerance, max_iterations):
    n, chunks = start.size - 1, partial.size
    r, z, p, q = work[0], work[1], work[2], work[3]
    for k in prange(chunks):
        total = 0.0
        for v in range(k * _CHUNK, min((k + 1) * _CHUNK, n)):
            for i in range(3):
                r[v, i] = b[v, i]
            for i in range(3):
                z[v, i] = (
                    inverse[v, 3 * i] * r[v, 0] + inverse[v, 3 * i + 1] * r[v, 1] + inverse[v, 3 * i + 2] * r[v, 2]
                )
                p[v, i] = z[v, i]
                total += z[v, i] * r[v, i]
        partial[k] = total
    rz = partial.sum()
    goal = tolerance * tolerance * rz
    done = 0
    while done < max_iterations and rz > goal and rz > 0.0:
        for k in prange(chunks):  # q = A p and p·q
            total = 0.0
            for v in range(k * _CHUNK, min((k + 1) * _CHUNK, n)):
                s0, s1, s2 = 0.0, 0.0, 0.0
                for m in range(start[v], start[v + 1]):
                    w = columns[m]
                    p0, p1, p2 = p[w, 0], p[w, 1], p[w, 2]
                    s0 += blocks[m, 0] * p0 + blocks[m, 1] * p1 + blocks[m, 2] * p2
                    s1 += blocks[m, 3] * p0 + blocks[m, 4] * p1 + blocks[m, 5] * p2
                    s2 += blocks[m, 6] * p0 + blocks[m, 7] * p1 + blocks[m, 8] * p2
                q[v, 0], q[v, 1], q[v, 2] = s0, s1, s2
                total += p[v, 0] * s0 + p[v, 1] * s1 + p[v, 2] * s2
            partial[k] = total
        pq = partial.sum()
        if pq <= 0.0:
            return -1  # a direction along which the matrix is not positive
        alpha = rz / pq
        for k in prange(chunks):  # the new x, r, z and r·z
            total = 0.0
            for v in range(k * _CHUNK, min((k + 1) * _CHUNK, n)):
                for i in range(3):
                    x[v, i] += alpha * p[v, i]
                    r[v, i] -= alpha * q[v, i]
                for i in range(3):
                    z[v, i] = (
                        inverse[v, 3 * i] * r[v, 0] + inverse[v, 3 * i + 1] * r[v, 1] + inverse[v, 3 * i + 2] * r[v, 2]
                    )
                    total += z[v, i] * r[v, i]
            partial[k] = total
        new = partial.sum()
        beta = new / rz
        rz = new
        for k in prange(chunks):
            for v in range(k * _CHUNK, min((k + 1) * _CHUNK, n)):
                for i in range(3):
                    p[v, i] = z[v, i] + beta * p[v, i]
        done += 1
    return done
