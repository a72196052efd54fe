"""Deformation gradients of tetrahedra and triangles as stencils."""

import numpy as np
from numpy.typing import NDArray

from supple.constraint.stencils import Stencils
from supple.errors import MeshError
from supple.mesh import TetMesh, TriMesh
from supple.mesh.checks import plural
from supple.mesh.tetmesh import refuse_flat_tets

__all__ = ["refuse_flat", "spread_gradients", "tet_stencils", "triangle_stencils"]

FloatArray = NDArray[np.float64]
FLAT = 1e-10  # area over the square of the longest edge below which a triangle has no plane


def spread_gradients(vertices: NDArray[np.int32], inverse: FloatArray, measure: FloatArray) -> Stencils:
    """Stencils whose values are transposed deformation gradients, from inverse rest edges (e, d, d) [1/m]."""
    later = inverse.transpose(0, 2, 1)
    return Stencils(vertices, np.concatenate([-later.sum(axis=2, keepdims=True), later], axis=2), measure)


def tet_stencils(mesh: TetMesh | TriMesh) -> Stencils:
    """Transposed deformation gradients, 3 x 3, of the tets of a mesh."""
    if not isinstance(mesh, TetMesh):
        raise MeshError("the mesh is a surface without volume: fill it with tetrahedralise, or make it a shell.")
    refuse_flat_tets(mesh.vertices, mesh.tets, mesh.volumes())
    corners = mesh.vertices[mesh.tets]
    edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    return spread_gradients(mesh.tets, np.asarray(np.linalg.inv(edges), np.float64), mesh.volumes())


def triangle_stencils(mesh: TriMesh) -> Stencils:
    """Transposed deformation gradients, 2 x 3, of the triangles of a mesh, by axes in their rest planes."""
    corners = mesh.vertices[mesh.triangles]
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    refuse_flat(mesh)
    along = one / np.linalg.norm(one, axis=1, keepdims=True)
    across = np.cross(mesh.face_normals(), along)
    edges = np.stack([[np.einsum("ij,ij->i", axis, side) for side in (one, two)] for axis in (along, across)])
    return spread_gradients(mesh.triangles, np.linalg.inv(edges.transpose(2, 0, 1)), mesh.areas())


def refuse_flat(mesh: TriMesh) -> None:
    """Refuse triangles without area, naming the first."""
    corners, areas = mesh.vertices[mesh.triangles], mesh.areas()
    sides = corners - np.roll(corners, 1, axis=1)
    longest = np.einsum("tci,tci->tc", sides, sides).max(axis=1)
    flat = np.flatnonzero(~(areas > FLAT * longest))
    if flat.size:
        where = ", ".join(f"{value:.6g}" for value in corners[flat[0]].mean(axis=0))
        raise MeshError(
            f"triangle {flat[0]} near ({where}) has no area ({plural(len(flat), 'such triangle')} in all); remove "
            "flat triangles or mesh the surface again."
        )
