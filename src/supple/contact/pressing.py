"""Contacts that press as a step ends: what the next one starts from."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts

__all__ = ["Pressing"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Pressing:
    """m contacts known by their vertex and what it touches; part of a state."""

    vertex: IntArray
    """(m,)"""
    source: IntArray
    """Number of the collider, or SELF, (m,)."""
    partner: IntArray
    """Vertex of the body's own surface that is touched; 0 for colliders, (m,)."""
    force: FloatArray
    """On the vertex [N], (m, 3)."""

    @classmethod
    def none(cls) -> "Pressing":
        """Nothing is touched."""
        return cls(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)))

    def __len__(self) -> int:
        return len(self.vertex)

    def recall(self, contacts: Contacts) -> FloatArray:
        """Forces of contacts of the same vertices with the same things [N], (k, 3); zero for new ones."""
        forces = np.zeros((len(contacts), 3))
        if len(self):
            known = _label(self.source, self.vertex)
            asked = _label(contacts.source, contacts.vertices[:, 0])
            order = np.argsort(known, kind="stable")
            place = np.minimum(np.searchsorted(known[order], asked), len(known) - 1)
            again = known[order[place]] == asked
            forces[again] = self.force[order[place[again]]]
        return forces

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """As plain arrays."""
        who = np.stack([self.vertex, self.source, self.partner], axis=1)
        return {"pressing": who, "pressing_force": self.force}

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "Pressing":
        """What was packed."""
        who = np.asarray(arrays["pressing"], np.int32)
        vertex, source, partner = (np.ascontiguousarray(column) for column in who.T)
        return cls(vertex, source, partner, np.asarray(arrays["pressing_force"], np.float64))


def _label(source: IntArray, vertex: IntArray) -> NDArray[np.int64]:
    return (source.astype(np.int64) << 32) + vertex
