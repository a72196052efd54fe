"""Wavefront OBJ surfaces: polygons, texture coordinates and groups; materials and curves are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from supple.io.drawn import surface_polygons
from supple.io.raw import RawSurface, to_indices
from supple.io.source import Source
from supple.io.text import format_polygons, format_rows, parse_floats, parse_ints, tokens_per_line
from supple.mesh import TriMesh

__all__ = ["FROM_ZERO", "pack_obj", "pack_obj_faces", "parse_obj"]

COMMENT = re.compile(rb"#[^\n]*")
VERTEX = re.compile(rb"^[ \t]*v[ \t]+(\S+[ \t]+\S+[ \t]+\S+)", re.MULTILINE)
ANY_VERTEX = re.compile(rb"^[ \t]*v[ \t]", re.MULTILINE)
TEXTURE = re.compile(rb"^[ \t]*vt[ \t]+(\S+[ \t]+\S+)", re.MULTILINE)
ANY_TEXTURE = re.compile(rb"^[ \t]*vt[ \t]", re.MULTILINE)
FACE = re.compile(rb"^[ \t]*f[ \t]+([^\n]*)", re.MULTILINE)
GROUP = re.compile(rb"^[ \t]*[go](?:[ \t]+([^\n]*))?$", re.MULTILINE)
ZERO = re.compile(rb"(?:^|[ \t])0(?=[\s/])", re.MULTILINE)
FROM_ZERO = "counts its vertices from 0 where OBJ counts from 1"
CORNER_REST = re.compile(rb"/\S*")
CORNER_TEXTURE = re.compile(rb"[^\s/]+/([^\s/]+)\S*")


def parse_obj(source: Source) -> RawSurface:
    """Polygons of an OBJ file, each with the group (`g` or `o`) it stands in."""
    with source.parsing("an OBJ surface"):
        unix = source.data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        text = COMMENT.sub(b"", unix).replace(b"\\\n", b"  ")  # a backslash goes on with the line
        if b"\0" in text:
            raise source.damaged("it is not a text file")
        vertices = _read_points(source, text, VERTEX, ANY_VERTEX, 3, "vertices")
        faces = list(FACE.finditer(text))
        if not faces or not len(vertices):
            raise source.damaged("it has no vertices and faces", "export it as a polygon surface")
        starts = np.array([face.start() for face in faces])
        lines = b"\n".join(face[1] for face in faces) + b"\n"
        counts = tokens_per_line(lines)
        corners = _resolve(source, text, CORNER_REST.sub(b"", lines), counts, starts, ANY_VERTEX)
        groups, names = _read_groups(text, starts)
        indices = to_indices(source, corners, len(vertices), "faces")
        uv = _read_uv(source, text, lines, counts, starts)
        notes = (FROM_ZERO,) if source.lenient and ZERO.search(lines) else ()
        return RawSurface(vertices, counts.astype(np.int32), indices, uv, groups, names, notes)


def _read_points(
    source: Source, text: bytes, some: re.Pattern[bytes], every: re.Pattern[bytes], width: int, what: str
) -> NDArray[np.float64]:
    """The first `width` numbers of every line of that kind, shape (n, width)."""
    found = some.findall(text)
    if len(found) != len(every.findall(text)):
        raise source.damaged(f"some of its {what} have fewer than {width} coordinates")
    return parse_floats(source, b"\n".join(found), what).reshape(len(found), width)


def _resolve(
    source: Source,
    text: bytes,
    words: bytes,
    counts: NDArray[np.int64],
    starts: NDArray[np.int64],
    defines: re.Pattern[bytes],
) -> NDArray[np.int64]:
    """References counted from 1, or backwards from the face's place, as references counted from 0."""
    numbers = parse_ints(source, words, "faces")
    if len(numbers) != counts.sum():
        raise source.damaged("a face has a corner without a vertex")
    if (numbers == 0).any():
        if source.lenient and (numbers >= 0).all():
            return numbers  # counted from 0 throughout
        raise source.damaged("a face refers to entry 0, but OBJ counts from 1")
    if (numbers > 0).all():
        return numbers - 1
    places = np.array([found.start() for found in defines.finditer(text)])
    before = np.repeat(np.searchsorted(places, starts), counts)
    return np.where(numbers > 0, numbers - 1, before + numbers)


def _read_uv(
    source: Source, text: bytes, lines: bytes, counts: NDArray[np.int64], starts: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """Texture coordinates of every corner, shape (c, 2); None when some corner has none."""
    words = CORNER_TEXTURE.findall(lines) if b"/" in lines else []
    if len(words) != counts.sum():
        return None
    points = _read_points(source, text, TEXTURE, ANY_TEXTURE, 2, "texture coordinates")
    corners = _resolve(source, text, b"\n".join(words), counts, starts, ANY_TEXTURE)
    return points[to_indices(source, corners, len(points), "texture references")]


def _read_groups(text: bytes, starts: NDArray[np.int64]) -> tuple[NDArray[np.int32] | None, tuple[str, ...]]:
    """Group number of every face and the names of the groups."""
    found = list(GROUP.finditer(text))
    if not found:
        return None, ()
    numbers: dict[str, int] = {"": 0}
    order = [0]
    for group in found:
        name = (group[1] or b"").decode(errors="replace").strip()
        order.append(numbers.setdefault(name, len(numbers)))
    place = np.searchsorted(np.array([group.start() for group in found]), starts)
    return np.array(order, dtype=np.int32)[place], tuple(numbers)


def pack_obj_faces(
    counts: NDArray[np.int32], indices: NDArray[np.int32], uv: NDArray[np.float64] | None = None
) -> bytes:
    """Face lines, after lines of the texture coordinates when there are any."""
    if uv is None:
        return format_polygons("f ", counts, indices + 1, counted=False)
    points, places = np.unique(uv, axis=0, return_inverse=True)
    corners = [f"{corner}/{place}" for corner, place in zip(indices + 1, places.reshape(-1) + 1, strict=True)]
    ends = np.cumsum(counts)
    faces = (" ".join(corners[end - count : end]) for count, end in zip(counts, ends, strict=True))
    return format_rows("vt %r %r", points) + "".join(f"f {face}\n" for face in faces).encode()


def pack_obj(mesh: TriMesh) -> Iterable[bytes]:
    """The surface as pieces of an OBJ file, its polygons, texture coordinates and groups kept."""
    faces = pack_obj_faces(*surface_polygons(mesh), mesh.uv)
    if mesh.groups is not None:
        faces = _with_groups(faces, mesh.groups, mesh.group_names)
    return [format_rows("v %r %r %r", mesh.vertices), faces]


def _with_groups(lines: bytes, groups: NDArray[np.int32], names: Sequence[str]) -> bytes:
    """The face lines with a line `g NAME` wherever the group changes."""
    rows = lines.split(b"\n")[:-1]
    first = len(rows) - len(groups)  # behind the texture coordinates
    pieces, before = rows[:first], 0
    for start in [0, *(np.flatnonzero(np.diff(groups)) + 1).tolist()]:
        pieces += rows[first + before : first + start]
        pieces.append(f"g {names[groups[start]]}".rstrip().encode())
        before = start
    return b"\n".join([*pieces, *rows[first + before :]]) + b"\n"
