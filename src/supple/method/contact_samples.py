"""The contacts of a skinned body with itself, as rules learn them: all of them, in several states of every pose.

Newton's method comes to a contact from the shape that the body would have without it. So states between that shape and
the equilibrium are what a rule has to serve; where contacts press they are looked at in full.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.self_contact import SelfContact
from supple.cubature.train_contact_rules import Flesh, Look
from supple.elastic import Body
from supple.method.frozen_contacts import weigh_vertices
from supple.rig import SkinnedRig
from supple.subspace import Basis, DomainBases

__all__ = ["AROUND", "ContactSampler", "around", "between", "find_flesh", "look_at_iterates"]

FloatArray = NDArray[np.float64]
#: Shares of the way from the equilibrium to the free shape, finer where contacts are to balance.
LEARNED = tuple((number / 24) ** 3 for number in range(25))
JUDGED = tuple(((number + 0.5) / 24) ** 3 for number in (1, 4, 8, 13, 19))  #: the same for looks that are held out
SPREAD = 0.01, 0.3  #: shares of that way by which states about the equilibrium are apart from it
AROUND = 24, 6  #: such states to learn from, and to judge by
MOST_ITERATES = 32  #: of Newton's method in full space, of which a pose learns


class Shapes(NamedTuple):
    """A pose's equilibria, as coordinates (r,)."""

    pose: FloatArray
    touching: FloatArray
    free: FloatArray


class ContactSampler:
    """Looks at all contacts of a body at x = A (X + U q) + t."""

    def __init__(
        self, body: Body, rig: SkinnedRig, basis: Basis | DomainBases, own: SelfContact, stiffness: float
    ) -> None:
        self._rig, self._basis, self._own, self._stiffness = rig, basis, own, stiffness
        held = np.zeros(len(body.mass), bool)
        held[body.pins.vertices] = body.pins.held.all(axis=1)
        self._moves = ~held

    def see(self, pose: FloatArray, u: NDArray[np.floating]) -> FloatArray:
        """Coordinates (r,) nearest to a shape that is displaced by u from the skinned body [m], (n, 3)."""
        rig = self._rig
        return self._basis.project(rig.pull_back(pose, rig.positions(pose) + u) - rig.rest)

    def look(self, pose: FloatArray, q: FloatArray) -> Look:
        """What touches there, and what its penalty does to the coordinates."""
        x = self._rig.push_forward(pose, self._rig.rest + self._basis.lift(q))
        touching = self._own.find(x)
        contacts = self._own.to_contacts(touching, x)
        rows = np.flatnonzero((touching.depth > 0.0) & self._moves[contacts.vertices].any(axis=1))
        size = (self._stiffness * contacts.area * touching.depth)[rows]
        weights = weigh_vertices(contacts, len(x))[rows]
        used = np.unique(weights.indices)
        A, _ = self._rig.frames(pose, used)
        handles = weights[:, used] @ (A @ self._basis.rows(used)).reshape(len(used), 3 * self._basis.rank)
        forces = np.einsum(
            "mi,mir->mr", size[:, None] * touching.normal[rows], handles.reshape(len(rows), 3, self._basis.rank)
        )
        pairs = np.column_stack([touching.vertex, touching.triangle])[rows]
        return Look(pairs.astype(np.int32), forces)


def between(sampler: ContactSampler, shapes: Shapes, shares: Sequence[float]) -> list[Look]:
    """Looks at a pose at shares of the way from the equilibrium to the shape without contact."""
    return [sampler.look(shapes.pose, shapes.touching + s * (shapes.free - shapes.touching)) for s in shares]


def around(
    sampler: ContactSampler, shapes: Shapes, stiffness: FloatArray, count: int, rng: np.random.Generator
) -> list[Look]:
    """Looks at a pose at random states about its equilibrium, farther where coordinates are softer: their stiffness at
    rest is given, (r,).

    On the way to the shape without contact flesh moves in one direction; what holds it in all others, too, must not
    slip through between the few contacts of a rule.
    """
    away = shapes.free - shapes.touching
    size = float(np.sqrt((stiffness * away**2).sum() / len(away)))
    found = []
    for spread in np.exp(rng.uniform(math.log(SPREAD[0]), math.log(SPREAD[1]), count)):
        apart = spread * size / np.sqrt(stiffness) * rng.standard_normal(len(away))
        found.append(sampler.look(shapes.pose, shapes.touching + spread * away + apart))
    return found


def look_at_iterates(sampler: ContactSampler, pose: FloatArray, iterates: NDArray[np.floating]) -> list[Look]:
    """Looks at what full space went through in a pose, as the subspace sees it, at most `MOST_ITERATES` evenly chosen;
    `iterates` are displacements from the skinned body [m], (k, n, 3)."""
    some = np.unique(np.linspace(0, len(iterates) - 1, min(len(iterates), MOST_ITERATES)).astype(int))
    return [sampler.look(pose, sampler.see(pose, iterates[k])) for k in some]


def find_flesh(body: Body, rig: SkinnedRig) -> Flesh:
    """Whose the surface of a body is: each vertex its heaviest bone's."""
    influences = rig.influences
    heaviest = np.argmax(influences.weights, axis=1)
    owners = influences.joints[np.arange(len(heaviest)), heaviest].astype(np.int64)
    return Flesh(rig.skeleton, rig.rest, body.mesh.surface_triangles(), owners)
