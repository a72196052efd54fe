"""Numbers painted on a surface, carried to the tets below it (Eq. (37) of [XB16])."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import cg, splu

from supple.errors import MeshError
from supple.mesh.adjacency import TET_FACES
from supple.mesh.embed import embed
from supple.mesh.tetmesh import TetMesh

__all__ = ["mean_of_points", "mean_of_vertices", "sample_triangles", "spread_paint"]

FloatArray = NDArray[np.float64]
ACCURATE, LONGEST = 1e-11, 5000  # residual at which paint has run, and iterations until it is factored instead
FINEST = 256  # points along a side of a triangle that are taken at most


def mean_of_vertices(mesh: TetMesh, vertices: NDArray[np.integer], values: FloatArray) -> FloatArray:
    """The mean in every tet of what its painted corners have, (m,), NaN where it has none; values (k,) of vertices."""
    painted = np.full(len(mesh.vertices), np.nan)
    painted[vertices] = values
    corners = painted[mesh.tets]
    count = np.isfinite(corners).sum(axis=1)
    return np.where(count > 0, np.nansum(corners, axis=1) / np.maximum(count, 1), np.nan)


def mean_of_points(mesh: TetMesh, points: ArrayLike, values: FloatArray) -> FloatArray:
    """The mean in every tet of the painted points [m], (k, 3), inside it, (m,), NaN where there is none.

    Points outside belong to the nearest tet.
    """
    tets = embed(mesh, points).tets
    count = np.bincount(tets, minlength=len(mesh.tets))
    sums = np.bincount(tets, values, minlength=len(mesh.tets))
    return np.where(count > 0, sums / np.maximum(count, 1), np.nan)


def sample_triangles(corners: FloatArray, spacing: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Points on triangles (k, 3, 3), no farther apart than `spacing` along their sides and at least the corners.

    As the triangle of each, (s,), and the shares of its corners, (s, 3).
    """
    sides = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
    steps = np.clip(np.ceil(sides / spacing), 1, FINEST).astype(np.int64)
    triangles, shares = [], []
    for step in np.unique(steps):
        chosen = np.flatnonzero(steps == step)
        i, j = np.meshgrid(np.arange(step + 1), np.arange(step + 1), indexing="ij")
        i, j = i[i + j <= step], j[i + j <= step]
        grid = np.column_stack([step - i - j, i, j]) / step
        triangles.append(np.repeat(chosen, len(grid)))
        shares.append(np.tile(grid, (len(chosen), 1)))
    if not triangles:
        return np.empty(0, np.int64), np.empty((0, 3))
    return np.concatenate(triangles), np.concatenate(shares)


def spread_paint(mesh: TetMesh, painted: FloatArray, reach: float) -> FloatArray:
    """Values of all tets, (m,), from painted ones, NaN elsewhere: near those, and smooth over about `reach` [m].

    They minimise ∫ (E - Ē)² + reach² |∇E|², the first term where there is paint: Eq. (37) of [XB16] by volume, so that
    a finer mesh gives the same. None lies beyond the painted values. A reach of 0 leaves paint as it is, but then all
    tets must have some.
    """
    known = np.isfinite(painted)
    if known.all() and reach == 0.0:
        return painted.copy()
    if not known.any():
        raise MeshError("no tet is painted: paint vertices of this mesh.")
    if not reach > 0.0:
        raise MeshError(f"paint that runs {reach:g} m cannot reach the tets without any: give a length above 0.")
    volume = mesh.volumes()
    data = np.where(known, volume, 0.0)
    smooth = _laplacian(mesh)
    islands = sp.csgraph.connected_components(smooth, directed=False)[1]
    bare = np.setdiff1d(islands, islands[known])
    if len(bare):
        raise MeshError(f"{len(bare)} parts of the mesh that share no face with others have no paint: paint them too.")
    matrix = sp.csr_array(sp.diags_array(data) + reach * reach * smooth)
    return _solve(matrix, np.where(known, data * np.nan_to_num(painted), 0.0), np.nanmin(painted), np.nanmax(painted))


def _solve(matrix: sp.csr_array, right: FloatArray, low: float, high: float) -> FloatArray:
    """The solution, between its bounds, of a system without positive entries beside its diagonal.

    Iterated, which fills in nothing: a factor of 60,000 tets takes a hundred times as long.
    """
    scale = 1.0 / np.sqrt(matrix.diagonal())
    scaled = sp.csr_array(sp.diags_array(scale) @ matrix @ sp.diags_array(scale))
    found, failed = cg(scaled, scale * right, rtol=ACCURATE, atol=0.0, maxiter=LONGEST)
    values = scale * found if not failed else splu(sp.csc_array(matrix)).solve(right)
    return np.asarray(np.clip(values, low, high))


def _laplacian(mesh: TetMesh) -> sp.csc_array:
    """Σ over inner faces of area / distance of the centroids, (E_i - E_j)² [m]: finite volumes, (m, m)."""
    beside = mesh.tet_neighbours()
    tet, face = np.nonzero(beside > np.arange(len(beside))[:, None])
    other = beside[tet, face]
    corners = mesh.vertices[mesh.tets[tet[:, None], TET_FACES[face]]]
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    centres = mesh.vertices[mesh.tets].mean(axis=1)
    flux = area / np.linalg.norm(centres[tet] - centres[other], axis=1)
    rows, columns = np.concatenate([tet, other]), np.concatenate([other, tet])
    across = sp.coo_array((np.concatenate([flux, flux]), (rows, columns)), shape=(len(beside), len(beside)))
    return sp.csc_array(sp.diags_array(np.asarray(across.sum(axis=0)).ravel()) - across.tocsc())
