"""Contacts of a body with itself by rules between bones that have one, and all contacts between all others."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.contacts import SELF, Contacts
from supple.contact.detector import Detector
from supple.contact.ruled_detector import RuledDetector
from supple.contact.sets import choose, join
from supple.contact.settings import ContactSettings
from supple.elastic import Body

__all__ = ["MixedDetector"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class MixedDetector(RuledDetector):
    """Looks at given pairs, and everywhere else at what they do not stand for."""

    def __init__(
        self,
        body: Body,
        colliders: Sequence[Collider],
        settings: ContactSettings,
        bones_at: Callable[[NDArray[np.integer], NDArray[np.integer]], NDArray[np.int64]],
        owners: NDArray[np.int64],
    ) -> None:
        """`bones_at` names the two bones of touching vertices (m,) and corners (m, 3), the lower first, (m, 2);
        `owners` are those of all triangles, (k,)."""
        super().__init__(body, colliders, settings, owners)
        self._bones_at = bones_at
        self._covered: frozenset[tuple[int, int]] = frozenset()
        self._ahead: FloatArray | None = None

    def stand(self, ahead: FloatArray | None) -> None:
        """Foresee pairs at positions [m], (n, 3), of their own: in equilibria those that bones take flesh to, where
        all else is looked for where it was, or it would pass through itself unseen."""
        self._ahead = ahead

    def cover(self, bones: Collection[tuple[int, int]]) -> None:
        """Leave all contacts between these bones, the lower first, to the pairs that are followed."""
        self._covered = frozenset(bones)

    def is_covered(self, contacts: Contacts) -> NDArray[np.bool_]:
        """Which contacts are between bones whose pairs are followed, (m,)."""
        found = np.zeros(len(contacts), np.bool_)
        own = np.flatnonzero(contacts.source == SELF)
        if len(own) and self._covered:
            bones = self._bones_at(contacts.vertices[own, 0], contacts.vertices[own, 1:])
            found[own] = [(int(one), int(other)) in self._covered for one, other in bones]
        return found

    def _foresee_own(self, x: FloatArray, predicted: FloatArray, known: IntArray) -> Contacts:
        found = Detector._foresee_own(self, x, predicted, known)
        return self._join(predicted if self._ahead is None else self._ahead, found)

    def _detect_own(self, x: FloatArray, known: IntArray) -> Contacts:
        return self._join(x, Detector._detect_own(self, x, known))

    def _keep(self, found: Contacts, previous: Contacts) -> Contacts:
        kept = Detector._keep(self, found, previous)
        return replace(found, area=np.where(self.is_covered(found), found.area, kept.area))

    def _join(self, x: FloatArray, everything: Contacts) -> Contacts:
        others = choose(everything, ~self.is_covered(everything))
        return join((self._look(x), others)) if self._covered else others
