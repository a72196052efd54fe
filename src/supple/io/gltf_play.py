"""Where an animation of a glTF file has its meshes: at any times, vertex by vertex, as glTF 2.0 defines it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf_animation import read_channels
from supple.io.gltf_container import GltfFile
from supple.io.gltf_nodes import NodeTree

__all__ = ["GltfPlay", "skin_weights"]

FloatArray = NDArray[np.float64]


class GltfPlay:
    """An animation, or the file as it stands, at times [s], (k,)."""

    def __init__(self, file: GltfFile, animation: int | None, times: FloatArray) -> None:
        self.file, self.times = file, times
        channels = [] if animation is None else read_channels(file, file.entry("animations", animation))
        moved = {(one.node, one.path): one.sampled(times) for one in channels if one.path != "weights"}
        self._world = NodeTree.of(file).place(moved, len(times))
        self._moved: dict[int, FloatArray] = {}
        self._skins: dict[int, tuple[NDArray[np.int64], FloatArray]] = {}
        self._shares = {one.node: one.sampled(times) for one in channels if one.path == "weights"}

    def maps(self, node: int, primitive: dict[str, Any]) -> Iterator[tuple[FloatArray, FloatArray]]:
        """At each time A (n, 3, 3) and t (n, 3) that take the vertices of a node's primitive to the world: x = A v + t.

        A skinned mesh hangs on its joints, not on its node (glTF 2.0, 3.7.3.1).
        """
        for frame in range(len(self.times)):
            yield self.map_at(node, primitive, frame)

    def map_at(self, node: int, primitive: dict[str, Any], frame: int) -> tuple[FloatArray, FloatArray]:
        """The same at one of the times."""
        count = int(self.file.entry("accessors", primitive["attributes"]["POSITION"])["count"])
        moves = self._moves(node)[frame]
        if "skin" not in self.file.entry("nodes", node):
            return np.broadcast_to(moves[0, :, :3], (count, 3, 3)), np.broadcast_to(moves[0, :, 3], (count, 3))
        which, weights = self._weights(primitive)
        blend = np.einsum("nc,ncij->nij", weights, moves[which])
        return blend[:, :, :3], blend[:, :, 3]

    def points(self, node: int, primitive: dict[str, Any], frame: int) -> FloatArray:
        """Where a node's primitive is at one of the times, morph targets mixed in, in the file's unit, (n, 3)."""
        rest = self.file.accessor(primitive["attributes"]["POSITION"], ("VEC3",), "positions").astype(np.float64)
        shapes, (A, t) = self.targets(primitive), self.map_at(node, primitive, frame)
        shaped = rest + np.tensordot(self.shares(node, len(shapes))[frame], shapes, axes=1)
        return np.asarray(np.einsum("nij,nj->ni", A, shaped) + t)

    def stretch(self, node: int) -> float:
        """How much longer the maps of a node's mesh make anything at most: blends are no longer than what they mix."""
        return float(np.linalg.norm(self._moves(node)[..., :3], 2, axis=(-2, -1)).max())

    def _weights(self, primitive: dict[str, Any]) -> tuple[NDArray[np.int64], FloatArray]:
        key = int(primitive["attributes"]["JOINTS_0"])
        if key not in self._skins:
            self._skins[key] = skin_weights(self.file, primitive)
        return self._skins[key]

    def _moves(self, node: int) -> FloatArray:
        if node not in self._moved:
            self._moved[node] = self._move(node)
        return self._moved[node]

    def _move(self, node: int) -> FloatArray:
        """What a node's mesh is moved by at each time: its joints, (k, j, 3, 4), or the node alone, (k, 1, 3, 4)."""
        entry = self.file.entry("nodes", node)
        if "skin" not in entry:
            return self._world[:, [node], :3]
        skin = self.file.entry("skins", entry["skin"])
        joints = self.file.list_of(skin, "joints")
        binds = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
        if "inverseBindMatrices" in skin:
            flat = self.file.accessor(skin["inverseBindMatrices"], ("MAT4",), "inverse bind matrices")
            binds = flat[: len(joints)].astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
        return np.asarray((self._world[:, joints] @ binds)[:, :, :3])

    def shares(self, node: int, count: int) -> FloatArray:
        """Weights of a node's `count` morph targets at all times, (k, count)."""
        found = self._shares.get(node)
        if found is not None and found.shape[1] == count:
            return found
        entry = self.file.entry("nodes", node)
        usual = entry.get("weights", self.file.entry("meshes", entry["mesh"]).get("weights", [0.0] * count))
        return np.tile(np.array(usual, np.float64)[:count], (len(self.times), 1))

    def targets(self, primitive: dict[str, Any]) -> FloatArray:
        """Offsets of a primitive's morph targets, (m, n, 3)."""
        count = int(self.file.entry("accessors", primitive["attributes"]["POSITION"])["count"])
        given = self.file.list_of(primitive, "targets")
        out = np.zeros((len(given), count, 3))
        for offsets, target in zip(out, given, strict=True):
            if "POSITION" in target:
                offsets[:] = self.file.accessor(target["POSITION"], ("VEC3",), "morph targets")
        return out


def skin_weights(file: GltfFile, primitive: dict[str, Any]) -> tuple[NDArray[np.int64], FloatArray]:
    """Joints of a skinned primitive's vertices, numbered as in its skin, and their weights, which sum to 1, (n, c)."""
    attributes = primitive["attributes"]
    joints: list[NDArray[Any]] = []
    weights: list[NDArray[Any]] = []
    while f"JOINTS_{len(joints)}" in attributes:
        number = len(joints)
        joints.append(file.accessor(attributes[f"JOINTS_{number}"], ("VEC4",), "joints of vertices"))
        weights.append(file.accessor(attributes.get(f"WEIGHTS_{number}"), ("VEC4",), "weights of vertices"))
    table = np.maximum(np.concatenate(weights, axis=1).astype(np.float64), 0.0)
    table[table.sum(axis=1) <= 0.0, 0] = 1.0
    which = np.where(table > 0.0, np.concatenate(joints, axis=1), 0)  # files pad rows with any number
    return which.astype(np.int64), table / table.sum(axis=1, keepdims=True)
