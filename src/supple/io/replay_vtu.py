"""A VTU series read back as a run, also one of another program."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.frames import Cache
from supple.io.pvd import read_listing
from supple.io.record_vtu import LENGTHS
from supple.io.source import read_source
from supple.io.views import TetView
from supple.io.vtk_xml import VtkFile, parse_vtk
from supple.io.vtu import read_grid
from supple.mesh import TetMesh

__all__ = ["PvdCache"]


class PvdCache(Cache):
    """A run recorded as PVD and VTU files."""

    def __init__(self, path: Path) -> None:
        listing = read_listing(path)
        if not listing.frames:
            raise FileFormatError(f"{path} lists no frame; record the run again.")
        self.info = listing.info
        self.indices = tuple(listing.frames)
        self.times = tuple(time for time, _ in listing.frames.values())
        self._files = [file for _, file in listing.frames.values()]
        self._parsed: tuple[int, VtkFile] | None = None
        raw = read_grid(self._parse(0))
        self._view = TetView(str(self._files[0]), raw)
        self.triangles = self._view.triangles
        self._points = _data_names(self._parse(0), "PointData")
        # skipped cells have values too, which would not fit the tets
        self._cells = () if raw.notes else _data_names(self._parse(0), "CellData")
        self.fields = tuple(dict.fromkeys(self._points + self._cells))

    def body(self) -> TetMesh | None:
        """The tets [m] in the first frame, less its displacement where it has one."""
        start = self.positions(0)
        if "displacement" in self._points:
            moved = self._read(0, "PointData", "displacement", len(start))
            start = start - moved * self.info.metres_per_unit
        return replace(self._view.mesh, vertices=start)

    def positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of all tet vertices in frame `i`, shape (n, 3)."""
        points = read_grid(self._parse(i)).vertices
        if len(points) != len(self._view.mesh.vertices):
            raise FileFormatError(f"{self._files[i]} has another mesh than the first frame; record the run again.")
        return points * self.info.metres_per_unit

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of the surface of the tets in frame `i`, shape (s, 3)."""
        return self._view.of_points(self.positions(i))

    def point_values(self, name: str, i: int) -> NDArray[np.float64]:
        """A field at the surface's vertices in frame `i`; one of tets is averaged over the tets around."""
        if name in self._points:
            scale = self.info.metres_per_unit if name in LENGTHS else 1.0
            return self._view.of_points(self._read(i, "PointData", name, len(self._view.mesh.vertices))) * scale
        if name in self._cells:
            return self._view.of_cells(self._read(i, "CellData", name, len(self._view.mesh.tets)))
        return super().point_values(name, i)

    def _parse(self, i: int) -> VtkFile:
        """The frame's file; the last one is kept, as positions and fields are asked for together."""
        if self._parsed is None or self._parsed[0] != i:
            source = read_source(self._files[i])
            with source.parsing("a VTU grid"):
                self._parsed = (i, parse_vtk(source, "UnstructuredGrid"))
        return self._parsed[1]

    def _read(self, i: int, section: str, name: str, count: int) -> NDArray[np.float64]:
        file = self._parse(i)
        with file.source.parsing("a VTU grid"):
            nodes = [node for node in file.root.findall(f".//{section}/DataArray") if node.get("Name") == name]
            if not nodes:
                raise file.source.damaged(f"it has no {section} '{name}' as the first frame has")
            width = int(nodes[0].get("NumberOfComponents", "1"))
            values = file.array(nodes[0], count * width, name).astype(np.float64)
            return values.reshape(count, width) if width > 1 else values


def _data_names(file: VtkFile, section: str) -> tuple[str, ...]:
    return tuple(node.get("Name", "") for node in file.root.findall(f".//{section}/DataArray"))
