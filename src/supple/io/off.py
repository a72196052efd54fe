"""OFF surfaces (text), also COFF, NOFF and STOFF; colours and normals are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from supple.io.drawn import surface_polygons
from supple.io.raw import RawSurface, to_indices
from supple.io.source import Source
from supple.io.text import cut_lines, format_polygons, format_rows, parse_floats, parse_ints, tokens_per_line
from supple.mesh import TriMesh

__all__ = ["pack_off", "parse_off"]

COMMENT = re.compile(rb"#[^\n]*")
BLANK_LINE = re.compile(rb"^\s*\n", re.MULTILINE)
MAGIC = re.compile(rb"\s*(ST)?C?N?OFF\b")


def parse_off(source: Source) -> RawSurface:
    """Polygons of an OFF file: one line a vertex, one line a face."""
    with source.parsing("an OFF surface"):
        text = BLANK_LINE.sub(b"", COMMENT.sub(b"", source.data))
        magic = MAGIC.match(text)
        if magic is None:
            raise source.damaged("it does not begin with OFF")
        head, body = cut_lines(text[magic.end() :].lstrip(), 1)
        counts = parse_ints(source, head, "counts")
        if len(counts) < 2 or (counts < 0).any():
            raise source.damaged("its second line does not count vertices and faces")
        vertex_lines, rest = cut_lines(body, int(counts[0]))
        face_lines, _ = cut_lines(rest, int(counts[1]))
        vertices = _first_columns(source, vertex_lines, int(counts[0]))
        sizes, corners = _read_faces(source, face_lines, int(counts[1]))
        return RawSurface(vertices, sizes, to_indices(source, corners, len(vertices), "faces"))


def _first_columns(source: Source, text: bytes, count: int) -> NDArray[np.float64]:
    """The first three numbers of every line, shape (count, 3)."""
    words = tokens_per_line(text)
    if len(words) != count or (words < 3).any():
        raise source.damaged(f"it has not three coordinates for each of its {count:,} vertices")
    values = parse_floats(source, text, "vertices")
    starts = np.cumsum(words) - words
    columns: NDArray[np.float64] = values[starts[:, None] + np.arange(3)]
    return columns


def _read_faces(source: Source, text: bytes, count: int) -> tuple[NDArray[np.int32], NDArray[np.number]]:
    """Number of corners of every face and all corners in turn; a colour behind them is passed over."""
    words = tokens_per_line(text)
    values = parse_floats(source, text, "faces") if b"." in text else parse_ints(source, text, "faces")
    starts = np.cumsum(words) - words
    if len(words) != count or (words < 1).any() or (values[starts] < 0).any() or (values[starts] >= words).any():
        raise source.damaged(f"its {count:,} faces do not each hold a count and that many corners")
    sizes = values[starts].astype(np.int32)
    first = np.cumsum(sizes) - sizes
    corners = np.repeat(starts + 1 - first, sizes) + np.arange(sizes.sum())
    return sizes, values[corners]


def pack_off(mesh: TriMesh) -> Iterable[bytes]:
    """The surface as pieces of an OFF file, its polygons kept."""
    counts, indices = surface_polygons(mesh)
    return [
        f"OFF\n{len(mesh.vertices)} {len(counts)} 0\n".encode(),
        format_rows("%r %r %r", mesh.vertices),
        format_polygons("", counts, indices, counted=True),
    ]
