"""What is seen of a recording: triangles, and values brought to their vertices."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.raw import RawSurface, RawTets, drop_thin
from supple.mesh import Sheet, TetMesh, TriMesh, tet_volumes

__all__ = ["PolygonView", "TetView"]


class PolygonView:
    """Polygons of a file cut into triangles, over the vertices that they use."""

    def __init__(self, name: str, raw: RawSurface) -> None:
        faces = drop_thin(raw)
        try:
            self.mesh = TriMesh.from_polygons(faces.vertices, faces.counts, faces.indices, faces.uv)
        except MeshError as error:
            raise FileFormatError(f"{name}: {error}") from None
        self.triangles = self.mesh.triangles
        self.points = len(raw.vertices)  #: vertices of the file
        self.used = np.unique(faces.indices)  #: those that polygons use, shape (s,)

    def of_points(self, name: str, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of all vertices of a frame, named for messages, at those that polygons use."""
        if len(values) != self.points:
            raise FileFormatError(
                f"{name} has {len(values):,} vertices where the first frame has {self.points:,}; "
                "export the run again with one mesh."
            )
        return values if len(self.used) == self.points else values[self.used]


class TetView:
    """Surface of a tet mesh, and values of vertices and tets brought to it."""

    def __init__(self, name: str, raw: RawTets, sheet: NDArray[Any] | None = None) -> None:
        """Of a file's tets, or of the triangles of a `sheet`, (k, 3), that has none."""
        tets = raw.tets
        if tet_volumes(raw.vertices, tets).sum() < 0:  # of a program with the other winding
            tets = np.ascontiguousarray(tets[:, [0, 1, 3, 2]])
        self.mesh = TetMesh(raw.vertices, tets, np.zeros(len(tets), dtype=np.int32), {})
        try:
            if sheet is not None:
                self.mesh = Sheet.of(TriMesh.clean(raw.vertices, sheet))
            self.used = self.mesh.surface_vertices()  #: tet vertices on the surface, shape (s,)
            self.triangles = self.mesh.surface().triangles  #: into these, shape (k, 3)
        except MeshError as error:
            raise FileFormatError(f"{name}: {error}") from None

    def of_points(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of all vertices at those of the surface."""
        return values if len(self.used) == len(self.mesh.vertices) else values[self.used]

    def of_cells(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Means over the tets around every vertex of the surface, of values of all tets."""
        columns = values.reshape(len(values), -1).T
        corners, count = self.mesh.tets.reshape(-1), len(self.mesh.vertices)
        sums = [np.bincount(corners, weights=np.repeat(column, 4), minlength=count) for column in columns]
        means = np.stack(sums, axis=1)[self.used] / self._tets_around[:, None]
        return means.reshape(-1, *values.shape[1:])

    @cached_property
    def _tets_around(self) -> NDArray[np.float64]:
        counts = np.bincount(self.mesh.tets.reshape(-1), minlength=len(self.mesh.vertices))
        return counts[self.used].astype(np.float64)
