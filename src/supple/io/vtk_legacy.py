"""VTK's legacy .vtk files, text and binary, versions 1 to 5: tets of an unstructured grid, polygons of a surface."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.raw import Lacking, RawSurface, RawTets, to_indices, to_regions
from supple.io.source import Source
from supple.io.text import format_rows, parse_floats, parse_ints
from supple.io.vtu import CURVED_TET, REGIONS, TET, first_corners
from supple.mesh import TetMesh

__all__ = ["pack_legacy", "parse_legacy_surface", "parse_legacy_tets"]

TYPES = {
    "char": "i1", "signed_char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4",
    "unsigned_int": "u4", "long": "i8", "unsigned_long": "u8", "float": "f4", "double": "f8", "vtkidtype": "i8",
    "vtktypeint64": "i8", "vtktypeuint64": "u8", "vtktypeint32": "i4", "vtktypeuint32": "u4",
}  # fmt: skip
WORDS = re.compile(rb"^[ \t]*[A-Za-z_]", re.MULTILINE)  # where a text block of numbers ends
FLAT = (5, 7, 9)  # triangle, polygon, quad
SAVE_AS = "save it as an unstructured grid or as PolyData"


@dataclass
class _Grid:
    """What the file's sections gave."""

    points: NDArray[np.float64] | None = None
    sizes: NDArray[np.int64] | None = None  # corners of every cell
    corners: NDArray[Any] | None = None  # of all cells in turn
    kinds: NDArray[Any] | None = None
    cell_data: dict[str, NDArray[Any]] = field(default_factory=dict)


class _Reader:
    """A place in the file that moves on line by line and block by block."""

    def __init__(self, source: Source) -> None:
        lines = source.data.split(b"\n", 3)
        if len(lines) < 4 or not lines[0].startswith(b"# vtk DataFile"):
            raise source.damaged("it does not begin with '# vtk DataFile'", SAVE_AS)
        self.source = source
        self.binary = lines[2].strip().upper() == b"BINARY"
        self._at = sum(len(line) + 1 for line in lines[:3])

    def words(self) -> list[str]:
        """The words of the next line that is not blank; none at the end of the file."""
        data = self.source.data
        while self._at < len(data):
            end = data.find(b"\n", self._at)
            end = len(data) if end < 0 else end
            line, self._at = data[self._at : end].decode("latin-1").split(), end + 1
            if line:
                return line
        return []

    def array(self, kind: str, count: int, what: str) -> NDArray[Any]:
        """The next `count` numbers of a type that VTK names."""
        code = TYPES.get(kind.lower())
        if code is None:
            raise self.source.damaged(f"its {what} have the type '{kind[:30]}'", SAVE_AS)
        if self.binary:
            values = self.source.array(f">{code}", count, self._at, what)
            self._at += values.nbytes
        else:
            end = WORDS.search(self.source.data, self._at)
            stop = end.start() if end else len(self.source.data)
            text, self._at = self.source.data[self._at : stop], stop
            values = parse_floats(self.source, text, what) if code[0] == "f" else parse_ints(self.source, text, what)
        if len(values) != count:
            raise self.source.damaged(f"it has {len(values):,} numbers for {what} where {count:,} belong")
        if code[0] == "f":
            self.source.check_finite(values, what)
        return values

    def skip_metadata(self) -> None:
        """Pass over lines up to a blank one."""
        data = self.source.data
        blank = re.compile(rb"\n[ \t\r]*\n").search(data, self._at - 1)
        self._at = blank.end() if blank else len(data)


def _read(source: Source) -> _Grid:
    reader, grid = _Reader(source), _Grid()
    rows, into = 0, None  # of the data section that stands open
    while words := reader.words():
        match [words[0].upper(), *words[1:]]:
            case ["DATASET", kind]:
                if kind.upper() not in ("UNSTRUCTURED_GRID", "POLYDATA"):
                    raise source.damaged(f"it holds {kind[:30]}", SAVE_AS)
            case ["POINTS", count, kind]:
                grid.points = reader.array(kind, 3 * _count(source, count), "points").reshape(-1, 3).astype(np.float64)
            case ["CELLS" | "POLYGONS", count, size]:
                _read_cells(reader, grid, _count(source, count), _count(source, size))
            case ["CELL_TYPES", count]:
                grid.kinds = reader.array("int", _count(source, count), "cell types")
            case ["CELL_DATA" | "POINT_DATA" as section, count]:
                rows, into = _count(source, count), grid.cell_data if section == "CELL_DATA" else {}
            case ["SCALARS", name, kind, *more] if into is not None:
                reader.words()  # its lookup table
                into[name] = reader.array(kind, rows * (_count(source, more[0]) if more else 1), name)
            case ["FIELD", _, count]:
                for _ in range(_count(source, count)):
                    _read_field(reader, into if into is not None else {})
            case ["METADATA"]:
                reader.skip_metadata()
            case _:
                break  # vectors, normals and what else may follow the cells
    return grid


def _count(source: Source, word: str) -> int:
    if not word.isascii() or not word.isdigit():
        raise source.damaged(f"it has '{word[:30]}' where a count belongs")
    return int(word)


