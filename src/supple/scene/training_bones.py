"""Bodies that bones carry: motions beside their skinning, and models of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.method import ArticulatedModel, SkinnedModel, make_articulated, train_skinned_rules
from supple.rig import SkinnedRig
from supple.scene.snapshot_cache import Recorded
from supple.scene.training_motion import Snapshots
from supple.subspace import Basis, DomainBases, Domains, Interface
from supple.subspace.interface import FITTING

__all__ = ["BoneGuide", "DomainGuide"]

FloatArray = NDArray[np.float64]


class PoseView(NamedTuple):
    """x = φ(p, X + u)."""

    rig: SkinnedRig
    pose: FloatArray

    def see(self, x: FloatArray) -> FloatArray:
        return self.rig.pull_back(self.pose, x)

    def show(self, points: FloatArray) -> FloatArray:
        return self.rig.push_forward(self.pose, points)


@dataclass(frozen=True, eq=False)
class BoneGuide:
    """The rig of a body that springs back to its neutral shape."""

    body: Body
    rig: SkinnedRig

    @property
    def carried(self) -> FloatArray:
        return np.zeros((self.rig.rest.size, 0))

    def follow(self, recorded: Recorded) -> tuple[Sequence[PoseView], FloatArray]:
        poses = recorded.case.poses()
        return [PoseView(self.rig, pose) for pose in poses], poses

    def make_model(
        self, basis: Basis, train: Snapshots, q: FloatArray, tolerance: float, rng: np.random.Generator
    ) -> SkinnedModel | ArticulatedModel:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # held-out cases judge
            return train_skinned_rules(self.body, self.rig, basis, train.p, q.T, rng, tolerance=tolerance)


@dataclass(frozen=True, eq=False)
class DomainGuide(BoneGuide):
    """The same body in domains, whose bases are the parts of one for the whole."""

    domains: Domains

    def make_model(
        self, basis: Basis, train: Snapshots, q: FloatArray, tolerance: float, rng: np.random.Generator
    ) -> ArticulatedModel:
        interface = Interface.of(self.domains, bond=FITTING)
        bases = DomainBases.cut(self.domains, basis, q.T).diagonalised(interface)
        recorded = bases.project_all(train.u)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # held-out cases judge
            return make_articulated(bases, interface, self.rig, train.p, recorded, rng, tolerance=tolerance)
