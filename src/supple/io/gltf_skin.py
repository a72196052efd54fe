"""Skins of glTF files brought to one skeleton at rest.

A skin's inverse bind matrices I_k say where its vertices v were when bound: x = sum of w_k G_k I_k v, G_k being where
joint k is (glTF 2.0, 3.7.3.1). With B_k where joint k was then, in a space that all skins share, X = B_k I_k v is the
shape at rest and G_k B_k^-1 what moves it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.io.gltf_container import GltfFile
from supple.io.gltf_nodes import NodeTree

__all__ = ["Joints"]

FloatArray = NDArray[np.float64]
SAME = 1e-4  #: share of a skin's size by which two skins may bind one joint apart: single precision


@dataclass
class Joints:
    """Joints as they are found: nodes, each with its place at rest B; a node that skins bind apart is there twice."""

    tree: NodeTree
    nodes: list[int] = field(default_factory=list)
    binds: list[FloatArray] = field(default_factory=list)

    def add_skin(self, number: object) -> tuple[list[int], FloatArray]:
        """Numbers that the joints of a skin have here, and what takes its vertices to rest, B_k I_k, (4, 4)."""
        file = self.tree.file
        skin = file.entry("skins", number)
        nodes = [file.whole(node, "a joint of a skin") for node in file.list_of(skin, "joints")]
        if not nodes or max(nodes) >= len(self.tree.parents):
            raise file.source.damaged("a skin has no joints, or one that is not there")
        inverses = _inverse_binds(file, skin.get("inverseBindMatrices"), len(nodes))
        first = min(range(len(nodes)), key=lambda k: len(self.tree.above(nodes[k])))
        known = [k for k, node in enumerate(nodes) if node in self.nodes]
        first = known[0] if known else first
        carry = self.place(nodes[first]) @ inverses[first]
        _invert(file, carry, "a skin")
        return [self._add(node, carry @ _invert(file, inverses[k], "an inverse bind matrix"))
                for k, node in enumerate(nodes)], carry  # fmt: skip

    def add_node(self, node: int) -> int:
        """Number of a joint that a node is by itself."""
        return self._add(node, self.place(node))

    def place(self, node: int) -> FloatArray:
        """Where a node is at rest: as bound, as it hangs on the nearest that is, or as the file places it, (4, 4)."""
        world = self.tree.rest
        for above in self.tree.above(node):
            if above in self.nodes:
                bind = self.binds[self.nodes.index(above)]
                if above == node:
                    return bind
                return np.asarray(bind @ _invert(self.tree.file, world[above], "a node") @ world[node])
        return np.asarray(world[node])

    def parents(self) -> list[int]:
        """Number of the joint that each hangs on, -1 for none."""
        found = []
        for node in self.nodes:
            line = [above for above in self.tree.above(node)[1:] if above in self.nodes]
            found.append(self.nodes.index(line[0]) if line else -1)
        return found

    def moves(self, world: FloatArray) -> FloatArray:
        """What takes points from rest where nodes are in `world` (k, n, 4, 4): G_k B_k^-1, (k, j, 4, 4)."""
        return np.asarray(world[:, self.nodes] @ np.linalg.inv(np.stack(self.binds)))

    def _add(self, node: int, bind: FloatArray) -> int:
        size = max(float(np.abs(bind).max()), 1e-30)
        for number, (other, there) in enumerate(zip(self.nodes, self.binds, strict=True)):
            if other == node and np.abs(there - bind).max() <= SAME * size:
                return number
        self.nodes.append(node)
        self.binds.append(bind)
        return len(self.nodes) - 1


def _inverse_binds(file: GltfFile, index: object, count: int) -> FloatArray:
    """Inverse bind matrices of `count` joints for column vectors, (count, 4, 4)."""
    if index is None:
        return np.broadcast_to(np.eye(4), (count, 4, 4))
    flat = file.accessor(index, ("MAT4",), "inverse bind matrices").astype(np.float64)
    if len(flat) < count:
        raise file.source.damaged(f"it has {len(flat)} inverse bind matrices for {count} joints")
    return flat[:count].reshape(count, 4, 4).transpose(0, 2, 1)


def _invert(file: GltfFile, matrix: FloatArray, what: str) -> FloatArray:
    """The inverse; what makes all flat is refused."""
    with np.errstate(all="ignore"):
        if not np.isfinite(matrix).all() or not np.linalg.cond(matrix[:3, :3]) < 1e12:
            raise file.source.damaged(f"{what} makes its points flat and cannot be undone")
        return np.asarray(np.linalg.inv(matrix))
