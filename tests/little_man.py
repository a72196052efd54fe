"""A small character that tests write as glTF, byte by byte, so that they can damage it anywhere."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

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
        code = {"u1": 5121, "u2": 5123, "u4": 5125, "f4": 5126}[values.dtype.str[1:]]
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
