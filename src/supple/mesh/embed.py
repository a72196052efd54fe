"""Carry a fine mesh inside a coarse one: every point follows the tet it lies in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.linalg.jit import njit
from supple.mesh.checks import check_vertices
from supple.mesh.tetmesh import TetMesh

__all__ = ["Embedding", "cells_of", "embed", "list_members"]

_INSIDE = -1e-9  # smallest weight of a point that counts as inside: round-off on faces


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points as weighted sums of the corners of one tet each; the weights of a point sum to 1."""

    tets: NDArray[np.int32]  #: tet of every point, shape (k,)
    weights: NDArray[np.float64]  #: shape (k, 4), some below 0 for points outside
    corners: NDArray[np.int32]  #: vertices of that tet, shape (k, 4)

    def apply(self, positions: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions [m] of the points, shape (k, 3), for vertex positions [m] of shape (n, 3)."""
        origin = positions[self.corners[:, 0]]
        moved = origin.copy()
        for corner in range(1, 4):  # sums of edges: a translation is carried over without round-off in the weights
            moved += self.weights[:, corner, None] * (positions[self.corners[:, corner]] - origin)
        return moved

    def outside(self) -> NDArray[np.bool_]:
        """Which points lie outside the mesh and are extrapolated, shape (k,)."""
        below: NDArray[np.bool_] = self.weights.min(axis=1) < _INSIDE
        return below


def embed(mesh: TetMesh, points: ArrayLike) -> Embedding:
    """Where points [m] of shape (k, 3) lie in the mesh; points outside belong to the nearest tet."""
    targets = check_vertices(points)
    origins, inverses = _local_frames(mesh)
    found = _locate(mesh, targets, origins, inverses)
    missing = np.flatnonzero(found < 0)
    if missing.size:
        found[missing] = _nearest_tets(mesh, targets[missing])
    local = np.einsum("kij,kj->ki", inverses[found], targets - origins[found])
    weights = np.column_stack([1.0 - local.sum(axis=1), local])
    return Embedding(found, weights, mesh.tets[found])


def _local_frames(mesh: TetMesh) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """First corner and inverse edge matrix of every tet; the matrix turns x - first into weights 1 to 3."""
    corners = mesh.vertices[mesh.tets]
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    inverses: NDArray[np.float64] = np.linalg.inv(edges).astype(np.float64, copy=False)
    return np.ascontiguousarray(corners[:, 0]), inverses


def _nearest_tets(mesh: TetMesh, points: NDArray[np.float64]) -> NDArray[np.int32]:
    import igl

    tree, triangles = igl.AABB(), mesh.surface_triangles().astype(np.int64)
    tree.init(mesh.vertices, triangles)
    nearest = np.asarray(tree.squared_distance(mesh.vertices, triangles, points)[1])
    tets: NDArray[np.int32] = mesh.surface_tets()[nearest]
    return tets


def _locate(
    mesh: TetMesh, points: NDArray[np.float64], origins: NDArray[np.float64], inverses: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The tet every point lies in, or -1, shape (k,), through a grid of cells about as large as the tets."""
    low, high = mesh.bounds()
    cells = np.clip((high - low) / np.cbrt((high - low).prod() / len(mesh.tets)), 1, 400).astype(np.int64)
    step = (high - low) / cells
    lowest = cells_of(mesh.vertices[mesh.tets].min(axis=1), low, step, cells)
    highest = cells_of(mesh.vertices[mesh.tets].max(axis=1), low, step, cells)
    starts, members = list_members(lowest, highest, cells)
    inside = ((points >= low - step * 1e-6) & (points <= high + step * 1e-6)).all(axis=1)
    cell = np.ravel_multi_index(tuple(cells_of(points, low, step, cells).T), tuple(cells))
    return _search_cells(points, inside, cell, starts, members, origins, inverses)


def cells_of(
    points: NDArray[np.float64], low: NDArray[np.float64], step: NDArray[np.float64], cells: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The cell of a grid from `low` on, as three numbers, that every point lies in or is nearest to."""
    return np.clip(np.floor((points - low) / step), 0, cells - 1).astype(np.int64)


def list_members(
    lowest: NDArray[np.int64], highest: NDArray[np.int64], cells: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """CSR lists of the tets whose bounding box touches each cell."""
    extent = highest - lowest + 1
    touched = extent.prod(axis=1)
    tet = np.repeat(np.arange(len(lowest)), touched)
    entry = np.arange(len(tet)) - np.repeat(np.cumsum(touched) - touched, touched)
    _, height, depth = extent[tet].T
    step = np.column_stack([entry // (height * depth), entry // depth % height, entry % depth])
    cell = np.ravel_multi_index(tuple((lowest[tet] + step).T), tuple(cells))
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=int(cells.prod())))])
    return starts, tet[np.argsort(cell, kind="stable")]


@njit(cache=True)
def _search_cells(
    points: NDArray[np.float64],
    inside: NDArray[np.bool_],
    cell: NDArray[np.int64],
    starts: NDArray[np.int64],
    members: NDArray[np.int64],
    origins: NDArray[np.float64],
    inverses: NDArray[np.float64],
) -> NDArray[np.int32]:
    """The tet of the point's cell in which its smallest weight is largest, or -1 if it lies in none."""
    found = np.full(len(points), -1, dtype=np.int32)
    for k in range(len(points)):
        if not inside[k]:
            continue
        best = _INSIDE
        for entry in range(starts[cell[k]], starts[cell[k] + 1]):
            tet = members[entry]
            dx = points[k, 0] - origins[tet, 0]
            dy = points[k, 1] - origins[tet, 1]
            dz = points[k, 2] - origins[tet, 2]
            rest = 1.0
            least = 1.0
            for row in range(3):
                weight = inverses[tet, row, 0] * dx + inverses[tet, row, 1] * dy + inverses[tet, row, 2] * dz
                rest -= weight
                least = min(least, weight)
            least = min(least, rest)
            if least > best:
                best = least
                found[k] = tet
    return found
