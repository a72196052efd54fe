"""PLY surfaces: text, binary of both byte orders, texture coordinates, colours and other numbers of vertices."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.drawn import surface_polygons
from supple.io.raw import RawSurface, to_indices
from supple.io.source import Source
from supple.io.text import cut_lines, format_polygons, format_rows, parse_floats, parse_ints, split_rows
from supple.mesh import TriMesh

__all__ = ["pack_ply", "parse_ply"]

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2", "ushort": "u2",
    "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4", "float": "f4", "float32": "f4",
    "double": "f8", "float64": "f8", "int64": "i8", "uint64": "u8",
}  # fmt: skip
ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
CORNER_TEXTURE = "texcoord"
LISTS = ("vertex_indices", "vertex_index")
COLOURS = ("red", "green", "blue", "alpha")
TEXTURES = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
GEOMETRY = {"x", "y", "z", "nx", "ny", "nz", *(name for names in TEXTURES for name in names)}


@dataclass(frozen=True)
class _Property:
    name: str
    item: np.dtype[Any]
    count: np.dtype[Any] | None = None  #: type of the length in front, for a list


@dataclass(frozen=True)
class _Element:
    name: str
    rows: int
    properties: list[_Property]


@dataclass(frozen=True)
class _Column:
    """Values of one property: those of all rows in turn, and how many each row has."""

    counts: NDArray[np.int64]
    values: NDArray[Any]


def parse_ply(source: Source) -> RawSurface:
    """Polygons of a PLY file."""
    with source.parsing("a PLY surface"):
        order, elements, body = _read_header(source)
        tables: dict[str, dict[str, _Column]] = {}
        for element in elements:
            tables[element.name], body = _read_element(source, element, order, body)
        vertex, face = tables.get("vertex", {}), tables.get("face", {})
        corners = next((face[name] for name in LISTS if name in face), None)
        if corners is None or not {"x", "y", "z"} <= vertex.keys():
            raise source.damaged("it has no vertices with x, y, z and no faces", "export it as a surface")
        vertices = np.column_stack([vertex[axis].values.astype(np.float64) for axis in "xyz"])
        source.check_finite(vertices, "vertices")
        indices = to_indices(source, corners.values, len(vertices), "faces")
        return RawSurface(
            vertices,
            corners.counts.astype(np.int32),
            indices,
            _read_uv(vertex, face, corners, indices),
            attributes=_read_attributes(vertex, elements),
        )


def _read_attributes(vertex: dict[str, _Column], elements: list[_Element]) -> dict[str, NDArray[np.float64]]:
    """The vertices' numbers beside positions, normals and texture coordinates, their colour as one of them."""
    items = [item for element in elements if element.name == "vertex" for item in element.properties]
    plain = [item for item in items if item.count is None and item.name not in GEOMETRY]
    found = {item.name: vertex[item.name].values.astype(np.float64) for item in plain}
    for item in plain:
        if item.name in COLOURS and item.item.kind in "iu":
            found[item.name] /= np.iinfo(item.item).max
    if all(name in found for name in COLOURS[:3]):
        found["color"] = np.column_stack([found.pop(name) for name in COLOURS if name in found])
    return {name: values for name, values in found.items() if np.isfinite(values).all()}


def _read_header(source: Source) -> tuple[str, list[_Element], bytes]:
    """Byte order ("" for text), elements with their properties, and the bytes behind the header."""
    end = source.data.find(b"end_header")
    start = source.data.find(b"\n", end) + 1
    if not source.data.startswith(b"ply") or end < 0 or start == 0:
        raise source.damaged("it has no PLY header")
    order, elements = None, list[_Element]()
    for line in source.data[:end].decode("latin-1").splitlines()[1:]:
        match line.split():
            case ["format", name, *_] if name in ORDERS:
                order = ORDERS[name]
            case ["element", name, rows] if rows.isdigit():
                elements.append(_Element(name, int(rows), []))
            case ["property", "list", count, item, name] if elements and count in TYPES and item in TYPES:
                kinds = np.dtype(f"{order or '='}{TYPES[item]}"), np.dtype(f"{order or '='}{TYPES[count]}")
                elements[-1].properties.append(_Property(name, *kinds))
            case ["property", item, name] if elements and item in TYPES:
                elements[-1].properties.append(_Property(name, np.dtype(f"{order or '='}{TYPES[item]}")))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                raise source.damaged(f"its header has the line '{line.strip()[:60]}'")
    if order is None:
        raise source.damaged("its header names no format that is read")
    return order, elements, source.data[start:]


def _read_element(source: Source, element: _Element, order: str, body: bytes) -> tuple[dict[str, _Column], bytes]:
    """Columns of the element by property, and the bytes behind it."""
    flat: NDArray[Any]
    if order:
        flat = np.frombuffer(body, dtype=np.uint8)
    else:
        text, body = cut_lines(body, element.rows)
        kinds = {dtype.kind for item in element.properties for dtype in (item.item, item.count) if dtype}
        parse = parse_floats if "f" in kinds else parse_ints
        flat = parse(source, text, f"{element.name} rows")
    pieces: dict[str, list[tuple[int, NDArray[Any]]]] = {item.name: [] for item in element.properties}
    used = 0

    def layout(values: NDArray[Any], start: int) -> tuple[int, Sequence[int]]:
        spans = _spans(element, values, start, binary=bool(order))
        return spans[-1][1] if spans else 0, [key for _, _, keys in spans for key in keys]

    for rows in split_rows(source, flat, element.rows, layout, f"{element.name} rows") if element.properties else ():
        used += rows.size
        spans = _spans(element, rows[0], 0, binary=bool(order))
        for item, (begin, end, _) in zip(element.properties, spans, strict=True):
            block = np.ascontiguousarray(rows[:, begin:end])
            pieces[item.name].append((len(rows), block.view(item.item) if order else block))
    if not order and used != len(flat):
        raise source.damaged(f"its {element.name} rows hold more numbers than their properties")
    return {name: _join(blocks) for name, blocks in pieces.items()}, body[used:] if order else body


