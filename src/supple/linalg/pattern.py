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

from supple.linalg.pattern_loops import find_later, find_slots

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

    def is_like(self, other: "UpperPattern") -> bool:
        """Whether both store the same entries."""
        return np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)

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
        one, other = (np.ascontiguousarray(some, np.int64).ravel() for some in (first, second))
        return cls(count, *find_later(count, one, other))

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

    @cached_property
    def keys(self) -> NDArray[np.int64]:
        """One ascending number for every pair, first * count + second."""
        first, second = self.pairs
        return first * np.int64(self.count) + second

    @cached_property
    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The block rows (first < second) of every pair."""
        first = np.repeat(np.arange(self.count), np.diff(self.neighbours_start))
        return first, self.neighbours.astype(np.int64)

    def holds(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Which of the pairs (first < second) are in the pattern."""
        wanted = first.astype(np.int64) * self.count + second
        if not len(self.keys):
            return np.zeros(len(wanted), np.bool_)
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.asarray(self.keys[place] == wanted)

    def slots(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.int64]:
        """Position of the first entry of the blocks (first < second); all must be in the pattern."""
        one, other = (np.ascontiguousarray(some, np.int64).ravel() for some in (first, second))
        found = find_slots(one, other, self.rows, self.neighbours_start, self.neighbours)
        return np.asarray(found.reshape(np.shape(first)))

    def block_entries(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.int64]:
        """Positions of the nine entries of the blocks (first < second), (k, 9); all must be in the pattern."""
        slot, length = self.slots(first, second), self.lengths[first]
        rows = np.stack([slot, slot + length - 1, slot + 2 * length - 3], axis=1)
        return np.asarray((rows[:, :, None] + np.arange(3)).reshape(-1, 9))

    def diagonal_entries(self, rows: NDArray[np.integer]) -> NDArray[np.int64]:
        """Positions of the six stored entries of the diagonal blocks of the given block rows, (k, 6)."""
        row, length = self.rows[rows], self.lengths[rows]
        return np.stack([row, row + 1, row + 2, row + length, row + length + 1, row + 2 * length - 1], axis=1)

    def places_in(self, other: "BlockPattern", rows: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Position in a pattern that covers this one of every entry; `rows` number the block rows there."""
        own = np.arange(self.count)
        rows = own if rows is None else rows
        first, second = self.pairs
        places = np.empty(self.nonzeros, np.int64)
        places[self.block_entries(first, second)] = other.block_entries(rows[first], rows[second])
        places[self.diagonal_entries(own)] = other.diagonal_entries(rows)
        return places

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
