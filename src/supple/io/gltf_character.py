"""Characters out of glTF 2.0: skinned and carried meshes, morph targets, one skeleton, animations."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.binding import bind_weights, frame_times, hang_parts, name_apart
from supple.io.character import Character, Clip, Part
from supple.io.gltf_animation import Channel, read_channels
from supple.io.gltf_container import GltfFile, open_gltf
from supple.io.gltf_nodes import NodeTree, place_nodes
from supple.io.gltf_skin import Joints
from supple.io.gltf_surface import DRAWN, read_triangles, read_uv
from supple.io.limits import check_count
from supple.io.source import Source, read_source
from supple.rig import Influences, Skeleton

__all__ = ["load_gltf_character", "parse_gltf_character"]

FloatArray = NDArray[np.float64]
SETS = 4  #: sets of four influences that are read of a vertex


def load_gltf_character(path: Path, metres: float = 1.0) -> Character:
    """The character in a .glb, or in a .gltf with the buffers beside it; its unit is of `metres`."""
    return parse_gltf_character(read_source(path), path.parent, metres)


def parse_gltf_character(source: Source, folder: Path | None = None, metres: float = 1.0) -> Character:
    """As `load_gltf_character`, from the content of a file."""
    with source.parsing("a glTF character"):
        file = open_gltf(source, folder)
        return _Reader(file, metres).read()


class _Reader:
    """Gathers what a file holds; joints are numbered as they are met and sorted at the end."""

    def __init__(self, file: GltfFile, metres: float) -> None:
        self.file, self.metres = file, metres
        self.tree = NodeTree.of(file)
        self.joints = Joints(self.tree)
        self.parts: list[Part] = []
        self.owners: list[int] = []  # node of every part
        self.count = 0  # vertices of all parts
        self.uses = Counter(str(entry.get("mesh")) for entry in file.entries("nodes"))
        self.notes: list[str] = []
        self.clips = [(entry, read_channels(file, entry)) for entry in file.entries("animations")]
        self.moved = {channel.node for _, channels in self.clips for channel in channels if channel.path != "weights"}

    def read(self) -> Character:
        file, source = self.file, self.file.source
        holders = [number for number, _ in place_nodes(file) if "mesh" in file.entry("nodes", number)]
        for number in sorted(holders, key=lambda one: "skin" not in file.entry("nodes", one)):
            self._add_mesh(number)
        if not self.parts:
            raise source.damaged("its scene has no triangles", "export it with a mesh")
        skeleton, order = self._make_skeleton()
        clips = self._read_clips(order)
        return Character(source.name, tuple(self.parts), skeleton, clips, "y", self.metres, tuple(self.notes))

    def _add_mesh(self, number: int) -> None:
        """The primitives of a node's mesh."""
        node = self.file.entry("nodes", number)
        mesh = self.file.entry("meshes", node["mesh"])
        uses = self.uses[str(node["mesh"])]
        names = (mesh.get("name"), node.get("name"))  # of a mesh that is there several times, the node tells which
        name = str(names[uses > 1] or names[uses == 1] or f"mesh{node['mesh']}")
        if "skin" in node:
            numbers, carry = self.joints.add_skin(node["skin"])
        else:
            numbers, carry = self._carry(number)
        for place, primitive in enumerate(self.file.list_of(mesh, "primitives")):
            attributes = primitive.get("attributes") if isinstance(primitive, dict) else None
            if not isinstance(attributes, dict) or "POSITION" not in attributes:
                raise self.file.source.damaged(f"mesh '{name[:40]}' has a part without positions")
            if primitive.get("mode", DRAWN[0]) in DRAWN:
                part = self._read_part(name, f"{number}/{place}", primitive, mesh, carry)
                part = self._hang(part, attributes, numbers, "skin" in node)
                self.parts.append(part)
                self.count += len(part.vertices)
                check_count(self.file.source.name, self.count, "vertices")  # a mesh may hang on many nodes
                self.owners.append(number)

    def _carry(self, number: int) -> tuple[list[int], FloatArray]:
        """What a mesh without a skin rides on, if anything, and where it is at rest."""
        for above in self.tree.above(number):
            if above in self.joints.nodes:
                return [self.joints.nodes.index(above)], self.joints.place(number)
            if above in self.moved:
                return [self.joints.add_node(number)], self.joints.place(number)
        return [], self.joints.place(number)

    def _read_part(
        self, name: str, place: str, primitive: dict[str, Any], mesh: dict[str, Any], carry: FloatArray
    ) -> Part:
        file, attributes = self.file, primitive["attributes"]
        given = file.accessor(attributes["POSITION"], ("VEC3",), "positions").astype(np.float64)
        triangles = read_triangles(file, primitive, len(given))
        if np.linalg.det(carry[:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]
        bind = np.diag([self.metres] * 3 + [1.0]) @ carry
        vertices = given @ bind[:3, :3].T + bind[:3, 3]
        file.source.check_finite(vertices, "positions")
        corners = triangles.reshape(-1).astype(np.int32)
        uv = read_uv(file, attributes, len(given))
        material = primitive.get("material")
        label = None
        if material is not None:
            label = str(file.entry("materials", material).get("name") or f"material{material}")
        targets = self._read_targets(primitive, mesh, len(given), bind)
        counts = np.full(len(triangles), 3, np.int32)
        corner_uv = None if uv is None else uv[corners]
        return Part(name, place, vertices, counts, corners, None, "linear", corner_uv, label, targets, bind)

    def _read_targets(
        self, primitive: dict[str, Any], mesh: dict[str, Any], count: int, bind: FloatArray
    ) -> dict[str, FloatArray]:
        """Offsets at rest of the morph targets, (n, 3) each, by name."""
        given = self.file.list_of(primitive, "targets")
        extras = mesh.get("extras")
        names = extras.get("targetNames", []) if isinstance(extras, dict) else []
        if not isinstance(names, list) or len(names) != len(given):
            names = [f"shape{k}" for k in range(len(given))]
        check_count(self.file.source.name, len(given) * count, "vertices")
        found = {}
        for name, target in zip(name_apart([str(name) for name in names]), given, strict=True):
            offsets = np.zeros((count, 3))
            if isinstance(target, dict) and "POSITION" in target:
                offsets = self.file.accessor(target["POSITION"], ("VEC3",), "morph targets").astype(np.float64)
            if len(offsets) != count:
                raise self.file.source.damaged("a morph target has not as many vertices as its mesh")
            found[name] = offsets @ bind[:3, :3].T
        return found

    def _hang(self, part: Part, attributes: dict[str, Any], numbers: list[int], skinned: bool) -> Part:
        """The part with what moves its vertices."""
        count = len(part.vertices)
        if not skinned:
            if not numbers:
                return part
            return replace(part, influences=Influences(np.full((count, 1), numbers[0], np.int32), np.ones((count, 1))))
        joints, weights = [], []
        for k in range(SETS):
            if f"JOINTS_{k}" not in attributes:
                break
            joints.append(self.file.accessor(attributes[f"JOINTS_{k}"], ("VEC4",), "joints of vertices"))
            weights.append(self.file.accessor(attributes.get(f"WEIGHTS_{k}"), ("VEC4",), "weights of vertices"))
        odd = any(table.dtype.kind != "u" for table in joints)
        if odd or not joints or any(len(table) != count for table in (*joints, *weights)):
            raise self.file.source.damaged(f"'{part.name[:40]}' has a skin and not a joint and weight for every vertex")
        which, table = np.concatenate(joints, axis=1).astype(np.int64), np.concatenate(weights, axis=1)
        found, notes = bind_weights(
            self.file.source, part.name, which, table.astype(np.float64), len(numbers), part.vertices
        )
        self.notes += notes
        if found is None:
            return part
        return replace(part, influences=replace(found, joints=np.asarray(numbers, np.int32)[found.joints]))

    def _make_skeleton(self) -> tuple[Skeleton | None, NDArray[np.intp]]:
        """The joints met, with parents first, and their order; parts are numbered anew."""
        joints = self.joints
        entries = [self.file.entry("nodes", node) for node in joints.nodes]
        names = [str(entry.get("name") or f"joint{k}") for k, entry in enumerate(entries)]
        heads = self.metres * np.array([bind[:3, 3] for bind in joints.binds]).reshape(-1, 3)
        skeleton, order, self.parts = hang_parts(names, joints.parents(), heads, self.parts)
        return skeleton, order

    def _read_clips(self, order: NDArray[np.intp]) -> tuple[Clip, ...]:
        labels = [str(entry.get("name") or f"clip{k}") for k, (entry, _) in enumerate(self.clips)]
        found = []
        for name, (_, channels) in zip(name_apart(labels), self.clips, strict=True):
            if not channels:
                self.notes.append(f"animation '{name}' has no keys and is left out")
                continue
            found.append(self._read_clip(name, channels, order))
        return tuple(found)

    def _read_clip(self, name: str, channels: list[Channel], order: NDArray[np.intp]) -> Clip:
        keys = np.unique(np.concatenate([channel.times for channel in channels]))
        fps, times = frame_times(self.file.source, keys, len(self.tree.parents) + 1)
        moved = {(one.node, one.path): one.sampled(times) for one in channels if one.path != "weights"}
        moves = np.zeros((len(times), 0, 4, 4))
        if len(order):
            moves = self.joints.moves(self.tree.place(moved, len(times)))[:, order]
        shares = {}
        for number, (part, owner) in enumerate(zip(self.parts, self.owners, strict=True)):
            if part.targets:
                shares[number] = self._read_shares(part, owner, channels, times)
        return Clip(name, fps, times, moves[:, :, :3, :3].copy(), self.metres * moves[:, :, :3, 3], shares)

    def _read_shares(self, part: Part, owner: int, channels: list[Channel], times: FloatArray) -> FloatArray:
        """Shares of a part's blend shapes in every frame, (k, m)."""
        count = len(part.targets)
        node = self.file.entry("nodes", owner)
        usual = node.get("weights", self.file.entry("meshes", node["mesh"]).get("weights", []))
        plain = isinstance(usual, list) and len(usual) == count
        shares = np.tile(np.array(usual if plain else [0.0] * count, np.float64), (len(times), 1))
        for channel in channels:
            if channel.node == owner and channel.path == "weights":
                found = channel.sampled(times)
                if found.shape[1] != count:
                    raise self.file.source.damaged(f"an animation mixes {found.shape[1]} of {count} morph targets")
                shares = found
        self.file.source.check_finite(shares, "weights of morph targets")
        return shares
