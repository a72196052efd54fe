"""The body at rest in a pose with the subspace it moves in there, at example poses and between them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.rig import Motion, PoseWeights, Rig
from supple.subspace import Basis, PoseBases
from supple.subspace.energy import uncouple
from supple.subspace.vertex_turns import find_vertex_turns

__all__ = ["PosedSpace", "PosedSpaces"]

FloatArray = NDArray[np.float64]

_ASIDE = 0.3  # of the way from one example to the next


@dataclass(frozen=True, eq=False)
class PosedSpace:
    """One pose to train or to check in.

    Neither samples nor forces in the energy norm depend on the coordinates of a subspace, so its modes there serve,
    whatever its columns were aligned to.
    """

    pose: FloatArray
    """(p,)"""
    shares: FloatArray
    """How much each example pose counts, (m,): none negative, 1 together."""
    body: Body
    """At rest in the pose."""
    basis: Basis
    """Diagonalised there."""


@dataclass(frozen=True, eq=False)
class PosedSpaces:
    """All poses to train and to check in."""

    examples: list[PosedSpace]
    """The poses of the bases."""
    middles: list[PosedSpace]
    """Half way between them, to train in, too."""
    others: list[PosedSpace]
    """Elsewhere between them, to check in."""
    turning: bool = False
    """Whether columns turn with the flesh."""

    @classmethod
    def of(cls, body: Body, rig: Rig, bases: PoseBases) -> "PosedSpaces":
        """Those of a rigged body with bases in some poses."""
        middles, others = (_between(body, rig, bases, way) for way in (0.5, _ASIDE))
        return cls(_at(body, bases), middles, others, bases.turns is not None)

    @property
    def everywhere(self) -> list[PosedSpace]:
        """One after another."""
        return [*self.examples, *self.middles, *self.others]


def _at(body: Body, bases: PoseBases) -> list[PosedSpace]:
    alone = np.eye(len(bases.poses))
    examples = zip(bases.poses, alone, bases.rest, bases.columns, strict=True)
    return [_space(body, *one, f"example pose {k}") for k, one in enumerate(examples)]


def _between(body: Body, rig: Rig, bases: PoseBases, way: float) -> list[PosedSpace]:
    """The poses that lie a share of the `way` from one example to another that was aligned to it."""
    weights = PoseWeights([rig.embed(pose) for pose in bases.poses])
    found = []
    for child, parent in enumerate(bases.tree):
        if child != parent:
            pose = Motion.of(rig, [0.0, 1.0], bases.poses[[parent, child]], "linear").at(way)
            if not body.can_rest(rig.positions(pose)):
                continue  # no motion that can be simulated comes by
            shares = np.maximum(weights.at(rig.embed(pose)), 0.0)
            shares /= shares.sum()
            turns = None if bases.turns is None else find_vertex_turns(body, rig, pose)
            name = f"the pose between example poses {parent} and {child}"
            found.append(_space(body, pose, shares, rig.positions(pose), bases.at(shares, turns), name))
    return found


def _space(
    body: Body, pose: FloatArray, shares: FloatArray, rest: FloatArray, columns: FloatArray, name: str
) -> PosedSpace:
    posed = body.posed(rest, name, pose)
    basis = Basis(columns, body.mass, "bases of poses", np.zeros(columns.shape[1]))
    return PosedSpace(pose, shares, posed, uncouple(basis, posed, rest))
