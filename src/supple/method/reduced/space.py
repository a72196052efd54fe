"""Spaces of coordinates: how they reach elements, and how a step is found from the stiffness of these.

The functions are names in the templates of Newton's method (method/reduced/newton.py): here those of one space for the
whole body; others are one for each domain (method/articulated/domain_newton.py) and for regions
(method/posespace/regions.py).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import prange

from supple.cubature.reduced_stiffness import square_rows
from supple.linalg.dense import cholesky, cholesky_solve
from supple.linalg.jit import njit

__all__ = ["WHOLE", "SpaceLoops", "begin_of"]


class SpaceLoops(NamedTuple):
    """How coordinates reach elements and how a step is found from the stiffness; G is whatever these take it to be."""

    rank_of: Callable[..., Any]
    """rank_of(G): the number of coordinates."""
    strain: Callable[..., Any]
    """strain(G, q, F): fill F with G q."""
    gather: Callable[..., Any]
    """gather(P, G, out): fill out with Gᵀ P."""
    square: Callable[..., Any]
    """A template; square(address, single, G, F, table, bounds, form, L, signs, stack, pieces): the stiffness."""
    join: Callable[..., Any]
    """join(pieces, G, K): its lower triangle in place of what K held."""
    factor: Callable[..., Any]
    """factor(K, G): False where K is not positive definite."""
    strengthen: Callable[..., Any]
    """strengthen(K, G): factor K with a little stiffness given to motions that cost nothing; False if in vain."""
    solve: Callable[..., Any]
    """solve(K, G, d): overwrite d with the solution."""
    couple: Callable[..., Any]
    """couple(G, touch): G where contacts tie coordinates to each other as well."""
    name: str


@njit(cache=True)
def begin_of(groups, k):
    """Where the stiffness of a group of elements stands among those of all, each of the rank of its coordinates."""
    begin = 0
    for i in range(k):
        begin += (groups[i, 3] - groups[i, 2]) ** 2
    return begin


@njit(cache=True)
def _rank_of(G):
    return G.shape[1]


@njit(cache=True)
def _strain(G, q, F):
    np.dot(G, q, F)


@njit(cache=True)
def _gather(P, G, out):
    np.dot(P, G, out)


def _square(address, single, G, F, table, bounds, form, L, signs, stack, halves):
    """The stiffness of both halves of the elements, each the lower triangle of its matrix."""
    count = single.shape[0]
    for half in prange(2):
        begin, end = half * count // 2, (half + 1) * count // 2
        roots(F, table, bounds, 0, begin, end, L, signs)
        square_rows(address, single, L, signs, begin, end, form, stack, halves[half])


@njit(cache=True)
def _sum_halves(halves, G, K):
    K[:] = 0.0
    for i in range(halves.shape[1]):
        for j in range(i + 1):
            K[i, j] = np.float64(halves[0, i, j]) + np.float64(halves[1, i, j])


@njit(cache=True)
def _factor(K, G):
    return cholesky(K)


@njit(cache=True)
def _solve(K, G, d):
    cholesky_solve(K, d)


@njit(cache=True)
def _strengthen(K, G):
    n = K.shape[0]
    diagonal = np.empty(n)
    for i in range(n):
        diagonal[i] = K[i, i]
        for j in range(i):
            K[j, i] = K[i, j]  # the upper triangle keeps what the factor overwrites
    shift = 0.0
    for _ in range(8):
        for i in range(n):
            K[i, i] = diagonal[i] + shift
            for j in range(i):
                K[i, j] = K[j, i]
        if cholesky(K):
            return True
        shift = max(100.0 * shift, 1e-9 * np.abs(diagonal).mean())
    return False


@njit(cache=True)
def _couple(G, touch):
    return G


#: One space for all elements: G is an array (9 c, r), pieces are two halves (2, r, r).
WHOLE = SpaceLoops(_rank_of, _strain, _gather, _square, _sum_halves, _factor, _strengthen, _solve, _couple, "whole")
