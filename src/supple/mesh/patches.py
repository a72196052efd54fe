"""Which of some vertices of a mesh hang together."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

__all__ = ["find_edges", "find_patches"]

Neighbours = tuple[NDArray[np.integer], NDArray[np.integer]]
"""Where the neighbours of each vertex begin, (n + 1,), and all of them."""


def find_patches(neighbours: Neighbours, some: NDArray[np.integer]) -> list[NDArray[np.intp]]:
    """Places in `some`, ascending vertices, of those that edges join."""
    if not len(some):
        return []
    first, second = find_edges(neighbours, some)
    graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(len(some), len(some)))
    count, labels = connected_components(graph, directed=False)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels, minlength=count))[:-1])


def find_edges(neighbours: Neighbours, some: NDArray[np.integer]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of places in `some`, ascending vertices, that an edge joins."""
    start, others = neighbours
    lengths = start[some + 1] - start[some]
    first = np.repeat(np.arange(len(some)), lengths)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    beside = others[np.repeat(start[some], lengths) + offset]
    second = np.minimum(np.searchsorted(some, beside), len(some) - 1)
    inside = some[second] == beside
    return first[inside], second[inside]
