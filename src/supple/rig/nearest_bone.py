"""The bone that the flesh around every vertex belongs to."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from supple.mesh import TetMesh
from supple.rig.bones import TIE, bone_distances, seat_bones
from supple.rig.skeleton import Skeleton

__all__ = ["nearest_bones", "share_nearest"]

FloatArray = NDArray[np.float64]

_DETOUR, _EDGES = 1.5, 2.0  # ways along edges are longer than straight ones by less than this share and so many edges


def nearest_bones(mesh: TetMesh, skeleton: Skeleton) -> tuple[FloatArray, FloatArray]:
    """The share of every bone in each vertex, (n, j), and the distance [m] to the nearest bone, (n,).

    What is near to a bone across a gap does not belong to it: the belly beside a hanging arm is not the arm's.
    """
    distances = _cut_detours(mesh, skeleton, bone_distances(mesh.vertices, skeleton))
    return share_nearest(distances, mesh.size()), distances.min(axis=1)


def share_nearest(distances: FloatArray, size: float) -> FloatArray:
    """Which bone is nearest to each point, (n, j): 1, or equal shares where several are, for a body of that size [m].

    A bone that is nearest to no point takes the points that are nearest to it.
    """
    near = (distances <= distances.min(axis=1, keepdims=True) + TIE * size).astype(np.float64)
    lonely = np.flatnonzero(near.sum(axis=0) == 0.0)
    claims = distances[:, lonely] <= distances[:, lonely].min(axis=0) + TIE * size
    near[claims.any(axis=1)] = 0.0
    near[:, lonely] = claims
    return np.asarray(near / near.sum(axis=1, keepdims=True))


def _cut_detours(mesh: TetMesh, skeleton: Skeleton, distances: FloatArray) -> FloatArray:
    """Distances that are endless where the way to a bone along the mesh's edges is a detour, if any bone is left."""
    indptr, indices = mesh.vertex_neighbours()
    owners = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    lengths = np.linalg.norm(mesh.vertices[indices] - mesh.vertices[owners], axis=1)
    graph = csr_array((lengths, indices, indptr), shape=(len(distances),) * 2)
    (seats, in_flesh), cut = seat_bones(mesh, skeleton), distances.copy()
    for bone in np.flatnonzero(in_flesh):  # around a bone in a cavity every way is a detour
        way = dijkstra(graph, indices=np.flatnonzero(seats[:, bone]), min_only=True)
        cut[way > _DETOUR * distances[:, bone] + _EDGES * lengths.mean(), bone] = np.inf
    return np.where(np.isfinite(cut).any(axis=1, keepdims=True), cut, distances)
