"""A USD file read back as a run, also one of another program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.frames import Cache
from supple.io.usd_read import UsdContent
from supple.io.views import PolygonView
from supple.mesh import TriMesh

__all__ = ["UsdCache"]


class UsdCache(Cache):
    """The meshes of a stage whose points move at the same times, or else its first mesh, in world space."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._content = UsdContent(path, "frames")
        facts = self._content.facts
        self.info = self._content.info()
        self._points, self._matrices = self._content.array("points"), self._content.array("matrices")
        self.indices = tuple(round(code) for code in facts["codes"])
        self.times = tuple(facts["times"])
        faces = self._content.faces("mesh", self._points.shape[1], turned=facts["turned"], uv=facts["uv"])
        self._view = PolygonView(str(path), replace(faces, vertices=self._vectors(self._points, 0)))
        self.triangles = self._view.triangles
        self.fields = ("velocity",) if facts["velocities"] else ()

    def surface(self) -> TriMesh:
        """The surface [m] in the first frame, its polygons and texture coordinates kept."""
        return self._view.mesh.moved(self.surface_positions(0))

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        matrix = self._matrices[i]
        points: NDArray[np.float64] = (
            self._view.of_points(self._path.name, self._vectors(self._points, i)) @ matrix[:3, :3] + matrix[3, :3]
        )
        points *= self.info.metres_per_unit
        return points

    def point_values(self, name: str, i: int) -> NDArray[np.float64]:
        """The velocities [m/s] in frame `i`, shape (s, 3), where the file has them."""
        if name not in self.fields:
            return super().point_values(name, i)
        values = self._vectors(self._content.array("velocities"), i)
        velocities: NDArray[np.float64] = self._view.of_points(self._path.name, values) @ self._matrices[i][:3, :3]
        velocities *= self.info.metres_per_unit
        return velocities

    def colliders(self, i: int) -> list[TriMesh]:
        """The colliders' surfaces [m] in frame `i`, where supple wrote the file."""
        return [self._collider(number, i) for number in range(self._content.facts["colliders"])]

    def _collider(self, number: int, i: int) -> TriMesh:
        points, corners, places = (
            self._content.array(f"collider{number}.{name}") for name in ("points", "corners", "places")
        )
        try:
            placed = (points @ places[i][:3, :3] + places[i][3, :3]) * self.info.metres_per_unit
            return TriMesh.clean(placed, corners.reshape(-1, 3))
        except (MeshError, ValueError):
            raise self._damaged(f"its collider {number} is no surface of triangles") from None

    def _vectors(self, values: NDArray[np.float32], i: int) -> NDArray[np.float64]:
        if not np.isfinite(values[i]).all():
            raise self._damaged(f"frame {self.indices[i]} holds a number that is not finite")
        frame: NDArray[np.float64] = values[i].astype(np.float64)
        return frame

    def _damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self._path}: {what}; export it again.")
