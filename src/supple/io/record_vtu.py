"""A run as a VTU series: name.pvd lists name_0001.vtu, name_0002.vtu, ... with their times."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.files import remove_marked, write_atomically, writing
from supple.io.frames import CacheInfo, Frame, FrameChecks, check_gap
from supple.io.pvd import MARK, frame_path, pack_note, read_listing, write_listing
from supple.io.source import read_source
from supple.io.vtk_pack import pack_array, pack_grid
from supple.io.vtu import parse_vtu, static_cells
from supple.mesh import TetMesh

__all__ = ["LENGTHS", "PvdWriter"]

LENGTHS = {"displacement", "velocity"}  #: point data that is converted to the file's unit of length


class PvdWriter:
    """Writes every frame as a VTU file and then lists it in the PVD."""

    def __init__(self, path: Path, mesh: TetMesh, info: CacheInfo, resume_at: int | None = None) -> None:
        self._path, self._mesh, self._info = path, mesh, info
        self._cells = static_cells(mesh)
        self._regions = pack_array("region", mesh.regions)
        self._times = {} if resume_at is None else _read_kept(path, resume_at, info, len(mesh.vertices))
        with writing(path):
            old = _find_files(path)
        write_listing(path, info, self._times)
        remove_marked([file for index, file in old.items() if index not in self._times], MARK)
        self._checks = FrameChecks(path, mesh, max(self._times, default=None))

    def write(self, frame: Frame) -> None:
        """Add the frame: displacement, velocity and further point data; region and further cell data."""
        self._checks.accept(frame)
        scale = self._info.metres_per_unit
        points: dict[str, NDArray[Any]] = {"displacement": frame.positions - self._mesh.vertices}
        if frame.velocities is not None:
            points["velocity"] = frame.velocities
        points |= frame.point_data
        point_data = [pack_array(name, data / scale if name in LENGTHS else data) for name, data in points.items()]
        cell_data = [self._regions, *(pack_array(name, data) for name, data in frame.cell_data.items())]
        grid = pack_grid(
            frame.positions / scale,
            self._cells,
            len(self._mesh.tets),
            point_data=point_data,
            cell_data=cell_data,
            comment=pack_note(self._info, frame=frame.index, time=frame.time),
        )
        write_atomically(frame_path(self._path, frame.index), grid)
        write_listing(self._path, self._info, self._times | {frame.index: frame.time})
        self._times[frame.index] = frame.time
        self._checks.last = frame.index

    def close(self) -> None:
        """Nothing is left to do: every file is whole."""


def _find_files(path: Path) -> dict[int, Path]:
    name = re.compile(re.escape(path.stem) + r"_(\d+)\.vtu")
    folder = path.parent.iterdir() if path.parent.is_dir() else ()
    return {int(match[1]): file for file in folder if (match := name.fullmatch(file.name))}


def _read_kept(path: Path, resume_at: int, info: CacheInfo, vertices: int) -> dict[int, float]:
    """Times of the frames before `resume_at` that are listed and there, by frame number."""
    if not path.is_file():
        raise OutputError(f"{path} does not exist, so it cannot go on; run again without resuming.")
    listing = read_listing(path)
    kept = {index: entry for index, entry in listing.frames.items() if index < resume_at and entry[1].is_file()}
    first = [parse_vtu(read_source(file)) for _, file in list(kept.values())[:1]]
    if listing.info != info or any(len(raw.vertices) != vertices for raw in first):
        raise OutputError(f"{path} is a recording of another mesh or setting; run again without resuming.")
    check_gap(path, list(kept), resume_at, info.start_frame)
    return {index: time for index, (time, _) in kept.items()}
