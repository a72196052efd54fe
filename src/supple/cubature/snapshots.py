"""Deformed shapes with the stresses of all their elements, kept so that any later basis can be trained on them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.element_map import ElementMap
from supple.cubature.problem import IntArray
from supple.elastic import Body

__all__ = ["Snapshots"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Snapshots:
    """T displacements and what every element answers to them.

    Nothing here depends on a basis: while the displacements lie in its span, a new basis is trained without
    evaluating a material again ([KJ09] section 4). That costs memory, 36 bytes an element and snapshot; poses of one
    basis alone do not need it.
    """

    fields: FloatArray
    """Displacements [m], (3 n, T)."""
    stresses: NDArray[np.float32]
    """First Piola-Kirchhoff stresses times volumes [J], (m, 9, T), elements in the order of the mesh."""

    @classmethod
    def record(cls, body: Body, fields: FloatArray) -> "Snapshots":
        """Evaluate the body's materials at displacements (3 n, T) [m] from rest."""
        elements = ElementMap(body)
        stresses = np.empty((elements.count, 9, fields.shape[1]), np.float32)
        for block in blocks(elements.count, 16):
            stresses[block] = elements.stresses(elements.gradients(fields, block), block)
        return cls(fields, stresses)

    @property
    def count(self) -> int:
        """Number of snapshots T."""
        return int(self.fields.shape[1])

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """Stresses times volumes [J] of the elements `who` in the snapshots `samples`, (k, 9, t)."""
        return self.stresses[who][:, :, samples]

    def joined(self, other: "Snapshots") -> "Snapshots":
        """These snapshots and the other ones."""
        return Snapshots(
            np.concatenate([self.fields, other.fields], axis=1),
            np.concatenate([self.stresses, other.stresses], axis=2),
        )
