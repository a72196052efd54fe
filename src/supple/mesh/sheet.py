"""A surface that is simulated itself, where other bodies have tetrahedra."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.arguments import remember
from supple.errors import MeshError
from supple.mesh.adjacency import vertex_graph, vertex_labels
from supple.mesh.checks import as_corners, plural
from supple.mesh.tetmesh import TetMesh
from supple.mesh.trimesh import TriMesh

__all__ = ["Sheet"]

FLAT = 1e-10  #: a triangle is degenerate below this share of the square of its longest side


@dataclass(frozen=True, eq=False)
class Sheet(TetMesh):
    """Triangles that a shell is made of: a mesh without tets, whose surface is all there is of it."""

    triangles: NDArray[np.int32] = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    """(k, 3)"""

    def __post_init__(self) -> None:
        super().__post_init__()
        triangles = as_corners(self.triangles, "Sheet(triangles)", 3, len(self.vertices), "triangle")
        remember(self, triangles=triangles)

    @classmethod
    def of(cls, surface: TriMesh) -> Sheet:
        """The sheet of a surface whose triangles all have an area."""
        corners = surface.vertices[surface.triangles]
        longest = np.square(corners - np.roll(corners, 1, axis=1)).sum(axis=2).max(axis=1)
        flat = np.flatnonzero(~(surface.areas() > FLAT * longest))
        if flat.size:
            where = ", ".join(f"{value:.6g}" for value in corners[flat[0]].mean(axis=0))
            raise MeshError(
                f"triangle {flat[0]} near ({where}) has no area ({plural(len(flat), 'such triangle')} in all), so no "
                "shell can be made of it; clean the surface first."
            )
        none = np.zeros(0, np.int32)
        return cls(surface.vertices, none.reshape(0, 4), none, {}, surface.notes, surface.triangles)

    def surface_triangles(self) -> NDArray[np.int32]:
        return self.triangles

    def vertex_neighbours(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        return vertex_graph(self.triangles, len(self.vertices))

    def components(self) -> NDArray[np.int32]:
        return vertex_labels(self.triangles, len(self.vertices))
