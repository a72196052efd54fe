"""How a choice between numbers is made, so that the last digits of a processor's sums do not make it.

Sums depend on their order, and the order on the processor. Four rules keep what is chosen free of that; whatever
chooses ranks, elements, vertices, poses or kinds of columns uses them:

- of candidates, the first whose value lies within `MARGIN` of the best (`first_largest`, `first_smallest`); in an
  order, candidates within `MARGIN` of the largest one left count as equal and come by number (`largest_first`);
- a limit is met up to `MARGIN` of it (`is_within`);
- eigenvectors of equal eigenvalues, and the signs of all, are those that `settled_turn` gives the space they span;
- displacements are recorded in single precision (`in_single`).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.linalg.jit import njit

__all__ = [
    "BEYOND",
    "MARGIN",
    "TIED",
    "first_largest",
    "first_smallest",
    "in_single",
    "is_within",
    "largest_first",
    "settled_turn",
]

FloatArray = NDArray[np.float64]
MARGIN = 1e-6
"""Values that differ by this share are equal: round-off of sums is 1e-14 to 1e-9, real differences are larger."""
TIED = 1e-6
"""Eigenvalues that differ by this share are equal: their vectors are turned by round-off over this."""
BEYOND = 2
"""Eigenvectors to find beside those kept: of equal ones all are needed to tell which come first, three in a cube."""


@njit(cache=True)
def first_largest(values: FloatArray, margin: float = MARGIN) -> int:
    """Number of the first of the values (n,), one or more, within a share of the largest; they may be infinite."""
    best = values[0]
    for value in values:
        if value > best:
            best = value
    least = best - margin * abs(best) if np.isfinite(best) else best
    for k in range(values.size):
        if values[k] >= least:
            return k
    return 0


def first_smallest(values: ArrayLike) -> int:
    """Number of the first of the values (n,) within the margin of the smallest."""
    return int(first_largest(-np.asarray(values, np.float64)))


def largest_first(values: FloatArray, count: int | None = None) -> NDArray[np.int64]:
    """Numbers of the `count` largest values (n,), all by default, largest first and equal ones by number."""
    order = np.argsort(-values, kind="stable")
    ranked, begin = values[order], 0
    count = len(values) if count is None else min(count, len(values))
    while begin < count:
        least = ranked[begin] - MARGIN * abs(ranked[begin]) if np.isfinite(ranked[begin]) else ranked[begin]
        end = begin + int(np.searchsorted(-ranked[begin:], -least, side="right"))
        order[begin:end] = np.sort(order[begin:end])
        begin = end
    return np.asarray(order[:count], np.int64)


def is_within(value: float, limit: float) -> bool:
    """Whether a value is at most a limit, or above it by no more than the margin."""
    return bool(value <= limit + MARGIN * abs(limit))


def settled_turn(values: FloatArray, vectors: FloatArray, metric: FloatArray | None = None) -> FloatArray:
    """The orthogonal T (k, k) by which eigenvectors (n, k), orthonormal in a diagonal metric (n,), are multiplied.

    Columns of V T depend on nothing but the spaces of equal eigenvalues (k,), which stand in order: seen from fixed
    random directions, those of one space are a lower triangle with a positive diagonal. Of one vector that is its sign.
    """
    rng, turn = np.random.default_rng(0), np.zeros((len(values), len(values)))
    size = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    ends = np.flatnonzero(np.append(np.abs(np.diff(values)) > TIED * size, True)) + 1
    seen_from = rng.standard_normal((int(np.diff(ends, prepend=0).max(initial=0)), len(vectors)))
    seen = seen_from @ (vectors if metric is None else np.sqrt(metric)[:, None] * vectors)
    for begin, end in zip(np.append(0, ends[:-1]), ends, strict=True):
        own = slice(begin, end)
        Q, R = np.linalg.qr(seen[: end - begin, own].T)
        turn[own, own] = Q * np.where(np.diag(R) < 0.0, -1.0, 1.0)
    return turn


def in_single(displacements: FloatArray) -> FloatArray:
    """Displacements [m] rounded to single precision, of the same shape, in double precision for sums over them."""
    return np.asarray(displacements, np.float32).astype(np.float64)
