"""Small meshes and frames that the tests of files share."""

import json
import struct
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.io import Frame
from supple.mesh import TetMesh, TriMesh


def cube_of_tets(cells: int) -> TetMesh:
    """A unit cube of 6 * cells**3 tets with uneven coordinates and two named regions."""
    steps = cells + 1
    number = np.arange(steps**3).reshape(steps, steps, steps)
    corners = [
        number[i : cells + i, j : cells + j, k : cells + k].ravel() for i in (0, 1) for j in (0, 1) for k in (0, 1)
    ]
    tets = []
    for order in permutations((1, 2, 4)):
        path = np.cumsum((0, *order))
        tets.append(np.stack([corners[place] for place in path], axis=1))
    ticks = np.linspace(0.0, 1.0, steps) ** 1.1 / 3.0
    vertices = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), axis=-1).reshape(-1, 3)
    cells_of_tets = np.concatenate(tets)
    regions = np.where(vertices[cells_of_tets].mean(axis=1)[:, 0] < 0.15, 3, 7)
    mesh = TetMesh.clean(vertices, cells_of_tets, regions, {"fat layer": 3, "muscle": 7})
    return TetMesh(mesh.vertices, mesh.tets, mesh.regions, mesh.region_names)


@pytest.fixture
def tets() -> TetMesh:
    """27 vertices, 48 tets."""
    return cube_of_tets(2)


@pytest.fixture
def polygons() -> TriMesh:
    """A quad pyramid: one quad, four triangles, texture coordinates at every corner."""
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1 / 3, 0.5, np.pi]])
    counts = [4, 3, 3, 3, 3]
    corners = [0, 3, 2, 1, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4]
    uv = np.linspace(0.0, 1.0, 2 * len(corners)).reshape(-1, 2)
    return TriMesh.from_polygons(vertices, counts, corners, uv)


@pytest.fixture
def make_frames(tets: TetMesh) -> Callable[[int, int], list[Frame]]:
    """Makes the frames of `tets`, growing and shaking, from a first to a last number; always the same."""

    def make(first: int, last: int) -> list[Frame]:
        return frames_of(tets, first, last)

    return make


def frames_of(mesh: TetMesh, first: int, last: int) -> list[Frame]:
    """Frames with all kinds of data."""
    frames = []
    for index in range(first, last + 1):
        rng = np.random.default_rng(index)
        frames.append(
            Frame(
                index,
                index / 24.0,
                mesh.vertices * (1.0 + 0.01 * index) + 0.001 * rng.standard_normal(mesh.vertices.shape),
                rng.standard_normal(mesh.vertices.shape),
                {"load": rng.random(len(mesh.vertices))},
                {"J": rng.random(len(mesh.tets)), "von_mises": rng.random(len(mesh.tets))},
            )
        )
    return frames


