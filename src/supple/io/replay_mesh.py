"""A plain mesh file as a run of one frame."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.io.frames import Cache, CacheInfo
from supple.io.load import load_mesh
from supple.mesh import TetMesh, TriMesh

__all__ = ["MeshCache"]


class MeshCache(Cache):
    """The surface of one mesh file, at rest; its unit is taken as the metre."""

    def __init__(self, path: Path) -> None:
        mesh = load_mesh(path)
        self._body = mesh if isinstance(mesh, TetMesh) else None
        self._surface = mesh.surface() if isinstance(mesh, TetMesh) else mesh
        self.triangles = self._surface.triangles
        self.info = CacheInfo(start_frame=0, title=path.stem)
        self.indices, self.times, self.fields = (0,), (0.0,), ()

    def surface(self) -> TriMesh:
        """The surface, its polygons and texture coordinates kept."""
        return self._surface

    def body(self) -> TetMesh | None:
        """The tets, where the file holds them."""
        return self._body

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of the surface, shape (s, 3)."""
        return self._surface.vertices
