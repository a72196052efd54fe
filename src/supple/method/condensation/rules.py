"""Contact rules beside full space: rules for what was trained, full space for what was not, in one step.

Contacts between bones whose pose has a rule stay in the subspace. All others are novel: they are looked for everywhere
and begin a full region. Where such a region reaches what a rule looks at, its bones are novel as a whole, for a rule's
weights are made for coordinates, not for full vertices ([TMDK15] 4.2).
"""

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.mixed_detector import MixedDetector
from supple.cubature.contact_rules import ContactRules
from supple.cubature.train_contact_rules import Flesh
from supple.method.condensation.subspace import Stance
from supple.method.selfcontact.touching import SLIDES, recall_pairs
from supple.rig import SkinnedRig

__all__ = ["RulesBeside"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


class RulesBeside:
    """Says which bones touch by rules."""

    def __init__(
        self, rig: SkinnedRig, rules: ContactRules, flesh: Flesh, detector: MixedDetector, is_static: bool
    ) -> None:
        self._rig, self._rules, self._flesh, self._detector = rig, rules, flesh, detector
        self._owners = flesh.triangle_owners()
        self._known = frozenset((min(rule.bones), max(rule.bones)) for rule in rules.rules)
        self._pairs, self._weights = np.zeros((0, 2), np.int32), np.zeros(0)
        self._covered: frozenset[tuple[int, int]] = frozenset()
        self._place, self._is_static = rig.rest, is_static

    def begin(self, pose: FloatArray, stance: Stance, q: FloatArray, known: IntArray, full: IntArray) -> None:
        """Choose for a step that ends in a pose and may end at q, with pairs that touched before and vertices that are
        full."""
        pairs, weights, lacking = self._rules.choose(self._rig.skeleton, pose)
        self._covered = self._known - {(min(bones), max(bones)) for bones in lacking}
        self._weights, self._pairs = weights, recall_pairs(pairs, known, self._owners)
        self._place = stance.place(q)
        self._detector.stand(self._place if self._is_static else None)
        self._choose(full)

    @property
    def suffices(self) -> bool:
        """Whether all bones that touched in training have rules in this step."""
        return self._covered == self._known

    def give_way(self, full: IntArray) -> bool:
        """Whether a region reaches what rules look at; its bones are novel from now on."""
        return bool(len(self._find_reached(full))) and self._choose(full)

    def is_ruled(self, contacts: Contacts) -> NDArray[np.bool_]:
        """Which contacts are a rule's, (m,)."""
        return self._detector.is_covered(contacts)

    def _find_reached(self, full: IntArray) -> IntArray:
        """Pairs of which a vertex is full."""
        corners = np.column_stack([self._pairs[:, 0], self._flesh.triangles[self._pairs[:, 1]]])
        return np.flatnonzero(np.isin(corners, full).any(axis=1)).astype(np.int32)

    def _choose(self, full: IntArray) -> bool:
        bones = self._flesh.bones_of(self._pairs)
        reached = {(int(a), int(b)) for a, b in bones[self._find_reached(full)]}
        self._covered -= reached
        kept = np.array([(int(a), int(b)) in self._covered for a, b in bones], np.bool_)
        self._pairs, self._weights = self._pairs[kept], self._weights[kept]
        self._detector.cover(self._covered)
        self._detector.follow(self._pairs, self._weights)
        for _ in range(SLIDES):
            if not self._detector.slide(self._place):
                break
        return bool(reached)
