"""The nodes of a glTF file: who hangs on whom, and where they are at rest and in an animation."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf_container import GltfFile
from supple.io.limits import check_bytes

__all__ = ["NodeTree", "place_nodes"]

FloatArray = NDArray[np.float64]
PATHS = {"translation": [0.0, 0.0, 0.0], "rotation": [0.0, 0.0, 0.0, 1.0], "scale": [1.0, 1.0, 1.0]}


@dataclass(frozen=True, eq=False)
class NodeTree:
    """All nodes of a file, inside its scene or not."""

    file: GltfFile
    parents: tuple[int, ...]
    """Number of each node's parent, -1 for a root."""
    order: tuple[int, ...]
    """The nodes, a parent before its children."""

    @classmethod
    def of(cls, file: GltfFile) -> NodeTree:
        """The tree of a file; a node with two parents or above itself is refused."""
        nodes = file.entries("nodes")
        parents = [-1] * len(nodes)
        for number, node in enumerate(nodes):
            for child in file.list_of(node, "children"):
                place = file.whole(child, "a child of a node")
                if place >= len(nodes) or parents[place] >= 0:
                    raise file.source.damaged(f"node {place} has two parents or is not there")
                parents[place] = number
        order = [number for number, parent in enumerate(parents) if parent < 0]
        for number in order:  # which grows as it goes
            order += nodes[number].get("children", [])
        if len(order) < len(nodes):
            raise file.source.damaged("a node hangs on itself")
        return cls(file, tuple(parents), tuple(order))

    @cached_property
    def rest(self) -> FloatArray:
        """Matrices that carry column vectors of each node to the world as the file places them, (n, 4, 4)."""
        return np.asarray(self.place({}, 1)[0])

    def place(self, moved: Mapping[tuple[int, str], FloatArray], count: int) -> FloatArray:
        """The same in each of `count` frames, (count, n, 4, 4); `moved` has translations, rotations (x y z w) and
        scales, (count, 3 or 4), by node and name."""
        check_bytes(self.file.source.name, 128.0 * count * len(self.parents), "nodes in all frames")
        world = np.empty((count, len(self.parents), 4, 4))
        for number in self.order:
            node = self.file.entry("nodes", number)
            own = {path: moved[number, path] for path in PATHS if (number, path) in moved}
            local = _matrices(self.file, node, own)
            above = self.parents[number]
            world[:, number] = local if above < 0 else world[:, above] @ local
        self.file.source.check_finite(world, "nodes")
        return world

    def above(self, number: int) -> list[int]:
        """The node and all it hangs on, upwards."""
        line = []
        while number >= 0:
            line.append(number)
            number = self.parents[number]
        return line


def place_nodes(file: GltfFile) -> list[tuple[int, FloatArray]]:
    """Every node of the scene with the matrix (4, 4) that carries column vectors to the world."""
    tree, scenes = NodeTree.of(file), file.entries("scenes")
    waiting = deque(number for number, parent in enumerate(tree.parents) if parent < 0)
    if scenes:
        chosen = scenes[min(file.whole(file.tree.get("scene", 0), "the scene"), len(scenes) - 1)]
        waiting = deque(file.whole(root, "a node of the scene") for root in file.list_of(chosen, "nodes"))
    placed: list[tuple[int, FloatArray]] = []
    seen: set[int] = set()
    while waiting:
        number = waiting.popleft()
        node = file.entry("nodes", number)
        if number in seen:
            raise file.source.damaged(f"node {number} has two parents")
        seen.add(number)
        placed.append((number, tree.rest[number]))
        waiting += node.get("children", [])
    return placed


def _matrices(file: GltfFile, node: dict[str, Any], moved: Mapping[str, FloatArray]) -> FloatArray:
    """A node on its parent, (4, 4), or in frames, (k, 4, 4), where something moves it."""
    if "matrix" in node and not moved:
        return _numbers(file, node["matrix"], 16, "a node's matrix").reshape(4, 4).T
    shift, turn, scale = (
        moved[path] if path in moved else _numbers(file, node.get(path, usual), len(usual), f"a node's {path}")
        for path, usual in PATHS.items()
    )
    x, y, z, w = np.moveaxis(turn, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    turned = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2) * scale[..., None, :]
    matrix = np.zeros((*np.broadcast_shapes(turned.shape[:-2], shift.shape[:-1]), 4, 4))
    matrix[..., :3, :3], matrix[..., :3, 3], matrix[..., 3, 3] = turned, shift, 1.0
    return matrix


def _numbers(file: GltfFile, values: object, count: int, what: str) -> FloatArray:
    plain = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
    if not plain or len(values) != count or not np.isfinite(np.array(values, np.float64)).all():  # type: ignore[arg-type]
        raise file.source.damaged(f"{what} is not {count} finite numbers")
    return np.array(values, dtype=np.float64)
