"""glTF 2.0 written: a .glb of one mesh, its vertices split where texture coordinates differ."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf_container import BINARY_CHUNK, JSON_CHUNK, MAGIC
from supple.mesh import TriMesh, weld_points

__all__ = ["GltfBuilder", "SplitMesh", "pack_gltf", "split_seams"]

FLOAT, UINT = 5126, 5125
ARRAY, INDEX = 34962, 34963
COLOUR = (0.80, 0.55, 0.45, 1.0)
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}


@dataclass(frozen=True)
class SplitMesh:
    """Triangles in which every vertex has one pair of texture coordinates."""

    source: NDArray[np.int32]  #: vertex of the surface that each is a copy of, shape (s,)
    triangles: NDArray[np.int32]  #: shape (k, 3)
    uv: NDArray[np.float64] | None  #: shape (s, 2)


def split_seams(mesh: TriMesh) -> SplitMesh:
    """The triangles of the surface with vertices doubled along the seams of its texture."""
    if mesh.uv is None:
        return SplitMesh(np.arange(len(mesh.vertices), dtype=np.int32), mesh.triangles, None)
    corner = mesh.triangle_corners()
    flat = mesh.triangles.reshape(-1)
    uv = mesh.uv[corner.reshape(-1)]
    keys, place = weld_points(np.column_stack([flat.astype(np.float64), uv]))
    order = np.argsort(keys[:, 0], kind="stable")  # the surface's own order: it comes back when seams are joined
    number = np.empty(len(order), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    return SplitMesh(keys[order, 0].astype(np.int32), number[place].reshape(-1, 3), keys[order, 1:])


@dataclass
class GltfBuilder:
    """A .glb in the making: JSON lists and one buffer."""

    tree: dict[str, Any] = field(
        default_factory=lambda: {
            "asset": {"version": "2.0", "generator": "supple"}, "scene": 0, "scenes": [{"nodes": [0]}],
            "bufferViews": [], "accessors": [],
        }
    )  # fmt: skip
    _pieces: list[bytes] = field(default_factory=list)
    _length: int = 0

    @classmethod
    def over(cls, tree: dict[str, Any], data: bytes) -> GltfBuilder:
        """A file that goes on from the JSON and the one buffer, of whole words, of another."""
        builder = cls(tree, [data], len(data))
        for name in ("bufferViews", "accessors"):
            tree.setdefault(name, [])
        return builder

    def view(self, values: NDArray[Any], target: int | None = None) -> int:
        """A buffer view over the values; its number."""
        data = np.ascontiguousarray(values).tobytes()
        entry = {"buffer": 0, "byteOffset": self._length, "byteLength": len(data)}
        self.tree["bufferViews"].append(entry if target is None else entry | {"target": target})
        padding = -len(data) % 4
        self._pieces += [data, bytes(padding)]
        self._length += len(data) + padding
        return len(self.tree["bufferViews"]) - 1

    def accessor(self, values: NDArray[Any], *, target: int | None = None, bounds: bool = False) -> int:
        """An accessor over floats, or unsigned integers, of shape (k,) or (k, width); its number."""
        data = values.astype("<f4") if values.dtype.kind == "f" else values.astype("<u4")
        entry: dict[str, Any] = {"bufferView": self.view(data, target), **_describe(data)}
        return self.add(entry | (_bounds(data) if bounds else {}))

    def sparse(self, values: NDArray[np.float32]) -> int:
        """An accessor over rows of which most are zero: those that are not, or all where that is smaller."""
        rows = np.flatnonzero((values != 0.0).any(axis=1))
        if len(rows) * 16 >= len(values) * 12:  # a place of 4 bytes beside every row of 12
            return self.accessor(values, bounds=True)
        entry = _describe(values) | _bounds(values)
        if len(rows):
            entry["sparse"] = {
                "count": len(rows),
                "indices": {"bufferView": self.view(rows.astype("<u4")), "componentType": UINT},
                "values": {"bufferView": self.view(values[rows].astype("<f4"))},
            }
        return self.add(entry)

    def add(self, accessor: dict[str, Any]) -> int:
        """Put an accessor on the list; its number."""
        self.tree["accessors"].append(accessor)
        return len(self.tree["accessors"]) - 1

    def surface(self, split: SplitMesh, positions: NDArray[np.float64], normals: NDArray[np.float64]) -> dict[str, Any]:
        """A primitive of triangles over the positions and normals of the surface's vertices."""
        attributes = {
            "POSITION": self.accessor(positions[split.source], target=ARRAY, bounds=True),
            "NORMAL": self.accessor(_upright(normals[split.source]), target=ARRAY),
        }
        if split.uv is not None:
            flipped = np.column_stack([split.uv[:, 0], 1.0 - split.uv[:, 1]])  # glTF's origin is at the top
            attributes["TEXCOORD_0"] = self.accessor(flipped, target=ARRAY)
        self.tree["materials"] = [{"pbrMetallicRoughness": {"baseColorFactor": COLOUR, "metallicFactor": 0.0}}]
        indices = self.accessor(split.triangles.reshape(-1), target=INDEX)
        return {"attributes": attributes, "indices": indices, "material": 0}

    def pack(self) -> Iterable[bytes]:
        """Pieces of the file."""
        self.tree["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(self.tree, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        whole = 12 + 8 + len(text) + 8 + self._length
        head = MAGIC + np.array([2, whole, len(text)], "<u4").tobytes() + JSON_CHUNK
        return [head, text, np.array(self._length, "<u4").tobytes() + BINARY_CHUNK, *self._pieces]


def _describe(values: NDArray[Any]) -> dict[str, Any]:
    width = 1 if values.ndim == 1 else values.shape[1]
    return {"componentType": FLOAT if values.dtype.kind == "f" else UINT, "count": len(values), "type": TYPES[width]}


def _bounds(values: NDArray[Any]) -> dict[str, list[float]]:
    columns = values.reshape(len(values), -1)
    return {"min": columns.min(axis=0).tolist(), "max": columns.max(axis=0).tolist()}


def _upright(normals: NDArray[np.float64]) -> NDArray[np.float64]:
    """The normals, with any direction in place of those that have none: glTF wants unit length."""
    lost = np.linalg.norm(normals, axis=1) < 0.5
    return np.where(lost[:, None], [0.0, 1.0, 0.0], normals)


def pack_gltf(mesh: TriMesh) -> Iterable[bytes]:
    """The surface as pieces of a .glb; polygons are cut into triangles."""
    builder = GltfBuilder()
    builder.tree["meshes"] = [
        {"primitives": [builder.surface(split_seams(mesh), mesh.vertices, mesh.vertex_normals())]}
    ]
    builder.tree["nodes"] = [{"mesh": 0}]
    return builder.pack()
