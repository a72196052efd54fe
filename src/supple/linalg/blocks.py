"""Both triangles of a block matrix, row by row: what a product with a vector reads in one pass."""

from dataclasses import dataclass

import numpy as np
from numba import prange
from numpy.typing import DTypeLike, NDArray

from supple.linalg.compiled import compile_copy
from supple.linalg.pattern import BlockPattern
from supple.linalg.pattern_loops import list_rows

__all__ = ["BlockRows", "fill_blocks"]

FloatArray = NDArray[np.float64]
_PARALLEL_FROM = 20_000  # block rows; fewer are done before a second thread has woken up


@dataclass(frozen=True, eq=False)
class BlockRows:
    """Where every block of every row comes from in the upper triangle of a pattern."""

    pattern: BlockPattern
    start: NDArray[np.int64]
    """(n + 1,) first block of each block row."""
    columns: NDArray[np.int32]
    source: NDArray[np.int64]
    """Position in the upper triangle of the block's first entry (of its transpose's, below the diagonal)."""

    @classmethod
    def build(cls, pattern: BlockPattern) -> "BlockRows":
        """The rows of a pattern."""
        return cls(pattern, *list_rows(pattern.rows, pattern.neighbours_start, pattern.neighbours))

    def fill(
        self, data: FloatArray, dtype: DTypeLike = np.float64, out: NDArray[np.floating] | None = None
    ) -> NDArray[np.floating]:
        """The blocks of the matrix whose upper triangle is `data`, shape (blocks, 9), in `out` where that is given."""
        out = np.empty((len(self.columns), 9), dtype) if out is None else out
        fill = _fill_parallel if self._is_large else _fill_serial
        fill(data, self.pattern.lengths, self.start, self.columns, self.source, out)
        return out

    def multiply(self, blocks: NDArray[np.floating], x: FloatArray) -> FloatArray:
        """A x for the matrix with the given blocks; x has shape (n, 3)."""
        out = np.empty_like(x)
        (_multiply_parallel if self._is_large else _multiply_serial)(self.start, self.columns, blocks, x, out)
        return out

    @property
    def _is_large(self) -> bool:
        return self.pattern.count >= _PARALLEL_FROM


def _fill(data, lengths, start, columns, source, out):
    for row in prange(start.size - 1):
        for k in range(start[row], start[row + 1]):
            column, p = columns[k], source[k]
            below = column < np.int64(row)
            step = lengths[column if below else np.int64(row)]
            if column == np.int64(row):
                a, b, c = data[p], data[p + 1], data[p + 2]
                d, e, f = data[p + step], data[p + step + 1], data[p + 2 * step - 1]
                out[k, 0], out[k, 1], out[k, 2] = a, b, c
                out[k, 3], out[k, 4], out[k, 5] = b, d, e
                out[k, 6], out[k, 7], out[k, 8] = c, e, f
            else:
                for i in range(3):
                    for j in range(3):
                        out[k, 3 * j + i if below else 3 * i + j] = data[p + j]
                    p += step - 1 - i


def _multiply(start, columns, blocks, x, out):
    for row in prange(start.size - 1):
        a, b, c = 0.0, 0.0, 0.0
        for k in range(start[row], start[row + 1]):
            v = columns[k]
            p, q, r = x[v, 0], x[v, 1], x[v, 2]
            a += blocks[k, 0] * p + blocks[k, 1] * q + blocks[k, 2] * r
            b += blocks[k, 3] * p + blocks[k, 4] * q + blocks[k, 5] * r
            c += blocks[k, 6] * p + blocks[k, 7] * q + blocks[k, 8] * r
        out[row, 0], out[row, 1], out[row, 2] = a, b, c


_fill_serial, _fill_parallel = (
    compile_copy(_fill, name, parallel=name == "parallel") for name in ("serial", "parallel")
)
_multiply_serial, _multiply_parallel = (
    compile_copy(_multiply, name, parallel=name == "parallel") for name in ("serial", "parallel")
)
fill_blocks = _fill_serial  #: for compiled loops: data, lengths, start, columns and source of `BlockRows`, out (k, 9)
