"""The space of a body in domains, as Newton's method sees it (method/reduced/newton.py).

The stiffness of elements has one block a domain; springs and loads couple neighbours. Zeros between domains that share
no border are hardly computed with. G stands for (G (9 c, w), groups (g, 4), last (r,), root (r,)): packed products,
where rows of the stiffness end, and the diagonal of its factor; pieces are the blocks, one after another.
"""

import numpy as np
from numba import prange

from supple.cubature.packed_products import gather_packed, strain_packed
from supple.cubature.reduced_stiffness import square_rows
from supple.linalg.envelope import envelope_factor, envelope_solve
from supple.linalg.jit import njit
from supple.method.reduced.space import SpaceLoops, begin_of

__all__ = ["DOMAINS", "reach"]


@njit(cache=True)
def _rank_of(G):
    return G[2].size


@njit(cache=True)
def _strain(G, q, F):
    strain_packed(G[0], G[1], q, F)


@njit(cache=True)
def _gather(P, G, out):
    gather_packed(P, G[0], G[1], out)


def _square(address, single, G, F, table, bounds, form, L, signs, stack, pieces):
    """The stiffness of every group of elements, the lower triangle of its block."""
    groups = G[1]
    for k in prange(groups.shape[0]):
        begin, end, rank = groups[k, 0], groups[k, 1], groups[k, 3] - groups[k, 2]
        at = begin_of(groups, k)
        roots(F, table, bounds, 0, begin, end, L, signs)
        block = pieces[at : at + rank * rank].reshape(rank, rank)
        square_rows(address, single, L, signs, begin, end, form, stack, block)


@njit(cache=True)
def _join(pieces, G, K):
    K[:] = 0.0
    groups, at = G[1], 0
    for k in range(groups.shape[0]):
        first, rank = groups[k, 2], groups[k, 3] - groups[k, 2]
        for i in range(rank):
            for j in range(i + 1):
                K[first + i, first + j] += np.float64(pieces[at + i * rank + j])
        at += rank * rank


@njit(cache=True)
def _factor(K, G):
    return envelope_factor(K, G[2], 0.0, G[3])


@njit(cache=True)
def _strengthen(K, G):
    shift = 0.0
    for _ in range(8):
        if envelope_factor(K, G[2], shift, G[3]):
            return True
        shift = max(100.0 * shift, 1e-9 * np.abs(np.diag(K)).mean())
    return False


@njit(cache=True)
def _solve(K, G, d):
    envelope_solve(K, G[2], G[3], d)


@njit(cache=True)
def reach(start, first, width, last):
    """Where rows of the stiffness end, (r,), where contacts tie domains to each other as well."""
    last = last.copy()
    for i in range(len(start) - 1):
        if start[i + 1] == start[i]:
            continue
        end = first[start[i + 1] - 1] + width[start[i + 1] - 1]
        for block in range(start[i], start[i + 1]):
            for j in range(first[block], first[block] + width[block]):
                last[j] = max(last[j], end)
    return last


@njit(cache=True)
def _couple(G, touch):
    return G[0], G[1], reach(touch.start, touch.first, touch.width, G[2]), G[3]


DOMAINS = SpaceLoops(_rank_of, _strain, _gather, _square, _join, _factor, _strengthen, _solve, _couple, "domains")
