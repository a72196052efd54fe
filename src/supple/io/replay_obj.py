"""A sequence of OBJ files read back as a run, also one of another program."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.frames import Cache, CacheInfo
from supple.io.load import read_surface
from supple.io.record_obj import MARK, find_sequence
from supple.io.views import PolygonView

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
        notes = [_read_note(file) for file in self._files.values()]
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

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        file = self._files[self.indices[i]]
        return self._view.of_points(str(file), read_surface(file).vertices) * self.info.metres_per_unit


def _read_note(file: Path) -> tuple[CacheInfo, float | None]:
    """What the first line says of the run, and the frame's time [s] if it does."""
    with file.open("rb") as stream:
        line = stream.readline(4096)
    if not line.startswith(MARK):
        return CacheInfo(start_frame=0), None
    info, more = CacheInfo.from_json(line[len(MARK) :], str(file))
    time = more.get("time")
    return info, float(time) if isinstance(time, int | float) else None
