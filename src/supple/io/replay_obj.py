"""A sequence of OBJ files read back as a run, also one of another program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.frames import Cache
from supple.io.load import read_surface
from supple.io.record_obj import find_sequence, read_note
from supple.io.views import PolygonView
from supple.mesh import TriMesh

__all__ = ["ObjCache"]


class ObjCache(Cache):
    """A run recorded as OBJ files."""

    def __init__(self, path: Path) -> None:
        self._files = find_sequence(path)
        if not self._files:
            raise FileFormatError(
                f"{path}: no file {path.stem}.0001{path.suffix} or the like lies there; check the path."
            )
        self.indices = tuple(self._files)
        notes = [read_note(file) for file in self._files.values()]
        self.info = notes[0][0]
        first = self.info.start_frame
        self.times = tuple(
            (index - first) / self.info.fps if time is None else time
            for index, (_, time) in zip(self.indices, notes, strict=True)
        )
        first_file = self._files[self.indices[0]]
        self._view = PolygonView(str(first_file), read_surface(first_file))
        self.triangles = self._view.triangles
        self.fields = ()

    def surface(self) -> TriMesh:
        """The surface [m] in the first frame, its polygons and texture coordinates kept."""
        return self._view.mesh.moved(self.surface_positions(0))

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        file = self._files[self.indices[i]]
        return self._view.of_points(str(file), read_surface(file).vertices) * self.info.metres_per_unit
