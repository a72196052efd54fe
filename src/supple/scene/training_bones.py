"""Bodies that bones carry: motions beside their skinning, and models of them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.contact.self_contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.elastic import Body
from supple.errors import SuppleWarning
from supple.method import ArticulatedModel, SkinnedModel, make_articulated, train_skinned_rules
from supple.method.selfcontact.training import choose_apart, learn_contacts
from supple.rig import SkinnedRig
from supple.scene.snapshot_cache import Recorded
from supple.scene.statics_cache import StaticsRecorder
from supple.scene.training_motion import Snapshots
from supple.solve import Force
from supple.subspace import Basis, DomainBases, Domains, Interface, diagonalise
from supple.subspace.contact_columns import contact_columns, lead_with_contacts
from supple.subspace.interface import FITTING

__all__ = ["BoneGuide", "DomainGuide"]

FloatArray = NDArray[np.float64]
Ruled = TypeVar("Ruled", SkinnedModel, ArticulatedModel)


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
    contact: ContactSettings | None = None
    contact_poses: int = 16
    """Poses with contact rules, at most."""
    forces: Sequence[Force] = ()
    """That act on the body as contact rules are learned."""
    statics: StaticsRecorder | None = None
    """Settles poses in full space, to learn from all that Newton's method goes through there."""

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
            basis, q, _ = self._lead_with_contacts(basis, train, q)
            model = train_skinned_rules(self.body, self.rig, basis, train.p, q.T, rng, tolerance=tolerance)
            return self._add_contacts(model, train, rng)

    def _lead_with_contacts(
        self, basis: Basis, train: Snapshots, q: FloatArray
    ) -> tuple[Basis, FloatArray, FloatArray | None]:
        """The basis with contact forces before its columns where contact has rules, the snapshots in it, (t, r), and
        those forces in it, (r, c)."""
        if self.contact is None or not self.contact.rules:
            return basis, q, None
        own = SelfContact(self.body.mesh, thickness=self.contact.thickness, ignored=self.contact.ignored)
        some = choose_apart(self.rig, train.p, self.contact_poses)
        shapes = [self.rig.push_forward(train.p[k], self.rig.rest + train.u[k]) for k in some]
        columns = contact_columns(self.body, self.rig, train.p[some], shapes, own)
        led = diagonalise(lead_with_contacts(basis, columns), self.body)
        return led, led.project_all(train.u).T, led.project_all(columns.T) if columns.size else None

    def _add_contacts(self, model: Ruled, train: Snapshots, rng: np.random.Generator) -> Ruled:
        """The model with rules for its contact with itself, where these are asked for."""
        if self.contact is None or not self.contact.rules:
            return model
        some = choose_apart(self.rig, train.p, self.contact_poses)
        poses, shapes = train.p[some], train.u[some]
        passed = [] if self.statics is None else [one and one.iterates for one in self.statics.settle(poses)]
        return learn_contacts(
            self.body, self.rig, model, poses, shapes, self.contact, rng, forces=self.forces, iterates=passed
        )


@dataclass(frozen=True, eq=False)
class DomainGuide(BoneGuide):
    """The same body in domains, whose bases are the parts of one for the whole."""

    domains: Domains | None = None

    def make_model(
        self, basis: Basis, train: Snapshots, q: FloatArray, tolerance: float, rng: np.random.Generator
    ) -> ArticulatedModel:
        assert self.domains is not None
        interface = Interface.of(self.domains, bond=FITTING)
        basis, q, dents = self._lead_with_contacts(basis, train, q)
        bases = DomainBases.cut(self.domains, basis, q.T, dents).diagonalised(interface)
        recorded = bases.project_all(train.u)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SuppleWarning)  # held-out cases judge
            model = make_articulated(bases, interface, self.rig, train.p, recorded, rng, tolerance=tolerance)
            return self._add_contacts(model, train, rng)
