"""Constraints seen from a subspace of positions: S U of some elements, and sums over all of them.

Sums run element by element over the few blocks of columns that each touches; no large sparse product is formed.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import Stencils
from supple.linalg.jit import njit
from supple.linalg.vectors import copy_into, copy_rows
from supple.subspace.block_rows import BlockRows
from supple.subspace.position_space import PositionSpace

__all__ = ["ReducedStencils", "gather_functions", "reduce_stencils", "reduced_stiffness"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReducedStencils:
    """S U of s elements: element i has the blocks starts[i] to starts[i + 1]."""

    starts: NDArray[np.int64]
    """(s + 1,)"""
    blocks: NDArray[np.int32]
    """(m,)"""
    values: FloatArray
    """(m, p, 4)"""

    def matrix(self, columns: int) -> sp.csr_array:
        """S U stacked over elements, (s p, c)."""
        wide = sp.bsr_array(
            (self.values, self.blocks, self.starts),
            shape=((len(self.starts) - 1) * self.values.shape[1], columns),
            blocksize=self.values.shape[1:],
        )
        return sp.csr_array(wide.tocsr())

    def by_rows(self) -> BlockRows:
        """The same with all elements of a row after each other, (p s, c)."""
        rows, count = self.values.shape[1], len(self.blocks)
        starts = [self.starts[:-1] + row * count for row in range(rows)]
        return BlockRows(
            np.concatenate([*starts, [rows * count]]),
            np.tile(self.blocks, rows),
            np.ascontiguousarray(self.values.transpose(1, 0, 2).reshape(-1, 4)),
        )


def reduce_stencils(stencils: Stencils, members: NDArray[np.integer], space: PositionSpace) -> ReducedStencils:
    """S U of chosen elements."""
    starts, blocks, values = _reduce(
        space.starts, space.blocks, space.values, space.size, stencils.vertices, stencils.operator,
        np.asarray(members, np.int64),
    )  # fmt: skip
    return ReducedStencils(starts, blocks, values)


def reduced_stiffness(stencils: Stencils, weight: FloatArray, space: PositionSpace) -> sp.csr_array:
    """The sum of weight UᵀSᵀS U over all elements [N/m], (c, c)."""
    rows, columns, values = _square(
        space.starts, space.blocks, space.values, space.size, stencils.vertices, stencils.operator, weight
    )
    off = rows != columns
    rows, columns = np.concatenate([rows, columns[off]]), np.concatenate([columns, rows[off]])
    values = np.concatenate([values, values[off].transpose(0, 2, 1)])
    order = np.lexsort((columns, rows))
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=space.size))])
    shape = (space.columns, space.columns)
    return sp.csr_array(sp.bsr_array((values[order], columns[order], starts), shape=shape).tocsr())


def gather_functions(
    stencils: Stencils, weight: FloatArray, functions: sp.csr_array, frames: FloatArray | None, space: PositionSpace
) -> FloatArray:
    """UᵀSᵀV of section 5 of [BEH18] with V = functions x frames, (c, k, y).

    Entry (row r of element e; function j, column y) of V is functions[e, j] frames[e, r, y]; without frames these are
    the identity.
    """
    rows = stencils.rows
    if frames is None:
        frames = np.broadcast_to(np.eye(rows), (len(stencils), rows, rows))
    out = np.zeros((space.columns, functions.shape[1], frames.shape[2]))
    _gather(
        space.starts, space.blocks, space.values, space.size, stencils.vertices, stencils.operator, weight,
        functions.indptr.astype(np.int64), functions.indices.astype(np.int32), functions.data, frames, out,
    )  # fmt: skip
    return out


@njit(cache=True, error_model="numpy")
def _widest(starts, vertices):
    """The most blocks that one element can touch."""
    most = 0
    for i in range(len(starts) - 1):
        most = max(most, starts[i + 1] - starts[i])
    return most * vertices.shape[1]


@njit(cache=True, error_model="numpy")
def _collect(starts, blocks, values, vertices, operator, e, slot, touched, product):
    """S U of element e: its blocks go into `touched`, their values into `product` (w, p, 4); returns how many.

    `slot` (k,) is -1 everywhere, and is again afterwards.
    """
    count = 0
    for a in range(vertices.shape[1]):
        v = vertices[e, a]
        for k in range(starts[v], starts[v + 1]):
            b = blocks[k]
            if slot[b] < 0:
                slot[b] = count
                touched[count] = b
                product[count] = 0.0
                count += 1
            at = slot[b]
            for r in range(operator.shape[1]):
                s = operator[e, r, a]
                for c in range(4):
                    product[at, r, c] += s * values[k, c]
    for k in range(count):
        slot[touched[k]] = -1
    return count


@njit(cache=True, error_model="numpy")
def _reduce(starts, blocks, values, size, vertices, operator, members):
    most, rows = _widest(starts, vertices), operator.shape[1]
    slot, touched, product = np.full(size, -1, np.int32), np.empty(most, np.int32), np.empty((most, rows, 4))
    begin = np.zeros(len(members) + 1, np.int64)
    for k in range(len(members)):
        begin[k + 1] = begin[k] + _collect(
            starts, blocks, values, vertices, operator, members[k], slot, touched, product
        )
    found, out = np.empty(begin[-1], np.int32), np.empty((begin[-1], rows, 4))
    for k in range(len(members)):
        count = _collect(starts, blocks, values, vertices, operator, members[k], slot, touched, product)
        order = np.argsort(touched[:count])
        for i in range(count):
            found[begin[k] + i] = touched[order[i]]
            out[begin[k] + i] = product[order[i]]
    return begin, found, out


@njit(cache=True, error_model="numpy")
def _square(starts, blocks, values, size, vertices, operator, weight):
    """Blocks (row, column, values) of the upper triangle."""
    most, rows = _widest(starts, vertices), operator.shape[1]
    slot, touched, product = np.full(size, -1, np.int32), np.empty(most, np.int32), np.empty((most, rows, 4))
    place = np.full((size, size), -1, np.int32)
    capacity, count = 16 * size, 0
    first, second = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    out = np.zeros((capacity, 4, 4))
    for e in range(len(vertices)):
        met = _collect(starts, blocks, values, vertices, operator, e, slot, touched, product)
        for i in range(met):
            for j in range(met):
                a, b = touched[i], touched[j]
                if a > b:
                    continue
                if place[a, b] < 0:
                    if count == capacity:
                        capacity *= 2
                        first, second = _grow(first, capacity), _grow(second, capacity)
                        wider = np.zeros((capacity, 4, 4))
                        for k in range(count):
                            copy_rows(out[k], wider[k])
                        out = wider
                    place[a, b] = count
                    first[count], second[count] = a, b
                    count += 1
                target = out[place[a, b]]
                for r in range(rows):
                    for c in range(4):
                        w = weight[e] * product[i, r, c]
                        for d in range(4):
                            target[c, d] += w * product[j, r, d]
    return first[:count].copy(), second[:count].copy(), out[:count].copy()


@njit(cache=True)
def _grow(array, capacity):
    wider = np.empty(capacity, array.dtype)
    copy_into(array, wider[: len(array)])
    return wider


@njit(cache=True, error_model="numpy")
def _gather(starts, blocks, values, size, vertices, operator, weight, begin, which, amount, frames, out):
    most, rows, width = _widest(starts, vertices), operator.shape[1], frames.shape[2]
    pull = np.empty(width)
    slot, touched, product = np.full(size, -1, np.int32), np.empty(most, np.int32), np.empty((most, rows, 4))
    for e in range(len(vertices)):
        met = _collect(starts, blocks, values, vertices, operator, e, slot, touched, product)
        for i in range(met):
            for c in range(4):
                for y in range(width):
                    total = 0.0
                    for r in range(rows):
                        total += product[i, r, c] * frames[e, r, y]
                    pull[y] = weight[e] * total
                target = out[4 * touched[i] + c]
                for k in range(begin[e], begin[e + 1]):
                    for y in range(width):
                        target[which[k], y] += amount[k] * pull[y]
