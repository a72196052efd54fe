"""Surfaces of glTF files: all meshes of the scene, each a group, joined along the seams of their texture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf_container import GltfFile, open_gltf
from supple.io.gltf_nodes import place_nodes
from supple.io.limits import check_count
from supple.io.raw import RawSurface, join_attributes, to_indices
from supple.io.source import Source, read_source
from supple.mesh import weld_points

__all__ = ["DRAWN", "parse_gltf", "read_gltf", "read_gltf_numbers", "read_triangles", "read_uv"]

TRIANGLES, STRIP, FAN = DRAWN = 4, 5, 6
SKIN_NOTE = "its skin is left out: the vertices are as bound"


@dataclass(frozen=True)
class _Part:
    """Triangles of one primitive, over its own vertices in the scene's space."""

    name: str
    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    uv: NDArray[np.float64] | None  # of every vertex
    attributes: dict[str, NDArray[np.float64]]


def read_gltf(path: Path, *, lenient: bool = False) -> RawSurface:
    """Surface of a .glb, or of a .gltf with the buffers beside it."""
    return parse_gltf(read_source(path, lenient=lenient), path.parent)


def parse_gltf(source: Source, folder: Path | None = None) -> RawSurface:
    """Surface of the file's content; buffers of their own are looked for in the folder."""
    with source.parsing("a glTF surface"):
        file = open_gltf(source, folder)
        parts: list[_Part] = []
        count = 0
        for number, matrix in place_nodes(file):
            own = _node_parts(file, number, matrix)
            parts += own
            count += sum(len(part.vertices) for part in own)
            check_count(source.name, count, "vertices")  # a mesh may hang on many nodes
        if not parts:
            raise source.damaged("its scene has no triangles", "export it with a mesh")
        skinned = any("skin" in node for node in file.entries("nodes"))
        return _join(source, parts, (SKIN_NOTE,) if skinned else ())


def _join(source: Source, parts: list[_Part], notes: tuple[str, ...]) -> RawSurface:
    names = tuple(dict.fromkeys(part.name for part in parts))
    sizes = [len(part.vertices) for part in parts]
    before = np.cumsum([0, *sizes])
    points = np.concatenate([part.vertices for part in parts])
    corners = np.concatenate([part.triangles + start for part, start in zip(parts, before, strict=False)])
    owner = np.repeat([names.index(part.name) for part in parts], sizes)  # parts that touch stay apart
    vertices, place = weld_points(points, owner)
    first = np.unique(place, return_index=True)[1]  # of those at a seam
    numbers = join_attributes([(len(part.vertices), part.attributes) for part in parts])
    uv = None
    if all(part.uv is not None for part in parts):
        uv = np.concatenate([part.uv for part in parts if part.uv is not None])[corners.reshape(-1)]
    groups = np.repeat([names.index(part.name) for part in parts], [len(part.triangles) for part in parts])
    return RawSurface(
        vertices,
        np.full(len(corners), 3, dtype=np.int32),
        to_indices(source, place[corners.reshape(-1)], len(vertices), "triangles"),
        uv,
        groups.astype(np.int32),
        names,
        notes,
        {name: values[first] for name, values in numbers.items()},
    )


def _node_parts(file: GltfFile, number: int, matrix: NDArray[np.float64]) -> list[_Part]:
    node = file.entry("nodes", number)
    if "mesh" not in node:
        return []
    mesh = file.entry("meshes", node["mesh"])
    name = str(mesh.get("name") or node.get("name") or f"mesh{node['mesh']}")
    parts = []
    for primitive in file.list_of(mesh, "primitives"):
        attributes = primitive.get("attributes") if isinstance(primitive, dict) else None
        if not isinstance(attributes, dict) or "POSITION" not in attributes:
            raise file.source.damaged(f"mesh '{name[:40]}' has a part without positions")
        if primitive.get("mode", TRIANGLES) not in DRAWN:
            continue  # points and lines
        vertices = file.accessor(attributes["POSITION"], ("VEC3",), "positions").astype(np.float64)
        triangles = read_triangles(file, primitive, len(vertices))
        if "skin" not in node:  # a skinned mesh hangs on its joints, not on its node
            vertices = vertices @ matrix[:3, :3].T + matrix[:3, 3]
            if np.linalg.det(matrix[:3, :3]) < 0:
                triangles = triangles[:, ::-1]
        file.source.check_finite(vertices, "positions")
        uv, numbers = read_uv(file, attributes, len(vertices)), _read_numbers(file, attributes, len(vertices))
        parts.append(_Part(name, vertices, triangles, uv, numbers))
    return parts


def read_triangles(file: GltfFile, primitive: dict[str, Any], count: int) -> NDArray[np.int64]:
    """Corners of the triangles of a primitive of `count` vertices, strips and fans taken apart, shape (k, 3)."""
    flat: NDArray[Any] = np.arange(count)
    if "indices" in primitive:
        flat = file.accessor(primitive["indices"], ("SCALAR",), "indices")
        if flat.dtype.kind != "u" or (flat.size and flat.max() >= count):
            raise file.source.damaged(f"its indices go beyond its {count:,} positions")
    flat = flat.astype(np.int64)
    mode = primitive.get("mode", TRIANGLES)
    if mode == TRIANGLES:
        if len(flat) % 3:
            raise file.source.damaged("the corners of its triangles do not come in threes")
        return flat.reshape(-1, 3)
    step = np.arange(max(len(flat) - 2, 0))
    if mode == FAN:
        return np.column_stack([np.zeros(len(step), np.int64) + flat[:1], flat[step + 1], flat[step + 2]])
    odd = step % 2
    return np.column_stack([flat[step], flat[step + 1 + odd], flat[step + 2 - odd]])


def read_uv(file: GltfFile, attributes: dict[str, Any], count: int) -> NDArray[np.float64] | None:
    """Texture coordinates of every vertex, with the origin at the lower left as everywhere else in supple."""
    if "TEXCOORD_0" not in attributes:
        return None
    uv = file.accessor(attributes["TEXCOORD_0"], ("VEC2",), "texture coordinates").astype(np.float64)
    if len(uv) != count:
        raise file.source.damaged("its texture coordinates are not as many as its positions")
    return np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])


def read_gltf_numbers(path: Path, places: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Colours and attributes of the vertices of primitives in turn, each named "NODE/PRIMITIVE" as parts are."""
    source = read_source(path)
    with source.parsing("a glTF surface"):
        file, found = open_gltf(source, path.parent), []
        for place in places:
            node, number = map(int, place.split("/"))
            mesh = file.entry("meshes", file.entry("nodes", node).get("mesh"))
            attributes = file.list_of(mesh, "primitives")[number]["attributes"]
            count = file.whole(file.entry("accessors", attributes["POSITION"]).get("count"), "a count")
            found.append((count, _read_numbers(file, attributes, count)))
    return join_attributes(found)


def _read_numbers(file: GltfFile, attributes: dict[str, Any], count: int) -> dict[str, NDArray[np.float64]]:
    """Colours and the exporter's own attributes of every vertex, by name; what does not fit is left out."""
    found = {}
    for name, index in attributes.items():
        if name.startswith(("COLOR_", "_")):
            values = file.accessor(index, ("SCALAR", "VEC2", "VEC3", "VEC4"), f"attribute {name[:40]}")
            if len(values) == count:
                found[name] = values.astype(np.float64)
    return found
