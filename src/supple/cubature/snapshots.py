"""Deformed shapes with the stresses of all their elements, kept so that any later basis can be trained on them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.element_map import ElementMap
from supple.elastic import Body

__all__ = ["Snapshots"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Snapshots:
    """T displacements and what every element answers to them.

    Nothing here depends on a basis: while the displacements lie in its span, a new basis is trained without
    evaluating a material again ([KJ09] section 4).
    """

    fields: FloatArray
    """Displacements [m], (3 n, T)."""
    stresses: NDArray[np.float32]
    """First Piola-Kirchhoff stresses times volumes [J], (m, 9, T), elements in the order of the mesh."""

    @classmethod
    def record(cls, body: Body, fields: FloatArray) -> "Snapshots":
        """Evaluate the body's materials at displacements (3 n, T) [m] from rest."""
        elements = ElementMap(body)
        volume = elements.volume.astype(np.float32)
        stresses = np.empty((elements.count, 9, fields.shape[1]), np.float32)
        for number, part in enumerate(body.parts):
            of_part = np.flatnonzero(elements.part == number)
            for block in blocks(len(of_part), 16):
                who = of_part[block]
                F = elements.gradients(fields, who).transpose(0, 2, 1).reshape(len(who), -1, 3, 3) + np.eye(3)
                P = part.material.stress(F).reshape(len(who), -1, 9).astype(np.float32)
                stresses[who] = P.transpose(0, 2, 1) * volume[who, None, None]
        return cls(fields, stresses)

    @property
    def count(self) -> int:
        """Number of snapshots T."""
        return int(self.fields.shape[1])

    def joined(self, other: "Snapshots") -> "Snapshots":
        """These snapshots and the other ones."""
        return Snapshots(
            np.concatenate([self.fields, other.fields], axis=1),
            np.concatenate([self.stresses, other.stresses], axis=2),
        )
