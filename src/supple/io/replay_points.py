"""A point cache read back as a run, with the mesh beside it; also one of another program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.frames import Cache
from supple.io.pointcache import read_mdd, read_pc2
from supple.io.pointcache_mesh import find_mesh
from supple.io.views import PolygonView
from supple.mesh import TriMesh

__all__ = ["PointCache"]


class PointCache(Cache):
    """A run recorded as PC2 or MDD."""

    def __init__(self, path: Path) -> None:
        frames = read_mdd(path) if path.suffix.lower() == ".mdd" else read_pc2(path)
        raw, self.info = find_mesh(path, frames.positions.shape[1])
        self._path, self._positions = path, frames.positions
        self.indices, self.fields = frames.indices, ()
        if frames.times is not None and len(frames.times) > 1 and frames.times[-1] > frames.times[0]:
            rate = (len(frames.times) - 1) / (frames.times[-1] - frames.times[0])
            self.info = replace(self.info, fps=min(max(rate, 1e-3), 1e6) if self._foreign(rate) else self.info.fps)
            first = round(frames.times[0] * self.info.fps)
            self.indices = tuple(first + round((time - frames.times[0]) * self.info.fps) for time in frames.times)
        self.times = frames.times or tuple(index / self.info.fps for index in self.indices)
        self._view = PolygonView(str(path), replace(raw, vertices=self._frame(0)))
        self.triangles = self._view.triangles

    def _foreign(self, rate: float) -> bool:
        """Whether the times do not lie on frames of the rate that the mesh's note tells."""
        steps = self.info.fps / rate
        return abs(steps - round(steps)) > 1e-3 or round(steps) < 1

    def surface(self) -> TriMesh:
        """The surface [m] in the first frame, its polygons and texture coordinates kept."""
        return self._view.mesh.moved(self.surface_positions(0))

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        points = self._view.of_points(str(self._path), self._frame(i))
        return points if self.info.metres_per_unit == 1.0 else points * self.info.metres_per_unit

    def _frame(self, i: int) -> NDArray[np.float64]:
        if not np.isfinite(self._positions[i]).all():
            raise FileFormatError(f"{self._path}: frame {i}, counted from 0, is not finite; export it again.")
        points: NDArray[np.float64] = self._positions[i].astype(np.float64)
        return points
