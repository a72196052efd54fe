"""Where bodies touch each other: vertices of one inside the tets of another, all bodies seen as one mesh."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.own_sides import find_from, find_on_way
from supple.contact.self_contact import SelfContact, Touching
from supple.contact.sets import NO_PAIRS
from supple.mesh.tetmesh import TetMesh

__all__ = ["BetweenBodies"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class BetweenBodies:
    """Finds contacts between the bodies of one mesh; what a body does with itself is left to its own solver."""

    def __init__(self, mesh: TetMesh, bodies: Sequence[slice], thickness: float = 0.0) -> None:
        """`bodies` are the vertices of each."""
        numbers = [np.arange(body.start, body.stop) for body in bodies]
        self._contact = SelfContact(mesh, thickness=thickness, ignored=[(own, own) for own in numbers])
        self.edge = self._contact.edge
        """Mean edge of all surfaces [m]."""

    def foresee(self, begin: FloatArray, end: FloatArray, known: IntArray = NO_PAIRS) -> Contacts:
        """Contacts at the end of a step between positions [m], (n, 3), each on the side where its vertex comes from.

        `known` are pairs of a vertex and a triangle that touched before, (k, 2).
        """
        return self._list(find_on_way(self._contact, begin, end, known), end)

    def look(self, x: FloatArray, known: IntArray = NO_PAIRS) -> Contacts:
        """Contacts at positions x [m], (n, 3), of which some pairs are known; open ones among them."""
        return self._list(find_from(self._contact, x, known), x)

    def _list(self, found: Touching, x: FloatArray) -> Contacts:
        return self._contact.to_contacts(found, x)
