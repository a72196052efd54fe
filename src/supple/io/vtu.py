"""VTU unstructured grids: tets out of all pieces; other cells are skipped with a note."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.raw import LARGEST, RawTets, to_indices, to_regions
from supple.io.source import Source
from supple.io.vtk_pack import Encoding, pack_array, pack_cells, pack_grid, pack_raw_grid
from supple.io.vtk_xml import VtkFile, parse_vtk
from supple.mesh import TetMesh

__all__ = [
    "CURVED_TET",
    "REGIONS",
    "TET",
    "first_corners",
    "pack_raw_vtu",
    "pack_vtu",
    "parse_vtu",
    "read_grid",
    "static_cells",
]

TET, CURVED_TET = 10, 24
Grid = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32] | None]  # points, tets and regions, if any
Piece = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32] | None, int]  # and the number of cells skipped
REGIONS = ("region", "regions", "gmsh:physical", "medit:ref", "CellEntityIds", "MaterialIDs", "material")


def parse_vtu(source: Source) -> RawTets:
    """Tets of a VTU file; a cell array of a usual name (`region`, `gmsh:physical`, ...) gives the regions."""
    with source.parsing("a VTU grid"):
        return read_grid(parse_vtk(source, "UnstructuredGrid"))


def read_grid(file: VtkFile) -> RawTets:
    """Tets of a parsed VTU file."""
    with file.source.parsing("a VTU grid"):
        pieces = [_read_piece(file, piece) for piece in file.root.iter("Piece")]
        if not any(len(piece[1]) for piece in pieces):
            raise file.source.damaged("it has no tetrahedra", "mesh the volume, or use it as a surface file")
        vertices, tets, regions = pieces[0][:3] if len(pieces) == 1 else _join(file.source, pieces)
        skipped = sum(piece[3] for piece in pieces)
        notes = (f"skipped {skipped:,} cells that are not tets",) if skipped else ()
        return RawTets(vertices, tets, regions, notes=notes)


def _join(source: Source, pieces: Sequence[Piece]) -> Grid:
    """All pieces as one grid."""
    before = np.cumsum([0] + [len(points) for points, *_ in pieces])
    tets = [piece[1] + start for piece, start in zip(pieces, before, strict=False)]
    with_regions = any(regions is not None for _, _, regions, _ in pieces)
    regions = [np.zeros(len(piece[1]), np.int32) if piece[2] is None else piece[2] for piece in pieces]
    return (
        np.concatenate([piece[0] for piece in pieces]),
        to_indices(source, np.concatenate(tets), int(before[-1]), "cells"),
        np.concatenate(regions) if with_regions else None,
    )


def _read_piece(file: VtkFile, piece: ElementTree.Element) -> Piece:
    """Points (n, 3), tets (m, 4), regions (m,) if any, and the number of cells skipped."""
    source = file.source
    points, cells = int(piece.get("NumberOfPoints", "0")), int(piece.get("NumberOfCells", "0"))
    position = piece.find("Points/DataArray")
    arrays = {node.get("Name"): node for node in piece.findall("Cells/DataArray")}
    if position is None or not {"connectivity", "offsets", "types"} <= arrays.keys():
        raise source.damaged("a piece has no points or cells")
    if not (0 <= points <= LARGEST and 0 <= cells <= LARGEST):
        raise source.damaged(f"a piece claims {points:,} points and {cells:,} cells")
    vertices = file.array(position, 3 * points, "points").reshape(points, 3).astype(np.float64, copy=False)
    ends = file.array(arrays["offsets"], cells, "offsets").astype(np.int64, copy=False)
    kinds = file.array(arrays["types"], cells, "cell types")
    sizes = np.diff(ends, prepend=0)
    tets = (kinds == TET) & (sizes == 4)
    if not tets.all():
        tets |= (kinds == CURVED_TET) & (sizes == 10)
        if (sizes < 0).any() or (np.isin(kinds, (TET, CURVED_TET)) & ~tets).any():
            raise source.damaged("its offsets do not fit its cell types")
    total = int(ends[-1]) if cells else 0
    corners = file.array(arrays["connectivity"], total, "connectivity")
    indices = to_indices(source, first_corners(sizes, corners, tets), points, "cells")
    return vertices, indices, _read_regions(file, piece, tets), int(cells - tets.sum())


def first_corners(sizes: NDArray[Any], corners: NDArray[Any], tets: NDArray[np.bool_]) -> NDArray[Any]:
    """The first four corners of the cells that are tets, out of the corners of all cells in turn, shape (m, 4)."""
    if len(corners) == 4 * len(sizes) and tets.all():
        return corners.reshape(-1, 4)
    first = (np.cumsum(sizes) - sizes)[tets]
    picked: NDArray[Any] = corners[first[:, None] + np.arange(4)]
    return picked


def _read_regions(file: VtkFile, piece: ElementTree.Element, tets: NDArray[np.bool_]) -> NDArray[np.int32] | None:
    arrays = {node.get("Name"): node for node in piece.findall("CellData/DataArray")}
    for name in REGIONS:
        node = arrays.get(name)
        if node is not None and "Int" in node.get("type", "") and node.get("NumberOfComponents", "1") == "1":
            values = file.array(node, len(tets), f"cell data {name}")
            return to_regions(file.source, values if tets.all() else values[tets])
    return None


def static_cells(mesh: TetMesh) -> bytes:
    """The Cells element of the mesh: the same in every frame of a series."""
    return pack_cells(mesh.tets, TET)


def pack_vtu(mesh: TetMesh, encoding: Encoding = "zlib") -> Iterable[bytes]:
    """The tet mesh as pieces of a VTU file, with its regions as cell data."""
    data = [pack_array("region", mesh.regions, encoding)]
    cells = pack_cells(mesh.tets, TET, encoding)
    return pack_grid(mesh.vertices, cells, len(mesh.tets), point_data=[], cell_data=data, encoding=encoding)


def pack_raw_vtu(mesh: TetMesh) -> Iterable[bytes]:
    """The same with its arrays as raw bytes, for programs that read these."""
    return pack_raw_grid(mesh.vertices, mesh.tets, TET, {"region": mesh.regions})
