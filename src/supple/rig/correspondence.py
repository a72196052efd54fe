"""Which joints of two skeletons correspond, and how their rest poses differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.rig.joint_names import match_joints, part_of
from supple.rig.skeleton import Skeleton

__all__ = ["Correspondence"]

FloatArray = NDArray[np.float64]

#: Rest poses thinner than this, second extent by first, are taken for a line, which does not tell how its axes lie.
THIN = 0.1
#: Quarter turns must make the rest poses more alike by this share to be worth it.
WORTH = 0.2


@dataclass(frozen=True, eq=False)
class Correspondence:
    """Joints of a source skeleton for joints of a target; build one with `Correspondence.of`."""

    source: Skeleton
    target: Skeleton
    partners: dict[int, int]
    """Joint of the source by joint of the target, parents first."""
    guessed: frozenset[int]
    """Joints of the target whose partner goes by another name."""

    @classmethod
    def of(cls, source: Skeleton, target: Skeleton, names: Mapping[str, str]) -> Correspondence:
        """Joints matched as `names` says, source by target, and the others by name."""
        given = {target.number(name): source.number(partner) for name, partner in names.items()}
        found = match_joints(source.names, target.names)
        partners, guessed = dict(given), set()
        for name, (partner, guess) in found.items():
            k, m = target.number(name), source.number(partner)
            if k not in given and m not in given.values():
                partners[k] = m
                if guess:
                    guessed.add(k)
        if not partners:
            raise SceneError(
                f"no joint of the target ({', '.join(target.names[:5])}, ...) is known in the source "
                f"({', '.join(source.names[:5])}, ...): say which correspond by `names`."
            )
        return cls(source, target, dict(sorted(partners.items())), frozenset(guessed))

    @cached_property
    def anchor(self) -> int:
        """The joint of the target that travels as its partner does: the hips, or the first that is matched."""
        parts = part_of(self.target.names)
        hips = [k for k in self.partners if parts[self.target.names[k]] == "hips"]
        return hips[0] if hips else next(iter(self.partners))

    @cached_property
    def bones(self) -> list[tuple[int, int]]:
        """Matched joints of the target and the matched ones next above them, where that is so in the source too."""
        above_source = _next_above(self.source, set(self.partners.values()))
        above_target = _next_above(self.target, set(self.partners))
        return [
            (k, above_target[k])
            for k, m in self.partners.items()
            if above_target[k] >= 0 and self.partners[above_target[k]] == above_source[m]
        ]

    @cached_property
    def leaders(self) -> dict[int, int]:
        """Partner of the first matched joint below those joints of the target that have none above or of their own."""
        leaders: dict[int, int] = {}
        for k, m in self.partners.items():
            above = int(self.target.parents[k])
            while above >= 0 and above not in self.partners and above not in leaders:
                leaders[above] = m
                above = int(self.target.parents[above])
        matched_above = _next_above(self.target, set(self.partners))
        return {k: m for k, m in leaders.items() if matched_above[k] < 0}

    def lengths(self) -> tuple[float, str]:
        """Length of the target's legs, or without legs of its bones, by that of the source's; and which it is."""
        parts = part_of(self.target.names)
        legs = [bone for bone in self.bones if parts[self.target.names[bone[0]]].endswith((" shin", " foot"))]
        for bones, what in ((legs, "leg length"), (self.bones, "bone length")):
            here = sum(np.linalg.norm(self.target.heads[k] - self.target.heads[a]) for k, a in bones)
            there = sum(np.linalg.norm(np.subtract(*self._partner_heads(k, a))) for k, a in bones)
            if here > 0.0 and there > 0.0:
                return float(here / there), what
        return 1.0, "nothing to compare"

    def find_axes(self) -> FloatArray:
        """The quarter turns, (3, 3), that make the source's rest pose like the target's; none unless that is clear."""
        here = self.target.heads[list(self.partners)]
        there = self.source.heads[list(self.partners.values())]
        clouds = [points - points.mean(axis=0) for points in (there, here)]
        for cloud in clouds:
            extents = np.linalg.svd(cloud, compute_uv=False)
            if len(cloud) < 3 or extents[1] <= THIN * extents[0]:
                return np.eye(3)
        covariance = clouds[0].T @ clouds[1] / np.linalg.norm(clouds[0]) / np.linalg.norm(clouds[1])
        turns = [np.eye(3), *_quarter_turns()]
        likeness = [float(np.sum(turn.T * covariance)) for turn in turns]
        best = int(np.argmax(likeness))
        return turns[best] if likeness[best] > likeness[0] + WORTH else turns[0]

    def align_rests(self, axes: FloatArray) -> dict[int, FloatArray]:
        """For matched joints the rotation, (3, 3), that lays the target's bone along its partner's at rest."""
        above = _next_above(self.target, set(self.partners))
        below: dict[int, list[int]] = {}
        for k, a in self.bones:
            below.setdefault(a, []).append(k)
        has_child = {above[k] for k in self.partners}
        aligned: dict[int, FloatArray] = {}
        for k, m in self.partners.items():
            carried = aligned.get(above[k], np.eye(3))
            if len(below.get(k, ())) == 1:
                child = below[k][0]
                here = self.target.heads[child] - self.target.heads[k]
                there = np.subtract(*self._partner_heads(child, k))
            elif k not in has_child:
                here = self.target.tails[k] - self.target.heads[k]
                there = self.source.tails[m] - self.source.heads[m]
            else:  # where bones branch there is no one direction
                here = there = np.zeros(3)
            aligned[k] = _swing(carried @ here, axes @ there) @ carried
        return aligned

    def _partner_heads(self, *joints: int) -> tuple[FloatArray, ...]:
        return tuple(self.source.heads[self.partners[k]] for k in joints)


def _next_above(skeleton: Skeleton, chosen: set[int]) -> list[int]:
    """For every joint the nearest chosen one above it, or -1."""
    above: list[int] = []
    for parent in skeleton.parents.tolist():
        above.append(parent if parent in chosen or parent < 0 else above[parent])
    return above


def _quarter_turns() -> list[FloatArray]:
    """The 24 rotations that take axes to axes."""
    signed = [
        np.diag(signs)[list(order)] for order in permutations(range(3)) for signs in product((1.0, -1.0), repeat=3)
    ]
    return [matrix for matrix in signed if np.linalg.det(matrix) > 0.0]


def _swing(start: FloatArray, end: FloatArray) -> FloatArray:
    """The least rotation, (3, 3), from one direction to another; none where either is missing."""
    lengths = np.linalg.norm(start) * np.linalg.norm(end)
    if lengths == 0.0:
        return np.eye(3)
    cosine = float(start @ end / lengths)
    if cosine < -1.0 + 1e-12:  # half a turn about any axis across
        across = np.cross(start, np.eye(3)[np.argmin(np.abs(start))])
        across /= np.linalg.norm(across)
        return np.asarray(2.0 * np.outer(across, across) - np.eye(3))
    x, y, z = np.cross(start, end) / lengths
    turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + turn + turn @ turn / (1.0 + cosine))