def _read_cells(reader: _Reader, grid: _Grid, count: int, size: int) -> None:
    """Cells as `corners, number...` in turn, or (from version 5 on) as offsets and corners in two arrays."""
    mark = reader.source.data[reader._at : reader._at + 32].lstrip()
    if mark.upper().startswith(b"OFFSETS"):
        ends = reader.array(_second(reader.words()), count, "offsets").astype(np.int64)
        grid.sizes = np.diff(ends)
        grid.corners = reader.array(_second(reader.words()), size, "connectivity")
        if count == 0 or ends[0] != 0 or ends[-1] != size or (grid.sizes < 0).any():
            raise reader.source.damaged("its offsets do not fit its cells")
        return
    flat = reader.array("int", size, "cells")
    sizes, at = np.empty(count, dtype=np.int64), 0
    if count and size % count == 0 and (flat[:: size // count] == size // count - 1).all():
        grid.sizes = np.full(count, size // count - 1)  # all of one kind, as is usual
        grid.corners = flat.reshape(count, -1)[:, 1:].reshape(-1)
        return
    heads = np.empty(count, dtype=np.int64)
    for cell in range(count):
        if at >= size or flat[at] < 0:
            raise reader.source.damaged("it ends before all the cells it promises")
        heads[cell], sizes[cell] = at, flat[at]
        at += 1 + int(flat[at])
    if at != size:
        raise reader.source.damaged("its cells do not fill the numbers it promises")
    grid.sizes, grid.corners = sizes, np.delete(flat, heads)


def _second(words: list[str]) -> str:
    return words[1] if len(words) > 1 else ""


def _read_field(reader: _Reader, into: dict[str, NDArray[Any]]) -> None:
    words = reader.words()
    if words[:1] == ["METADATA"]:
        reader.skip_metadata()
        words = reader.words()
    if len(words) != 4:
        raise reader.source.damaged("a field has no name, size and type")
    width, rows = _count(reader.source, words[1]), _count(reader.source, words[2])
    values = reader.array(words[3], width * rows, "field data")
    if width == 1:
        into[words[0]] = values


def _cells(source: Source) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any], _Grid]:
    grid = _read(source)
    if grid.points is None or grid.sizes is None or grid.corners is None:
        raise source.damaged("it has no points and cells", SAVE_AS)
    if grid.kinds is not None and len(grid.kinds) != len(grid.sizes):
        raise source.damaged("its cell types are not as many as its cells")
    return grid.points, grid.sizes, grid.corners, grid


def parse_legacy_tets(source: Source) -> RawTets:
    """Tets of an unstructured grid; a cell array of a usual name gives the regions, other cells are skipped."""
    with source.parsing("a legacy VTK grid"):
        points, sizes, corners, grid = _cells(source)
        kinds = np.zeros(len(sizes), np.int64) if grid.kinds is None else grid.kinds
        tets = ((kinds == TET) & (sizes == 4)) | ((kinds == CURVED_TET) & (sizes == 10))
        if not tets.any():
            raise Lacking(f"{source.name}: it has no tetrahedra; mesh the volume, or use it as a surface file.")
        indices = to_indices(source, first_corners(sizes, corners, tets), len(points), "cells")
        named = next((grid.cell_data[name] for name in REGIONS if name in grid.cell_data), None)
        usable = named is not None and named.dtype.kind in "iu" and len(named) == len(sizes)
        regions = to_regions(source, named[tets]) if named is not None and usable else None
        skipped = int((~tets).sum())
        return RawTets(
            points, indices, regions, notes=(f"skipped {skipped:,} cells that are not tets",) if skipped else ()
        )


def parse_legacy_surface(source: Source) -> RawSurface:
    """Polygons of PolyData, or the flat cells of an unstructured grid."""
    with source.parsing("a legacy VTK surface"):
        points, sizes, corners, grid = _cells(source)
        flat = np.ones(len(sizes), bool) if grid.kinds is None else np.isin(grid.kinds, FLAT)
        if not flat.any():
            raise source.damaged("it has no polygons", SAVE_AS)
        indices = to_indices(source, corners[np.repeat(flat, sizes)], len(points), "cells")
        return RawSurface(points, sizes[flat].astype(np.int32), indices)


def pack_legacy(mesh: TetMesh, *, binary: bool = True) -> Iterable[bytes]:
    """The tet mesh as pieces of a legacy file of version 3, with its regions as cell data."""
    cells = np.column_stack([np.full(len(mesh.tets), 4, dtype=np.int32), mesh.tets])
    kinds = np.full(len(mesh.tets), TET, dtype=np.int32)

    def block(values: NDArray[Any], kind: str, line: str) -> bytes:
        return values.astype(f">{kind}").tobytes() + b"\n" if binary else format_rows(line, values)

    return [
        b"# vtk DataFile Version 3.0\nsupple\n" + (b"BINARY\n" if binary else b"ASCII\n"),
        f"DATASET UNSTRUCTURED_GRID\nPOINTS {len(mesh.vertices)} double\n".encode(),
        block(mesh.vertices, "f8", "%r %r %r"),
        f"CELLS {len(cells)} {cells.size}\n".encode(),
        block(cells, "i4", "%d %d %d %d %d"),
        f"CELL_TYPES {len(cells)}\n".encode(),
        block(kinds, "i4", "%d"),
        f"CELL_DATA {len(cells)}\nSCALARS region int 1\nLOOKUP_TABLE default\n".encode(),
        block(mesh.regions, "i4", "%d"),
    ]
