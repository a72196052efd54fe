"""A run as a VTU series: name.pvd lists name_0001.vtu, name_0002.vtu, ... with their times.

Where things touch, name_contacts.pvd lists the points that do, and name_colliders.pvd what they touch.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.files import remove_marked
from supple.io.frames import CacheInfo, Frame, FrameChecks, check_gap
from supple.io.pvd import MARK, frame_path, pack_note, read_listing
from supple.io.source import read_source
from supple.io.vtk_pack import pack_array, pack_grid
from supple.io.vtu import parse_vtu, static_cells
from supple.io.vtu_series import Series, find_series, pack_points, pack_triangles
from supple.mesh import TetMesh, TriMesh

__all__ = ["LENGTHS", "PvdWriter", "list_sides"]

#: Data that is converted to the file's unit of length.
LENGTHS = {"displacement", "velocity", "contact_depth", "depth", "point"}


class PvdWriter:
    """Writes every frame as a VTU file and then lists it in the PVD."""

    def __init__(
        self,
        path: Path,
        mesh: TetMesh,
        info: CacheInfo,
        colliders: Mapping[str, TriMesh],
        resume_at: int | None = None,
    ) -> None:
        self._path, self._mesh, self._info = path, mesh, info
        self._colliders = tuple(colliders.values())
        self._cells = static_cells(mesh)
        self._regions = pack_array("region", mesh.regions)
        self._kept = {} if resume_at is None else _read_kept(path, resume_at, info, len(mesh.vertices))
        self._series = Series(path, info, self._kept)
        self._beside: dict[str, Series] = {}
        if resume_at is None:
            _clear_beside(path)
        self._checks = FrameChecks(path, mesh, self._series.last)

    def write(self, frame: Frame) -> None:
        """Add the frame: displacement, velocity and further point data; region and further cell data."""
        self._checks.accept(frame)
        note = pack_note(self._info, frame=frame.index, time=frame.time)
        if frame.contacts is not None:
            values = {name: self._convert(name, data) for name, data in frame.contacts.items()}
            points = values.pop("point")
            self._side("contacts").add(frame.index, frame.time, pack_points(points, values, note))
        if self._colliders:
            grid = pack_triangles(*self._place_colliders(frame), note)
            self._side("colliders").add(frame.index, frame.time, grid)
        self._series.add(frame.index, frame.time, self._pack_body(frame, note))
        self._checks.last = frame.index

    def files(self, index: int) -> tuple[Path, ...]:
        """What a written frame lies in."""
        return (*self._series.files(index), *(file for side in self._beside.values() for file in side.files(index)))

    def close(self) -> None:
        """Nothing is left to do: every file is whole."""

    def _pack_body(self, frame: Frame, note: bytes) -> Any:
        points: dict[str, NDArray[Any]] = {"displacement": frame.positions - self._mesh.vertices}
        if frame.velocities is not None:
            points["velocity"] = frame.velocities
        points |= frame.point_data
        return pack_grid(
            self._convert("point", frame.positions),
            self._cells,
            len(self._mesh.tets),
            point_data=[pack_array(name, self._convert(name, data)) for name, data in points.items()],
            cell_data=[self._regions, *(pack_array(name, data) for name, data in frame.cell_data.items())],
            comment=note,
        )

    def _convert(self, name: str, data: NDArray[Any]) -> NDArray[Any]:
        return data / self._info.metres_per_unit if name in LENGTHS else data

    def _side(self, what: str) -> Series:
        """The series of what is written beside the body, begun when there is something."""
        if what not in self._beside:
            path = _side_path(self._path, what)
            kept = {index: time for index, time in self._kept.items() if frame_path(path, index).is_file()}
            self._beside[what] = Series(path, self._info, kept)
        return self._beside[what]

    def _place_colliders(
        self, frame: Frame
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], Mapping[str, NDArray[Any]]]:
        """All colliders' points and triangles, and the number of every triangle's collider."""
        placed = zip(frame.colliders, self._colliders, strict=True)
        points = np.concatenate([place.move(surface.vertices) for place, surface in placed])
        before = np.cumsum([0] + [len(surface.vertices) for surface in self._colliders])
        triangles = [s.triangles + start for s, start in zip(self._colliders, before, strict=False)]
        numbers = np.repeat(np.arange(len(triangles), dtype=np.int32), [len(part) for part in triangles])
        return self._convert("point", points), np.concatenate(triangles).astype(np.int32), {"collider": numbers}


def list_sides(path: Path) -> list[Path]:
    """What may lie beside a series: lists of contacts and colliders, and the files that these name."""
    sides = [_side_path(path, what) for what in ("contacts", "colliders")]
    return [*sides, *(file for side in sides if side.is_file() for file in find_series(side).values())]


def _side_path(path: Path, what: str) -> Path:
    return path.with_name(f"{path.stem}_{what}.pvd")


def _clear_beside(path: Path) -> None:
    """Remove what an earlier run of the same name left beside its body."""
    for what in ("contacts", "colliders"):
        side = _side_path(path, what)
        frames = path.parent.glob(f"{side.stem}_[0-9]*.vtu") if side.is_file() else ()
        remove_marked([*frames, *([side] if side.is_file() else [])], MARK)


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
