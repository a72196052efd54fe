"""VTU files listed in a PVD, one a frame, growing; and clouds of points or triangles beside a run of tets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.files import remove_marked, write_atomically, writing
from supple.io.frames import CacheInfo
from supple.io.pvd import MARK, frame_path, write_listing
from supple.io.vtk_pack import pack_array, pack_cells, pack_grid

__all__ = ["Series", "find_series", "pack_points", "pack_triangles"]

VERTEX, TRIANGLE = 1, 5  # VTK's numbers of cell types


class Series:
    """The files that a PVD lists: those kept from before, and those added."""

    def __init__(self, path: Path, info: CacheInfo, kept: Mapping[int, float]) -> None:
        """`kept`: times [s] of the frames that stay, by number; other frames that supple wrote are removed."""
        self._path, self._info = path, info
        self._times = dict(kept)
        with writing(path):
            old = find_series(path)
        write_listing(path, info, self._times)
        remove_marked([file for index, file in old.items() if index not in self._times], MARK)

    @property
    def last(self) -> int | None:
        """Number of the last frame."""
        return max(self._times, default=None)

    def add(self, index: int, time: float, grid: Iterable[bytes]) -> None:
        """Write a frame's file, then list it."""
        write_atomically(frame_path(self._path, index), grid)
        write_listing(self._path, self._info, self._times | {index: time})
        self._times[index] = time

    def files(self, index: int) -> tuple[Path, ...]:
        """The list, and the file of a frame where it has one."""
        return (self._path, *([frame_path(self._path, index)] if index in self._times else []))


def find_series(path: Path) -> dict[int, Path]:
    """Files named as frames of the series that `path` lists, by number."""
    name = re.compile(re.escape(path.stem) + r"_(\d+)\.vtu")
    folder = path.parent.iterdir() if path.parent.is_dir() else ()
    return {int(match[1]): file for file in folder if (match := name.fullmatch(file.name))}


def pack_points(points: NDArray[np.float64], data: Mapping[str, NDArray[Any]], comment: bytes) -> Iterable[bytes]:
    """A grid of points (k, 3) with values by name."""
    cells = pack_cells(np.arange(len(points), dtype=np.int32)[:, None], VERTEX)
    values = [pack_array(name, array) for name, array in data.items()]
    return pack_grid(points, cells, len(points), point_data=values, cell_data=[], comment=comment)


def pack_triangles(
    points: NDArray[np.float64], triangles: NDArray[np.int32], data: Mapping[str, NDArray[Any]], comment: bytes
) -> Iterable[bytes]:
    """A grid of triangles (k, 3) over points (n, 3), with values of the triangles by name."""
    values = [pack_array(name, array) for name, array in data.items()]
    cells = pack_cells(triangles, TRIANGLE)
    return pack_grid(points, cells, len(triangles), point_data=[], cell_data=values, comment=comment)
