"""Non-negative least squares on the Gram matrix: Lawson and Hanson's active set with an updated Cholesky factor.

Only AᵀA and Aᵀb are read, so the number of equations does not matter here. Stopped early, the answer is sparse.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.ties import first_largest
from supple.linalg.vectors import copy_into

__all__ = ["PIVOT", "Fit", "nnls"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PIVOT = 1e-9  #: a column whose new part is a smaller share than this of its square adds nothing but round-off
_OPTIMAL = 1e-13  # slopes below this share of the largest are zero


class Fit(NamedTuple):
    """Weights w >= 0, (n,), and the square of |A w - b| that they leave."""

    weights: FloatArray
    residual: float


def nnls(
    gram: FloatArray,
    right: FloatArray,
    square: float,
    *,
    enough: float = 0.0,
    most: int | None = None,
    first: IntArray | None = None,
) -> Fit:
    """Weights that minimise |A w - b|² given AᵀA (n, n), Aᵀb (n,) and bᵀb.

    Stops as soon as the residual's square is at most `enough` or `most` weights are positive; `first` names columns
    to try before any other.
    """
    count = len(right)
    most = count if most is None else min(most, count)
    first = np.zeros(0, np.int64) if first is None else np.asarray(first, np.int64)
    weights = np.zeros(count)
    fitted = _search(np.ascontiguousarray(gram), right, first, most, square - max(enough, 0.0), weights)
    return Fit(weights, max(square - fitted, 0.0))


_kernel = njit(cache=True, fastmath={"contract", "nsz", "reassoc"}, error_model="numpy")


@_kernel
def _append(L: FloatArray, gram: FloatArray, chosen: IntArray, size: int, new: int) -> bool:
    """Give the factor L of the chosen columns a row for a new one, unless it depends on them."""
    for i in range(size):
        total = gram[new, chosen[i]]
        for j in range(i):
            total -= L[i, j] * L[size, j]
        L[size, i] = total / L[i, i]
    pivot = gram[new, new]
    for j in range(size):
        pivot -= L[size, j] * L[size, j]
    if pivot <= PIVOT * gram[new, new]:
        return False
    L[size, size] = np.sqrt(pivot)
    return True


@_kernel
def _delete(L: FloatArray, chosen: IntArray, weight: FloatArray, size: int, gone: int) -> None:
    """Take a column out of the factor: rows move up, plane rotations make it triangular again."""
    for i in range(gone, size - 1):
        for j in range(i + 2):
            L[i, j] = L[i + 1, j]
        chosen[i] = chosen[i + 1]
        weight[i] = weight[i + 1]
    for i in range(gone, size - 1):
        radius = np.hypot(L[i, i], L[i, i + 1])
        c, s = L[i, i] / radius, L[i, i + 1] / radius
        for row in range(i, size - 1):
            a, b = L[row, i], L[row, i + 1]
            L[row, i] = c * a + s * b
            L[row, i + 1] = c * b - s * a


@_kernel
def _solve(L: FloatArray, right: FloatArray, chosen: IntArray, size: int, out: FloatArray) -> None:
    """Weights of the chosen columns without regard to their signs."""
    for i in range(size):
        total = right[chosen[i]]
        for j in range(i):
            total -= L[i, j] * out[j]
        out[i] = total / L[i, i]
    for i in range(size - 1, -1, -1):
        out[i] /= L[i, i]
        for j in range(i):
            out[j] -= L[i, j] * out[i]


@_kernel
def _retreat(
    L: FloatArray, right: FloatArray, chosen: IntArray, weight: FloatArray, trial: FloatArray, size: int
) -> int:
    """Move the weights to the least-squares ones, leaving columns behind whose weights reach zero on the way."""
    while True:
        _solve(L, right, chosen, size, trial)
        step, worst = 1.0, -1
        for i in range(size):
            if trial[i] <= 0.0:
                share = weight[i] / (weight[i] - trial[i]) if weight[i] > trial[i] else 0.0
                if share < step or worst < 0:
                    step, worst = share, i
        for i in range(size):
            weight[i] += step * (trial[i] - weight[i])
        if worst < 0:
            return size
        _delete(L, chosen, weight, size, worst)
        size -= 1


@_kernel
def _steepest(
    gram: FloatArray,
    slope: FloatArray,
    right: FloatArray,
    chosen: IntArray,
    weight: FloatArray,
    size: int,
    banned: NDArray[np.bool_],
) -> int:
    """The column along which the residual falls fastest, of those not banned; -1 when none does."""
    copy_into(right, slope)
    for i in range(size):
        row, w = gram[chosen[i]], weight[i]
        for j in range(slope.size):
            slope[j] -= w * row[j]
    for i in range(size):
        slope[chosen[i]] = -1.0
    least = 0.0
    for j in range(right.size):
        least = max(least, _OPTIMAL * abs(right[j]))
        if banned[j]:
            slope[j] = -1.0
    best = first_largest(slope)
    return best if slope[best] > least else -1


@_kernel
def _holds(chosen: IntArray, size: int, number: int) -> bool:
    """Whether a number is among the first ones."""
    found = False
    for i in range(size):
        found = found or chosen[i] == number
    return found


@_kernel
def _search(
    gram: FloatArray, right: FloatArray, first: IntArray, most: int, wanted: float, weights: FloatArray
) -> float:
    """Fill the weights; what is returned is the part of bᵀb that they explain, Aᵀb·w."""
    L = np.zeros((most + 1, most + 2))
    chosen = np.zeros(most + 1, np.int64)
    weight, trial = np.zeros(most + 1), np.zeros(most + 1)
    slope, banned = np.empty(right.size), np.zeros(right.size, np.bool_)
    size: Any = np.int64(0)  # a plain 0 has callees compiled for that number, too
    fitted, offered = 0.0, 0
    while size < most and fitted < wanted:
        if offered < first.size:
            new = first[offered]
            offered += 1
            if right[new] <= 0.0 or _holds(chosen, size, new):
                continue
        else:
            new = _steepest(gram, slope, right, chosen, weight, size, banned)
            if new < 0:
                break
        if not _append(L, gram, chosen, size, new):
            banned[new] = True
            continue
        chosen[size], weight[size] = new, 0.0
        size = _retreat(L, right, chosen, weight, trial, size + 1)
        if _holds(chosen, size, new):
            banned[:] = False
        else:
            banned[new] = True  # a column that leaves in the step it entered would come and go for ever
        fitted = 0.0
        for i in range(size):
            fitted += right[chosen[i]] * weight[i]
    for i in range(size):
        weights[chosen[i]] = weight[i]
    return fitted
