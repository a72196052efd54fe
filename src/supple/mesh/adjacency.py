"""Neighbours of tets, triangles and vertices, from index arrays alone."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.errors import MeshError
from supple.linalg.jit import njit

__all__ = ["TET_FACES", "label_rows", "match_tet_faces", "unique_edges", "vertex_graph", "vertex_labels"]

#: Corners of the face opposite each corner of a positive tet, seen from outside.
TET_FACES: NDArray[np.int32] = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]], dtype=np.int32)


def label_rows(rows: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """One integer a row, shape (r,), equal for rows that hold the same entries in any order.

    Entries are from 0 to below `count`; labels of rows of two are `smaller * count + larger`.
    """
    ordered = np.sort(rows, axis=1).astype(np.int64)
    labels = ordered[:, 0]
    for column in ordered.T[1:]:
        if int(labels.max(initial=0)) >= (2**63 - 1) // max(count, 1) - 1:  # packing would overflow: rank first
            labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        labels = labels * count + column
    return labels


def match_tet_faces(tets: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Neighbour of every tet across the face opposite each corner, or -1, shape (m, 4)."""
    if len(tets) == 0:
        return np.empty((0, 4), dtype=np.int32)
    labels = label_rows(tets[:, TET_FACES].reshape(-1, 3), count)
    order = np.argsort(labels, kind="stable")
    same = labels[order[:-1]] == labels[order[1:]]
    if np.any(same[:-1] & same[1:]):
        tet = int(order[np.flatnonzero(same[:-1] & same[1:])[0]]) // 4
        raise MeshError(f"tet {tet} has a face that three tets share; remove the duplicate or overlapping tets.")
    neighbours = np.full(len(labels), -1, dtype=np.int32)
    first, second = order[:-1][same], order[1:][same]
    neighbours[first], neighbours[second] = second // 4, first // 4
    return neighbours.reshape(-1, 4)


def unique_edges(cells: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Every edge of the cells (triangles or tets) once, smaller vertex first, in order, shape (e, 2)."""
    pairs = list(combinations(range(cells.shape[1]), 2))
    labels = np.unique(label_rows(cells[:, pairs].reshape(-1, 2), count))
    return np.column_stack(np.divmod(labels, max(count, 1))).astype(np.int32)


def vertex_graph(cells: NDArray[np.int32], count: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """CSR `(indptr, indices)` of the vertices each vertex shares an edge with, in ascending order."""
    starts, neighbours = _join_corners(np.ascontiguousarray(cells, np.int32), count)
    return starts, neighbours


def vertex_labels(cells: NDArray[np.int32], count: int) -> NDArray[np.int32]:
    """Number of the connected component of every vertex, shape (count,)."""
    edges = unique_edges(cells, count)
    graph = sp.coo_array((np.ones(len(edges), dtype=np.int8), (edges[:, 0], edges[:, 1])), shape=(count, count))
    labels: NDArray[np.int32] = sp.csgraph.connected_components(graph, directed=False)[1]
    return labels


@njit(cache=True)
def _join_corners(cells, count):
    """Corners of the cells around each vertex, sorted, each once: no sort of all edges, which are many."""
    corners = cells.shape[1]
    begin = np.zeros(count + 1, np.int64)
    for cell in range(len(cells)):
        for a in range(corners):
            begin[cells[cell, a] + 1] += corners - 1
    begin = np.cumsum(begin)
    filled, met = begin[:-1].copy(), np.empty(begin[-1], np.int32)
    for cell in range(len(cells)):
        for a in range(corners):
            v = cells[cell, a]
            for b in range(corners):
                if b != a:
                    met[filled[v]] = cells[cell, b]
                    filled[v] += 1
    starts, kept = np.zeros(count + 1, np.int32), 0
    for v in range(count):
        for k in range(begin[v], begin[v + 1]):  # each into its place among those known, which are few
            w, place = met[k], kept
            while place > starts[v] and met[place - 1] > w:
                place -= 1
            if w == v or (place > starts[v] and met[place - 1] == w):
                continue
            for i in range(kept, place, -1):
                met[i] = met[i - 1]
            met[place] = w
            kept += 1
        starts[v + 1] = kept
    return starts, met[:kept].copy()
