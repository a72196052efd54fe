"""Forward selection of columns by what each would take off the residual: orthogonal least squares on the Gram matrix.

The slope, by which non-negative least squares enters a column, prefers long columns to fitting ones. This costs the
same and, at small ranks above all, needs fewer columns.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.ties import first_largest
from supple.linalg.vectors import copy_into

__all__ = ["Choice", "choose_forward"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_DEPENDENT = 1e-9  # a column whose new part is a smaller share than this of its square adds nothing but round-off


class Choice(NamedTuple):
    """Numbers of columns in the order of entry, and the part of bᵀb that they explain with positive weights."""

    columns: IntArray
    explained: float


def choose_forward(
    gram: FloatArray,
    right: FloatArray,
    wanted: float,
    first: IntArray | None = None,
    *,
    together: float = 0.0,
    most: int | None = None,
) -> Choice:
    """Columns that explain `wanted` of bᵀb, or as much as they can, given AᵀA (n, n) and Aᵀb (n,); `most` at most.

    `first` names columns to enter before any other. A column whose weight later ones push below zero leaves for good.
    `together` is the share of those chosen so far of which as many enter at a time, one at least: many cost little
    more than one, and a few more of them are chosen.
    """
    first = np.zeros(0, np.int64) if first is None else np.asarray(first, np.int64)
    chosen = np.zeros(len(right) + 1, np.int64)
    most = len(right) if most is None else min(most, len(right))
    size, explained = _choose(np.ascontiguousarray(gram), right, first, wanted, chosen, together, most)
    return Choice(chosen[:size], explained)


_kernel = njit(cache=True, fastmath={"contract", "nsz", "reassoc"}, error_model="numpy")


@_kernel
def _choose(
    gram: FloatArray, right: FloatArray, first: IntArray, wanted: float, chosen: IntArray, together: float,
    most: int,
) -> tuple[int, float]:  # fmt: skip
    # Row i of V holds all columns' components along the i-th orthonormal direction of the chosen ones, y[i] that of b
    V, y, weights = np.empty((right.size + 1, right.size)), np.zeros(right.size + 1), np.zeros(right.size + 1)
    slope, left = right.copy(), np.empty(right.size)  # of b's rest along the columns, and squares of the columns' rests
    for j in range(right.size):
        left[j] = gram[j, j]
    banned = np.zeros(right.size, np.bool_)
    size: Any = np.int64(0)  # a plain 0 has callees compiled for that number, too
    offered, explained = 0, 0.0
    while explained < wanted and size < most:
        count = min(1 + int(together * size), most - size)
        if offered < first.size:
            new = first[offered : offered + count]
            offered += new.size
            least = 0.0
        else:
            new, least = _most_taken(gram, slope, left, banned, count)
            if not new.size:
                break
        size = _append(V, y, gram, slope, left, size, new, least, banned, chosen)
        worst = _solve(V, y, chosen, size, weights)
        while size > 0 and weights[worst] <= 0.0:
            size = _delete(V, y, slope, left, chosen, size, worst)
            worst = _solve(V, y, chosen, size, weights)
        explained = _square(y, size)
    return size, explained


@_kernel
def _square(y: FloatArray, size: int) -> float:
    """The sum of the squares of the first numbers."""
    total = 0.0
    for i in range(size):
        total += y[i] * y[i]
    return total


@_kernel
def _most_taken(
    gram: FloatArray, slope: FloatArray, left: FloatArray, banned: NDArray[np.bool_], most: int
) -> tuple[IntArray, float]:
    """The columns that lower the residual most, of those not banned, best first; and half of what the last of them
    would take off its square."""
    taken = np.zeros(slope.size)
    for j in range(slope.size):
        if slope[j] > 0.0 and left[j] > _DEPENDENT * gram[j, j] and not banned[j]:
            taken[j] = slope[j] * slope[j] / left[j]
    best, count, least = np.empty(most, np.int64), 0, 0.0
    while count < most:
        top = first_largest(taken)
        if taken[top] <= 0.0:
            break
        best[count], least, taken[top] = top, 0.5 * taken[top], 0.0
        count += 1
    return best[:count], least


@_kernel
def _append(
    V: FloatArray, y: FloatArray, gram: FloatArray, slope: FloatArray, left: FloatArray, size: int, new: IntArray,
    least: float, banned: NDArray[np.bool_], chosen: IntArray,
) -> int:  # fmt: skip
    """Make the rests of columns the next directions, and take them out of everything; what is returned is how many are
    chosen then. Columns of which those before them leave nothing, or too little to take `least` off, do not enter."""
    for k in range(new.size):
        copy_into(gram[new[k]], V[size + k])
    for i in range(size):
        other = V[i]
        for k in range(new.size):
            row, share = V[size + k], other[new[k]]
            for j in range(row.size):
                row[j] -= share * other[j]
    begin = size
    for k in range(new.size):
        row, one = V[begin + k], new[k]
        if banned[one] or left[one] <= _DEPENDENT * gram[one, one]:
            continue
        if least > 0.0 and (slope[one] <= 0.0 or slope[one] * slope[one] < least * left[one]):
            continue
        for i in range(begin, size):
            share, other = V[i, one], V[i]
            for j in range(row.size):
                row[j] -= share * other[j]
        scale = 1.0 / np.sqrt(left[one])
        y[size] = slope[one] * scale
        into = V[size]
        for j in range(row.size):
            into[j] = row[j] * scale
            slope[j] -= y[size] * into[j]
            left[j] -= into[j] * into[j]
        banned[one] = True  # it enters once
        chosen[size] = one
        size += 1
    return size


@_kernel
def _delete(
    V: FloatArray, y: FloatArray, slope: FloatArray, left: FloatArray, chosen: IntArray, size: int, gone: int
) -> int:
    """Take a chosen column out: rotations gather what it alone held in the last direction, which is given back."""
    for i in range(gone, size - 1):
        chosen[i] = chosen[i + 1]
        radius = np.hypot(V[i, chosen[i]], V[i + 1, chosen[i]])
        c, s = V[i, chosen[i]] / radius, V[i + 1, chosen[i]] / radius
        y[i], y[i + 1] = c * y[i] + s * y[i + 1], c * y[i + 1] - s * y[i]
        upper, lower = V[i], V[i + 1]
        for j in range(upper.size):
            a, b = upper[j], lower[j]
            upper[j] = c * a + s * b
            lower[j] = c * b - s * a
    last = V[size - 1]
    for j in range(last.size):
        slope[j] += y[size - 1] * last[j]
        left[j] += last[j] * last[j]
    return size - 1


@_kernel
def _solve(V: FloatArray, y: FloatArray, chosen: IntArray, size: int, weights: FloatArray) -> int:
    """Fill the least-squares weights of the chosen columns; what is returned is the place of the smallest."""
    worst = 0
    for i in range(size - 1, -1, -1):
        total = y[i]
        for k in range(i + 1, size):
            total -= V[i, chosen[k]] * weights[k]
        weights[i] = total / V[i, chosen[i]]
        if weights[i] < weights[worst] or i == size - 1:
            worst = i
    return worst