def _spans(
    element: _Element, values: NDArray[Any], start: int, *, binary: bool
) -> list[tuple[int, int, Sequence[int]]]:
    """First and last column of every property's items in a row, and the columns that hold a list's length."""
    spans: list[tuple[int, int, Sequence[int]]] = []
    at = 0
    for item in element.properties:
        count, keys = 1, range(0)
        if item.count is not None:
            width = item.count.itemsize if binary else 1
            raw = values[start + at : start + at + width]
            if len(raw) < width:
                raise IndexError
            count = int(np.ascontiguousarray(raw).view(item.count)[0] if binary else raw[0])
            keys = range(at, at + width)
            at += width
        end = at + max(count, 0) * (item.item.itemsize if binary else 1)
        spans.append((at, end, keys))
        at = end
    return spans


def _join(blocks: list[tuple[int, NDArray[Any]]]) -> _Column:
    if not blocks:
        return _Column(np.empty(0, dtype=np.int64), np.empty(0))
    counts = np.concatenate([np.full(rows, block.size // rows, dtype=np.int64) for rows, block in blocks])
    return _Column(counts, np.concatenate([block.reshape(-1) for _, block in blocks]))


def _read_uv(
    vertex: dict[str, _Column], face: dict[str, _Column], corners: _Column, indices: NDArray[np.int32]
) -> NDArray[np.float64] | None:
    """Texture coordinates of every corner, stored with the faces or with the vertices, shape (c, 2)."""
    own = face.get(CORNER_TEXTURE)
    if own is not None and np.array_equal(own.counts, 2 * corners.counts) and np.isfinite(own.values).all():
        return own.values.astype(np.float64).reshape(-1, 2)
    for names in TEXTURES:
        if all(name in vertex for name in names):
            uv = np.column_stack([vertex[name].values.astype(np.float64) for name in names])
            return uv[indices] if np.isfinite(uv).all() else None
    return None


def pack_ply(mesh: TriMesh, *, binary: bool = True) -> Iterable[bytes]:
    """The surface as pieces of a PLY file with double precision, its polygons and texture coordinates kept."""
    counts, indices = surface_polygons(mesh)
    header = (
        f"ply\nformat {'binary_little_endian' if binary else 'ascii'} 1.0\n"
        f"element vertex {len(mesh.vertices)}\nproperty double x\nproperty double y\nproperty double z\n"
        f"element face {len(counts)}\nproperty list int int vertex_indices\n"
        + (f"property list int double {CORNER_TEXTURE}\n" if mesh.uv is not None else "")
        + "end_header\n"
    )
    if not binary:
        faces = format_polygons("", counts, indices, counted=True)
        if mesh.uv is not None:
            faces = _append_rows(faces, counts, mesh.uv)
        return [header.encode(), format_rows("%r %r %r", mesh.vertices), faces]
    return [header.encode(), mesh.vertices.astype("<f8").tobytes(), _pack_faces(counts, indices, mesh.uv)]


def _append_rows(lines: bytes, counts: NDArray[np.int32], uv: NDArray[np.float64]) -> bytes:
    """The lines of faces with the texture coordinates of their corners behind."""
    numbers, at, rows = uv.reshape(-1).tolist(), 0, []
    for line, count in zip(lines.decode().splitlines(), counts.tolist(), strict=True):
        rows.append(" ".join([line, str(2 * count), *map(repr, numbers[at : at + 2 * count])]) + "\n")
        at += 2 * count
    return "".join(rows).encode()


def _pack_faces(counts: NDArray[np.int32], indices: NDArray[np.int32], uv: NDArray[np.float64] | None) -> bytes:
    """Faces as bytes, those of one number of corners that follow each other in one go."""
    changes = [0, *(np.flatnonzero(np.diff(counts)) + 1).tolist(), len(counts)]
    starts, pieces = np.concatenate([[0], np.cumsum(counts)]), []
    for first, last in itertools.pairwise(changes):
        size, rows = int(counts[first]) if last > first else 0, last - first
        span = slice(int(starts[first]), int(starts[last]))
        kinds: list[Any] = [("count", "<i4"), ("corners", "<i4", size)]
        table = np.empty(rows, kinds if uv is None else [*kinds, ("pairs", "<i4"), ("uv", "<f8", 2 * size)])
        table["count"], table["corners"] = size, indices[span].reshape(rows, size)
        if uv is not None:
            table["pairs"], table["uv"] = 2 * size, uv[span].reshape(rows, 2 * size)
        pieces.append(table.tobytes())
    return b"".join(pieces)
