"""STL surfaces, text and binary: loose triangles, joined where their corners coincide."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from supple.io.raw import RawSurface
from supple.io.source import Source
from supple.io.text import format_rows, parse_floats
from supple.mesh import TriMesh, weld_points

__all__ = ["pack_stl", "parse_stl"]

HEAD = 84  # bytes of title and count in a binary file
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("extra", "<u2")])
CORNER = re.compile(rb"vertex\s+(\S+\s+\S+\s+\S+)", re.IGNORECASE)
FACE_END = re.compile(rb"endloop", re.IGNORECASE)


def parse_stl(source: Source) -> RawSurface:
    """Triangles of an STL file; corners at the same place become one vertex."""
    with source.parsing("an STL surface"):
        corners = _read_binary(source) if _is_binary(source) else _read_text(source)
        source.check_finite(corners, "corners")
        vertices, indices = weld_points(corners.reshape(-1, 3))
        return RawSurface(vertices, np.full(len(corners), 3, dtype=np.int32), indices)


def _is_binary(source: Source) -> bool:
    """Whether the count fits the size of the file; a title may begin with `solid` in both kinds."""
    if len(source.data) < HEAD:
        return False
    count = int.from_bytes(source.data[HEAD - 4 : HEAD], "little")
    return len(source.data) == HEAD + count * FACET.itemsize or source.data.lstrip()[:5].lower() != b"solid"


def _read_binary(source: Source) -> NDArray[np.float64]:
    count = int.from_bytes(source.data[HEAD - 4 : HEAD], "little")
    facets = source.array(FACET, count, HEAD, "triangles")
    if not count:
        raise source.damaged("it has no triangles")
    source.check_finite(facets["corners"], "corners")  # before they are converted, which a signalling NaN disturbs
    with np.errstate(invalid="ignore"):
        corners: NDArray[np.float64] = facets["corners"].astype(np.float64)
    return corners


def _read_text(source: Source) -> NDArray[np.float64]:
    found = CORNER.findall(source.data)
    if not found or len(found) != 3 * len(FACE_END.findall(source.data)):
        raise source.damaged("its facets have not three corners each")
    return parse_floats(source, b"\n".join(found), "corners").reshape(-1, 3, 3)


def pack_stl(mesh: TriMesh, *, binary: bool = True) -> Iterable[bytes]:
    """The triangles as pieces of an STL file; polygons are cut and texture has no place in it."""
    corners, normals = mesh.vertices[mesh.triangles], mesh.face_normals()
    if not binary:
        rows = np.concatenate([normals[:, None], corners], axis=1).reshape(-1, 12)
        line = "facet normal %r %r %r\nouter loop\n" + "vertex %r %r %r\n" * 3 + "endloop\nendfacet"
        return [b"solid supple\n", format_rows(line, rows), b"endsolid supple\n"]
    facets = np.zeros(len(corners), FACET)
    facets["normal"], facets["corners"] = normals, corners
    return [b"supple".ljust(HEAD - 4), len(corners).to_bytes(4, "little"), facets.tobytes()]
