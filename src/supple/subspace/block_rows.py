"""Sparse rows in blocks of four columns, applied to coordinates that x, y and z share: what every frame evaluates."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.linalg.jit import block_njit, njit

__all__ = ["BlockRows", "choose_rows"]

FloatArray = NDArray[np.float64]


class BlockRows(NamedTuple):
    """k rows over c columns: row i has the blocks starts[i] to starts[i + 1], block b the columns 4 b to 4 b + 3."""

    starts: NDArray[np.int64]
    """(k + 1,)"""
    blocks: NDArray[np.int32]
    """(m,)"""
    values: FloatArray
    """(m, 4)"""

    def apply(self, q: FloatArray) -> FloatArray:
        """The rows times coordinates q (c, 3): (k, 3)."""
        out = np.empty((len(self.starts) - 1, 3))
        _apply(*self, np.ascontiguousarray(q), out)
        return out

    def gather(self, fields: FloatArray, columns: int) -> FloatArray:
        """The transposed rows times fields (k, 3): (c, 3)."""
        return np.asarray(_gather(*self, fields, columns))

    def take(self, rows: NDArray[np.integer]) -> "BlockRows":
        """Chosen rows, in memory one after another."""
        starts, places = choose_rows(self.starts, rows)
        return BlockRows(starts, self.blocks[places], self.values[places])

    def matrix(self, columns: int) -> sp.csr_array:
        """The same as a matrix, (k, c)."""
        shape = len(self.starts) - 1, columns
        wide = sp.bsr_array((self.values[:, None, :], self.blocks, self.starts), shape=shape, blocksize=(1, 4))
        return sp.csr_array(wide.tocsr())


def choose_rows(starts: NDArray[np.int64], rows: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where chosen rows start if they alone are kept, and the places of what they have among that of all rows."""
    counts = np.diff(starts)[rows]
    begin = np.concatenate([[0], np.cumsum(counts)])
    return begin, np.repeat(starts[rows] - begin[:-1], counts) + np.arange(begin[-1])


@block_njit
def _apply(starts, blocks, values, q, out):
    """Four sums a coordinate, so that blocks are vectors; numbers without sign, so that none counts from the end."""
    Q = np.empty((len(q) // 4, 3, 4))
    for c in range(len(q)):
        for i in range(3):
            Q[c // 4, i, c % 4] = q[c, i]
    for row in range(len(out)):
        x0 = x1 = x2 = x3 = y0 = y1 = y2 = y3 = z0 = z1 = z2 = z3 = 0.0
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            b = np.uint64(blocks[k])
            w0, w1, w2, w3 = values[k, 0], values[k, 1], values[k, 2], values[k, 3]
            x0, x1, x2, x3 = x0 + w0 * Q[b, 0, 0], x1 + w1 * Q[b, 0, 1], x2 + w2 * Q[b, 0, 2], x3 + w3 * Q[b, 0, 3]
            y0, y1, y2, y3 = y0 + w0 * Q[b, 1, 0], y1 + w1 * Q[b, 1, 1], y2 + w2 * Q[b, 1, 2], y3 + w3 * Q[b, 1, 3]
            z0, z1, z2, z3 = z0 + w0 * Q[b, 2, 0], z1 + w1 * Q[b, 2, 1], z2 + w2 * Q[b, 2, 2], z3 + w3 * Q[b, 2, 3]
        out[row, 0], out[row, 1], out[row, 2] = x0 + x1 + (x2 + x3), y0 + y1 + (y2 + y3), z0 + z1 + (z2 + z3)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _gather(starts, blocks, values, fields, columns):
    Q = np.zeros((columns // 4, 3, 4))
    for row in range(len(starts) - 1):
        x, y, z = fields[row, 0], fields[row, 1], fields[row, 2]
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            b = np.uint64(blocks[k])
            for a in range(4):
                Q[b, 0, a] += values[k, a] * x
                Q[b, 1, a] += values[k, a] * y
                Q[b, 2, a] += values[k, a] * z
    out = np.empty((columns, 3))
    for c in range(columns):
        for i in range(3):
            out[c, i] = Q[c // 4, i, c % 4]
    return out
