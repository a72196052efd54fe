"""Elements in compact clusters, coloured so that clusters of one colour share no vertex.

Clusters of a colour can add to shared arrays in parallel without locks, and colours follow each other in order:
every sum has one order, whatever the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.linalg.ordering import z_order

__all__ = ["LANES", "Clusters", "cluster"]

LANES = 8  # elements a kernel works on at once
_LARGEST, _PARALLEL = 512, 64  # elements a cluster; clusters worth having for the threads


class Clusters(NamedTuple):
    """An order of elements: cluster k is order[start[k]:start[k+1]], colour c is clusters colour[c]:colour[c+1]."""

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    colour: NDArray[np.int64]


def cluster(centres: NDArray[np.float64], tets: NDArray[np.int32], lanes: int = LANES) -> Clusters:
    """Clusters of neighbouring elements by the Z-order of their centres [m], shape (m, 3); `lanes` divide their
    sizes, but for the last along the curve."""
    count = len(tets)
    if count == 0:
        return Clusters(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    size = int(np.clip(count // _PARALLEL // lanes * lanes, lanes, _LARGEST))
    order = z_order(centres)
    label = np.empty(count, np.int64)
    label[order] = np.arange(count) // size
    colours = _colour(_touching(label, tets))
    by_colour = np.argsort(colours, kind="stable")
    rank = np.empty_like(by_colour)
    rank[by_colour] = np.arange(len(by_colour))
    order = order[np.argsort(rank[label[order]], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(rank[label]))])
    return Clusters(order, start, np.concatenate([[0], np.cumsum(np.bincount(colours))]))


def _touching(label: NDArray[np.int64], tets: NDArray[np.int32]) -> csr_array:
    """Which clusters share a vertex."""
    rows = np.repeat(label, tets.shape[1])
    incidence = csr_array((np.ones(rows.size, np.int32), (rows, tets.ravel())))
    incidence.sum_duplicates()
    return csr_array(incidence @ incidence.T)


def _colour(graph: csr_array) -> NDArray[np.int64]:
    """Greedy colours in order of number."""
    colours = np.full(graph.shape[0], -1, np.int64)
    for node in range(graph.shape[0]):
        taken = set(colours[graph.indices[graph.indptr[node] : graph.indptr[node + 1]]].tolist())
        colour = 0
        while colour in taken:
            colour += 1
        colours[node] = colour
    return colours
