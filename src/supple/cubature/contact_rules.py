"""Contact rules: which few contacts of a body with itself stand for all, pose by pose ([TOK14] 4.3).

A rule belongs to two bones and a pose of one beside the other. Between poses the two nearest rules are blended; whether
a contact of theirs is closed is seen in each step, Eq. (14) there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from supple.cubature.packed_rules import PackedRules, blend_all
from supple.rig.relative_poses import RelativePoses
from supple.rig.skeleton import Skeleton

__all__ = ["ChosenContacts", "ContactRules", "PairRules"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_SAME = 1e-3  # share of the size of a bone's flesh within which poses are the same
NO_RULE = 1.0  #: multiples of the largest gap between trained poses beyond which none of them is near


class ChosenContacts(NamedTuple):
    """The contacts to look at in a pose."""

    pairs: IntArray
    """Vertices and triangles where to begin to look, (m, 2)."""
    weights: FloatArray
    """How often the force of each counts, (m,)."""
    lacking: tuple[tuple[int, int], ...]
    """Bones that no rule fits here."""


@dataclass(frozen=True, eq=False)
class PairRules:
    """The rules of two bones, one for each pose that they were trained in."""

    seen: RelativePoses
    at: FloatArray
    """Coordinates of the poses [m], (k, 6)."""
    start: NDArray[np.int64]
    """The contacts of pose i are start[i] to start[i + 1], (k + 1,); none where the bones' flesh did not touch."""
    pairs: IntArray
    """Vertices and triangles, (m, 2)."""
    weights: FloatArray
    """Of their forces, (m,)."""
    reach: float
    """Distance [m] from the nearest pose up to which a rule fits."""

    @property
    def bones(self) -> tuple[int, int]:
        return self.seen.bone, self.seen.neighbour


@dataclass(frozen=True, eq=False)
class ContactRules:
    """The rules of a body."""

    rules: tuple[PairRules, ...]

    def choose(self, skeleton: Skeleton, pose: FloatArray) -> ChosenContacts:
        """What to look at in a pose; a vertex that several rules name on one triangle counts for all of them."""
        pairs, weights, lacking = blend_all(self._packed, *skeleton.transforms(pose))
        return ChosenContacts(pairs, weights, tuple(self.rules[k].bones for k in np.flatnonzero(lacking)))

    @cached_property
    def _packed(self) -> PackedRules:
        return PackedRules.of(self.rules)

    def digest(self, update: Callable[[bytes], object]) -> None:
        """Feed everything that decides what is looked at to a fingerprint."""
        for rule in self.rules:
            for array in (rule.seen.root, rule.seen.axes, rule.at, rule.start, rule.pairs, rule.weights):
                update(np.ascontiguousarray(array).tobytes())

    @property
    def largest(self) -> int:
        """Contacts of the largest rule."""
        return max((int(np.diff(rule.start).max(initial=0)) for rule in self.rules), default=0)


def find_reach(seen: RelativePoses, at: FloatArray) -> float:
    """Up to what distance [m] poses at coordinates (k, 6) are near enough to stand for others: their largest gap."""
    least = _SAME * seen.size
    if len(at) < 2:
        return least
    distance, _ = KDTree(at).query(at, k=2)
    return max(least, NO_RULE * float(distance[:, 1].max()))


def pack_rules(seen: RelativePoses, at: FloatArray, rules: Sequence[tuple[IntArray, FloatArray]]) -> PairRules:
    """The rules of two bones from pairs and weights of every pose."""
    start = np.concatenate([[0], np.cumsum([len(pairs) for pairs, _ in rules])]).astype(np.int64)
    pairs = np.concatenate([np.zeros((0, 2), np.int32), *(pairs for pairs, _ in rules)])
    weights = np.concatenate([np.zeros(0), *(weights for _, weights in rules)])
    return PairRules(seen, at, start, pairs, weights, find_reach(seen, at))
