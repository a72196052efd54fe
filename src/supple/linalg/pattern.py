"""Where the 3x3 blocks of a symmetric matrix live: the upper triangle in compressed rows, fixed once.

A vertex is a block row. Row 3a + i of the matrix holds the entries of the diagonal block from its diagonal on, then
three entries for each neighbour b > a: what a direct solver for positive-definite matrices reads.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu

__all__ = ["BlockPattern", "Pattern", "UpperPattern"]

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class Pattern(Protocol):
    """What a direct solver must know: the upper triangle of a symmetric matrix in compressed rows."""

    @property
    def size(self) -> int: ...
    @property
    def nonzeros(self) -> int: ...
    @property
    def indptr(self) -> IntArray: ...
    @property
    def indices(self) -> IntArray: ...
    def to_scipy(self, data: FloatArray) -> csr_array: ...


@dataclass(frozen=True, eq=False)
class UpperPattern:
    """The upper triangle of any symmetric matrix."""

    indptr: IntArray
    indices: IntArray

    @classmethod
    def of(cls, matrix: csr_array) -> tuple["UpperPattern", FloatArray]:
        """The pattern of a symmetric matrix, with its entries."""
        upper = triu(matrix, format="csr")
        upper.sort_indices()
        return cls(upper.indptr.astype(np.int32), upper.indices.astype(np.int32)), upper.data.astype(np.float64)

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def nonzeros(self) -> int:
        """Number of stored entries."""
        return len(self.indices)

    def to_scipy(self, data: FloatArray) -> csr_array:
        """The whole matrix."""
        upper = csr_array((data, self.indices, self.indptr), shape=(self.size, self.size))
        return csr_array(upper + triu(upper, k=1).T)


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """Sparsity of a symmetric matrix of `count` block rows."""

    count: int
    neighbours_start: NDArray[np.int64]
    """(count + 1,) where the later neighbours of each block row begin."""
    neighbours: IntArray
    """Later neighbours of every block row, ascending."""

    @classmethod
    def build(cls, count: int, first: NDArray[np.integer], second: NDArray[np.integer]) -> "BlockPattern":
        """Pattern of the pairs (first < second), each named any number of times."""
        keys = np.unique(first.astype(np.int64) * count + second)
        rows, columns = np.divmod(keys, count)
        start = np.zeros(count + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=count), out=start[1:])
        return cls(count, start, columns.astype(np.int32))

    @property
    def size(self) -> int:
        """Number of scalar rows."""
        return 3 * self.count

    @property
    def nonzeros(self) -> int:
        """Number of stored scalars."""
        return 6 * self.count + 9 * len(self.neighbours)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Entries in the first scalar row of each block row; the two below have one and two fewer."""
        return 3 + 3 * np.diff(self.neighbours_start)

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """Position of the diagonal entry of each block row's first scalar row."""
        return np.concatenate([[0], np.cumsum(3 * self.lengths - 3)[:-1]]).astype(np.int64)

    @cached_property
    def diagonal(self) -> NDArray[np.int64]:
        """Positions of the scalar diagonal, (3 count,)."""
        offset = np.stack([np.zeros_like(self.lengths), self.lengths, 2 * self.lengths - 1], axis=1)
        return (self.rows[:, None] + offset).ravel()

    def slots(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.int64]:
        """Position of the first entry of the blocks (first < second); all must be in the pattern."""
        owner = np.repeat(np.arange(self.count), np.diff(self.neighbours_start))
        keys = owner * np.int64(self.count) + self.neighbours
        place = np.searchsorted(keys, first.astype(np.int64) * self.count + second)
        return np.asarray(self.rows[first] + 3 + 3 * (place - self.neighbours_start[first]))

    @cached_property
    def indptr(self) -> IntArray:
        """Start of every scalar row, (3 count + 1,)."""
        counts = (self.lengths[:, None] - np.arange(3)).ravel()
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    @cached_property
    def indices(self) -> IntArray:
        """Column of every stored scalar."""
        columns = np.empty(self.nonzeros, np.int32)
        base = 3 * np.arange(self.count, dtype=np.int32)
        within = np.arange(len(self.neighbours)) - np.repeat(self.neighbours_start[:-1], np.diff(self.neighbours_start))
        for i in range(3):
            row = self.indptr[i:-1:3].astype(np.int64)
            for j in range(i, 3):
                columns[row + j - i] = base + j
            entries = np.repeat(row + 3 - i, np.diff(self.neighbours_start)) + 3 * within
            for j in range(3):
                columns[entries + j] = 3 * self.neighbours + j
        return columns

    def to_scipy(self, data: FloatArray) -> csr_array:
        """The whole symmetric matrix, for tests and for solvers that want both triangles."""
        upper = csr_array((data, self.indices, self.indptr), shape=(self.size, self.size))
        diagonal = upper.diagonal()
        whole = csr_array(upper + upper.T)
        whole.setdiag(diagonal)
        return whole
