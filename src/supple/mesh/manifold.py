"""Make the surface of a tet mesh a manifold: remove pinches and stray pieces."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.mesh.adjacency import TET_FACES, match_tet_faces
from supple.mesh.tetmesh import tet_volumes
from supple.mesh.trimesh import TriMesh

__all__ = ["cut_pinches", "drop_strays"]


def cut_pinches(vertices: NDArray[np.float64], tets: NDArray[np.int32]) -> tuple[NDArray[np.int32], int]:
    """Tets without those that hang on by an edge or a vertex only, and how many were removed.

    Around a pinched edge or vertex the largest group of tets that share faces stays.
    """
    start = len(tets)
    while len(tets):
        neighbours = match_tet_faces(tets, len(vertices))
        owner, face = np.nonzero(neighbours < 0)
        surface = TriMesh(vertices, tets[owner[:, None], TET_FACES[face]])
        pinches = [*surface.crowded_edges(), *surface.pinched_vertices()[:, None]]
        if not pinches:
            break
        doomed = np.zeros(len(tets), dtype=bool)
        volumes = tet_volumes(vertices, tets)
        touching = np.flatnonzero(np.isin(tets, np.concatenate(pinches)).any(axis=1))
        for pinch in pinches:
            around = touching[np.isin(tets[touching], pinch).sum(axis=1) == len(pinch)]
            doomed[_smaller_groups(tets, neighbours, around, pinch, volumes)] = True
        tets = tets[~doomed]
    return tets, start - len(tets)


def _smaller_groups(
    tets: NDArray[np.int32],
    neighbours: NDArray[np.int32],
    around: NDArray[np.int64],
    pinch: NDArray[np.int32],
    volumes: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Tets of all groups around the pinch but the largest; if they are one group (a tunnel), all of them."""
    across = np.where(np.isin(tets[around], pinch), -1, neighbours[around])  # faces that hold the whole pinch
    row, column = np.nonzero(np.isin(across, around))
    other = np.searchsorted(around, across[row, column])
    graph = sp.coo_array((np.ones(len(row), dtype=np.int8), (row, other)), shape=(len(around), len(around)))
    count, group = sp.csgraph.connected_components(graph, directed=False)
    if count == 1:
        return around
    largest = np.bincount(group, weights=volumes[around]).argmax()
    smaller: NDArray[np.int64] = around[group != largest]
    return smaller


def drop_strays(vertices: NDArray[np.float64], tets: NDArray[np.int32], keep: float) -> tuple[NDArray[np.int32], int]:
    """Tets of the pieces with the share `keep` of the largest's volume or more, and the number of others."""
    if len(tets) == 0:
        return tets, 0
    neighbours = match_tet_faces(tets, len(vertices))
    row, column = np.nonzero(neighbours >= 0)
    links = (np.ones(len(row), dtype=np.int8), (row, neighbours[row, column]))
    count, piece = sp.csgraph.connected_components(sp.coo_array(links, shape=(len(tets),) * 2), directed=False)
    if count == 1:
        return tets, 0
    volumes = np.bincount(piece, weights=tet_volumes(vertices, tets))
    stays = volumes >= keep * volumes.max()
    return tets[stays[piece]], int((~stays).sum())
