"""Contacts of a body with itself looked at where rules say, and nowhere else ([TOK14] 5.1).

A rule's vertex is not searched for in all tets: it is followed over the surface from the triangle that it touched in
training, or in the last step, so that what a look costs does not depend on the mesh.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.contacts import Contacts
from supple.contact.detector import Detector
from supple.contact.rule_look import OPEN
from supple.contact.settings import ContactSettings
from supple.elastic import Body

__all__ = ["RuledDetector"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class RuledDetector(Detector):
    """Finds the contacts of a body with its colliders, and those of given pairs with itself."""

    def __init__(self, body: Body, colliders: Sequence[Collider], settings: ContactSettings) -> None:
        super().__init__(body, colliders, settings)
        self._pairs, self._weights = np.zeros((0, 2), np.int32), np.zeros(0)

    def follow(self, pairs: IntArray, weights: FloatArray) -> None:
        """Look from now on at vertices beginning at triangles, (m, 2), each counting so often, (m,)."""
        self._pairs, self._weights = pairs, weights

    def reads(self) -> IntArray:
        """Vertices whose positions the next look reads, ascending: around the triangles of pairs, and around their
        vertices, for of a vertex's ring counts what faces a contact."""
        own = self.own
        corners = np.unique(np.concatenate([self._pairs[:, 0], own.triangles[self._pairs[:, 1]].ravel()]))
        counts = own.fans.start[corners + 1] - own.fans.start[corners]
        first = np.repeat(own.fans.start[corners] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        around = own.fans.triangles[first + np.arange(counts.sum())] if len(corners) else np.zeros(0, np.int32)
        return np.unique(own.triangles[np.unique(around)])

    def slide(self, x: FloatArray) -> bool:
        """Let every vertex go on to the nearest triangle around its own at positions x [m], (n, 3); whether one did."""
        touching = self.own.follow(self._pairs, x)
        moved = bool((touching.triangle != self._pairs[:, 1]).any())
        self._pairs = np.column_stack([self._pairs[:, 0], touching.triangle])
        return moved

    def _foresee_own(self, x: FloatArray, predicted: FloatArray, known: IntArray) -> Contacts:
        return self._look(predicted)

    def _detect_own(self, x: FloatArray, known: IntArray) -> Contacts:
        return self._look(x)

    def _keep(self, found: Contacts, previous: Contacts) -> Contacts:
        return found  # looked at while open, a vertex may have stood for something else

    def _look(self, x: FloatArray) -> Contacts:
        """The contacts at positions x [m], (n, 3); open ones among them."""
        own = self.own
        touching = own.follow(self._pairs, x)  # from where the step began: its looks read the same positions
        # Led to the border of its own surroundings, a vertex is beside the last triangle, not behind it
        beside = (touching.depth > 0.0) & (touching.barycentric == 0.0).any(axis=1)
        rows = np.flatnonzero((touching.depth > -OPEN * own.edge) & ~beside)
        # A vertex that two rules led to one triangle touches it once
        now = np.column_stack([touching.vertex, touching.triangle])[rows]
        _, first, place = np.unique(now, axis=0, return_index=True, return_inverse=True)
        weights = np.bincount(place.ravel(), self._weights[rows], len(first))
        found = own.to_contacts(touching.choose(rows[first]), x)
        return replace(found, area=weights * found.area)