KINDS = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class LittleMan:
    """A skinned glTF in the making: two halves of a post on three joints, a hat on the last, a cart, one animation."""

    def __init__(self) -> None:
        self.data = b""
        self.tree: dict[str, Any] = {"asset": {"version": "2.0"}, "accessors": [], "bufferViews": []}
        y = np.arange(5.0)
        post = np.array([[x, h, z] for h in y for x, z in ((0, 0), (1, 0), (0, 1))]) - [0.3, 0.0, 0.3]
        sides = [(3 * r + k, 3 * r + 3 + k, 3 * r + (k + 1) % 3) for r in range(4) for k in range(3)]
        sides += [(3 * r + 3 + k, 3 * r + 3 + (k + 1) % 3, 3 * r + (k + 1) % 3) for r in range(4) for k in range(3)]
        lower = [side for side in sides if max(side) <= 8] + [(0, 1, 2)]
        upper = [side for side in sides if max(side) > 8] + [(12, 14, 13)]
        share = np.clip(post[:, 1] / 4.0, 0.0, 1.0)
        weights = np.column_stack([(1 - share) ** 2, 2 * share * (1 - share), share**2, 0 * share])
        joints = np.tile(np.array([0, 1, 2, 9], np.uint8), (15, 1))  # a number without weight may be any
        inverse = np.tile(np.eye(4), (3, 1, 1))
        inverse[:, 3, 1] = [-0.2, -1.5, -3.0]
        shape = np.zeros((15, 3))
        shape[12:, 1] = 0.5
        attributes = {"POSITION": self.add(post), "JOINTS_0": self.add(joints), "WEIGHTS_0": self.add(weights)}
        targets = [{"POSITION": self.add(shape)}]
        halves = [
            {"attributes": attributes, "indices": self.add(np.array(half, np.uint32).reshape(-1)), "targets": targets}
            for half in (lower, upper)
        ]
        corner = {"attributes": {"POSITION": self.add(post[[0, 1, 2]])}}
        self.tree["meshes"] = [
            {"name": "post", "primitives": halves, "weights": [0.0]},
            {"name": "corner", "primitives": [corner]},
        ]
        self.tree["nodes"] = [
            {"name": "hip", "translation": [0.0, 0.2, 0.0], "children": [1]},
            {"name": "chest", "translation": [0.0, 1.3, 0.0], "children": [2]},
            {"name": "head", "translation": [0.0, 1.5, 0.0], "children": [4]},
            {"name": "man", "mesh": 0, "skin": 0},
            {"name": "hat", "mesh": 1, "translation": [0.0, 1.2, 0.0]},
            {"name": "cart", "mesh": 1, "translation": [3.0, 0.0, 0.0]},
        ]
        self.tree["scenes"] = [{"nodes": [0, 3, 5]}]
        self.tree["skins"] = [{"joints": [0, 1, 2], "inverseBindMatrices": self.add(inverse.reshape(3, 16))}]
        half = np.sqrt(0.5)
        turns = np.array([[0, 0, 0, 1.0], [0, 0, half, half]])
        steps = np.array([[0, 0.2, 0], [0.4, 0.2, 0], [0.8, 0.3, 0]])
        curve = np.zeros((3, 3, 3))
        curve[:, 1], curve[1, 0], curve[1, 2] = [[3, 0, 0], [4, 0, 0], [5, 0, 1]], [1, 0, 0], [0, 0, 2]
        self.tree["animations"] = [{"name": "bow", "samplers": [], "channels": []}]
        self.animate(1, "rotation", [0.0, 1.0], turns, "LINEAR")
        self.animate(0, "translation", [0.0, 0.5, 1.0], steps, "STEP")
        self.animate(5, "translation", [0.0, 0.5, 1.0], curve.reshape(9, 3), "CUBICSPLINE")
        self.animate(3, "weights", [0.0, 1.0], np.array([0.0, 1.0]), "LINEAR")

    def add(self, array: np.ndarray) -> int:
        """Number of an accessor with these values."""
        values = array if array.dtype.kind == "u" else array.astype(np.float32)
        code = {"u1": 5121, "u4": 5125, "f4": 5126}[values.dtype.str[1:]]
        view = {"buffer": 0, "byteOffset": len(self.data), "byteLength": values.nbytes}
        self.tree["bufferViews"].append(view)
        kind = KINDS[1 if values.ndim == 1 else values.shape[1]]
        entry = {"bufferView": len(self.tree["bufferViews"]) - 1, "componentType": code, "count": len(values)}
        self.tree["accessors"].append({**entry, "type": kind})
        self.data += values.tobytes() + b"\0" * (-values.nbytes % 4)
        return len(self.tree["accessors"]) - 1

    def animate(self, node: int, path: str, times: list[float], values: np.ndarray, kind: str) -> None:
        """One more channel."""
        clip = self.tree["animations"][0]
        sampler = {"input": self.add(np.array(times)), "output": self.add(values), "interpolation": kind}
        clip["channels"].append({"sampler": len(clip["samplers"]), "target": {"node": node, "path": path}})
        clip["samplers"].append(sampler)

    def save(self, path: Path) -> Path:
        """Write it as .glb, or as .gltf with its buffer beside it."""
        buffer = {"byteLength": len(self.data)}
        if path.suffix == ".gltf":
            path.with_suffix(".bin").write_bytes(self.data)
            path.write_text(json.dumps({**self.tree, "buffers": [{**buffer, "uri": path.with_suffix(".bin").name}]}))
            return path
        text = json.dumps({**self.tree, "buffers": [buffer]}).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(self.data), b"BIN\0")
        path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks) + len(self.data)) + chunks + self.data)
        return path


@pytest.fixture
def little_man() -> LittleMan:
    """A character of 15 vertices."""
    return LittleMan()
