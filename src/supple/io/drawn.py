"""The surface that is drawn: the tets' own, or a render mesh that follows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.mesh import Embedding, TetMesh, TriMesh, embed

__all__ = ["DrawnSurface", "RenderMesh", "drawn_surface", "surface_polygons"]


@dataclass(frozen=True, eq=False)
class RenderMesh:
    """A surface, with its polygons and texture coordinates, that follows the tets it is embedded in."""

    surface: TriMesh
    embedding: Embedding  #: of the surface's vertices in the tet mesh

    def __post_init__(self) -> None:
        points, vertices = len(self.embedding.weights), len(self.surface.vertices)
        if points != vertices:
            raise OutputError(f"{points:,} points are embedded for {vertices:,} render vertices; embed the mesh again.")

    @classmethod
    def build(cls, mesh: TetMesh, surface: TriMesh) -> RenderMesh:
        """The surface embedded in the mesh at rest."""
        return cls(surface, embed(mesh, surface.vertices))


@dataclass(frozen=True, eq=False)
class DrawnSurface:
    """Polygons to write, and how values of all tet vertices come to their vertices."""

    counts: NDArray[np.int32]  #: corners of every polygon, shape (p,)
    indices: NDArray[np.int32]  #: corners of all polygons in turn
    uv: NDArray[np.float64] | None  #: texture coordinates of every corner, shape (len(indices), 2)
    lift: Callable[[NDArray[np.float64]], NDArray[np.float64]]  #: (n, 3) of the tets to (v, 3) of the surface


def surface_polygons(mesh: TriMesh) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Corners of every face and all corners in turn: polygons where the mesh has them, else triangles."""
    if mesh.face_counts is not None and mesh.face_indices is not None:
        return mesh.face_counts, mesh.face_indices
    return np.full(len(mesh.triangles), 3, dtype=np.int32), mesh.triangles.reshape(-1)


def drawn_surface(mesh: TetMesh, render: RenderMesh | None) -> DrawnSurface:
    """The render mesh, checked against the tets, or the surface of the tets when there is none."""
    if render is None:
        used = mesh.surface_vertices()
        whole = len(used) == len(mesh.vertices)  # all vertices lie on the surface, in order: nothing to pick
        return DrawnSurface(*surface_polygons(mesh.surface()), None, lambda values: values if whole else values[used])
    corners = render.embedding.corners
    if corners.size and not (corners.min() >= 0 and corners.max() < len(mesh.vertices)):
        raise OutputError("the render mesh follows vertices that the tet mesh does not have; embed it again.")
    return DrawnSurface(*surface_polygons(render.surface), render.surface.uv, render.embedding.apply)
