"""Contacts of a body with itself looked at where rules say, and nowhere else ([TOK14] 5.1).

A rule's vertex is not searched for in all tets: it is gone after, from tet to tet and over the surface, from the
triangle that it touched in training, or in the last step, so that what a look costs does not depend on the mesh.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.contacts import Contacts
from supple.contact.detector import Detector
from supple.contact.places import read
from supple.contact.rule_look import Skin, look_closely
from supple.contact.self_contact import Touching
from supple.contact.settings import ContactSettings
from supple.contact.tet_walk import Shallows, walk_all
from supple.elastic import Body

__all__ = ["RuledDetector"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class RuledDetector(Detector):
    """Finds the contacts of a body with its colliders, and those of given pairs with itself."""

    def __init__(
        self,
        body: Body,
        colliders: Sequence[Collider],
        settings: ContactSettings,
        owners: NDArray[np.int64] | None = None,
    ) -> None:
        """`owners` are the bones of all triangles, (k,), by default one."""
        super().__init__(body, colliders, settings)
        self._pairs, self._weights = np.zeros((0, 2), np.int32), np.zeros(0)
        one = np.zeros(len(self.own.triangles), np.int64)
        self.skin, self.shallows = Skin.of(self.own), Shallows.of(self.own, one if owners is None else owners)

    def follow(self, pairs: IntArray, weights: FloatArray) -> None:
        """Look from now on at vertices beginning at triangles, (m, 2), each counting so often, (m,)."""
        self._pairs, self._weights = pairs, weights

    def reads(self) -> IntArray:
        """Vertices whose positions the next look reads, ascending: around the triangles of pairs, below them too, and
        around their vertices, for of a vertex's ring counts what faces a contact."""
        own, around = self.own, self.skin.around
        vertices = self._pairs[:, 0]
        corners = np.unique(own.triangles[self._pairs[:, 1]])
        faces = _list_entries(own.fans.start, own.fans.triangles, np.union1d(vertices, corners))
        beside = _list_entries(around.ring_start, around.ring, corners)
        return np.union1d(own.triangles[np.unique(faces)], beside)

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
        vertices, triangle = (np.ascontiguousarray(side) for side in self._pairs.T)  # where the step began
        nowhere, reads = np.full(len(vertices), -1, np.int32), self.reads()
        places, x = x, read(x, reads)
        slots, room = np.full(len(x), -1, np.int32), np.empty(len(x), np.int32)
        slots[reads] = np.arange(len(reads))
        held = walk_all(vertices, triangle, nowhere, x, slots, len(reads), room, self.skin, self.shallows)
        seen = look_closely(vertices, triangle, held.triangle, nowhere, x, self.skin)
        rows = np.flatnonzero(seen.area > 0.0)
        # A vertex that two rules led to one triangle touches it once
        now = np.column_stack([vertices, seen.triangle])[rows]
        _, first, place = np.unique(now, axis=0, return_index=True, return_inverse=True)
        weights = np.bincount(place.ravel(), self._weights[rows], len(first))
        touching = Touching(vertices, seen.triangle, seen.barycentric, seen.normal, seen.depth, held.tet)
        found = own.to_contacts(touching.choose(rows[first]), places)
        return replace(found, area=weights * found.area)


def _list_entries(start: IntArray, entries: IntArray, some: IntArray) -> IntArray:
    """Those of some rows of a table, row i of which is entries[start[i] : start[i + 1]]."""
    counts = start[some + 1] - start[some]
    first = np.repeat(start[some] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return entries[first + np.arange(counts.sum())] if len(some) else np.zeros(0, np.int32)
