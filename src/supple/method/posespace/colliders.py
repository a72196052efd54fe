"""What a character in pose space touches of the scene: found at its surface as a step begins, and again at its end.

Contacts are kept by the step itself, as constraints (contact.py): no stiffness is chosen, and what touches
stays out of colliders as far as the columns can dent the flesh.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from supple.contact.approach import approach_colliders
from supple.contact.collider import Collider
from supple.contact.contacts import Contacts
from supple.contact.placed import check_placed
from supple.contact.result import Touch
from supple.contact.sets import choose, join
from supple.contact.settings import ContactSettings
from supple.contact.touch import touch_colliders
from supple.elastic import Body
from supple.method.halving import Tally
from supple.method.posespace.gaps import Stops
from supple.method.posespace.lift import PoseLift
from supple.method.posespace.model import PoseSpaceModel
from supple.method.posespace.state import PoseSpaceState
from supple.method.posespace.surface import PoseSurface
from supple.rig import Rig
from supple.solve.inputs import Inputs

__all__ = ["PoseColliders", "no_stops"]

FloatArray = NDArray[np.float64]

_NEAR = 0.01  # sizes of the body within which a vertex may come to touch a collider that it is not bound for
_DEEP = 1e-3  # sizes by which a vertex that no contact holds may be inside
_PUSH = 0.01  # sizes by which a step pushes out at most what begins inside
_LOOKS = 4  # for contacts that those of a step have pushed the body into
_MOST = 400  # contacts of a step: the deepest


class PoseColliders:
    """Colliders as the surface of a character sees them."""

    def __init__(
        self,
        body: Body,
        rig: Rig,
        model: PoseSpaceModel,
        lift: PoseLift,
        colliders: Sequence[Collider],
        settings: ContactSettings,
    ) -> None:
        self._colliders, self._settings, self._rig, self._lift = tuple(colliders), settings, rig, lift
        self._pairs = len(model.pairs)
        self._vertices, self._count, self._size = body.mesh.surface_vertices(), len(body.mass), body.mesh.size()
        self._surface = PoseSurface(rig, model, self._vertices, body)

    def settle(
        self,
        state: PoseSpaceState,
        ahead: PoseSpaceState,
        inputs: Inputs,
        take: Callable[[Stops | None], PoseSpaceState],
        tally: Tally,
    ) -> PoseSpaceState:
        """Where a step ends that `take` solves with contacts, and again with those that it was pushed into."""
        contacts = self.foresee(state, ahead, inputs)
        if not len(contacts):
            return take(None)
        for look in range(_LOOKS):
            stops = self.find_stops(contacts, state, ahead, inputs.duration)
            end = take(stops)
            missed = self.find_missed(contacts, end, inputs)
            if not len(missed):
                break
            if look < _LOOKS - 1:
                contacts = join((contacts, missed))
        tally.rounds += look + 1
        tally.settled &= not len(missed)
        x = self._lift.place(end, contacts.vertices[:, 0])
        tally.touching = _tell_touch(contacts, stops.force, x)
        return end

    def foresee(self, state: PoseSpaceState, ahead: PoseSpaceState, inputs: Inputs) -> Contacts:
        """Contacts of a step from a state that would end `ahead` if nothing were touched."""
        check_placed(inputs, len(self._colliders))
        begin, end = self._surface.positions(state), self._surface.positions(ahead)
        found = approach_colliders(
            self._colliders, inputs, self._vertices, begin, end, _NEAR * self._size, self._settings.thickness
        )
        if len(found) <= _MOST:
            return found
        return choose(found, np.sort(np.argsort(-found.depth(self._spread(end)), kind="stable")[:_MOST]))

    def find_missed(self, known: Contacts, end: PoseSpaceState, inputs: Inputs) -> Contacts:
        """What is deep inside a collider in the state that a step ended with, and not among its known contacts."""
        found = touch_colliders(
            self._colliders, inputs.begin.colliders, inputs.end.colliders, inputs.duration,
            self._spread(self._surface.positions(end)), self._vertices, np.ones(len(self._vertices)),
            -_DEEP * self._size, self._settings.thickness,
        )  # fmt: skip
        own, held = (one.source.astype(np.int64) * self._count + one.vertices[:, 0] for one in (found, known))
        return choose(found, ~np.isin(own, held))

    def find_stops(self, contacts: Contacts, state: PoseSpaceState, ahead: PoseSpaceState, duration: float) -> Stops:
        """Contacts as the compiled step of one character takes them; it goes from a state to the pose of `ahead`."""
        who = contacts.vertices[:, 0]
        begin, columns = self._lift.place(state, who), self._lift.rows(ahead.poses[0], ahead.w[0], who)
        carried = begin + duration * contacts.velocity  # where they would stick
        placed, normal = self._rig.positions(ahead.poses[0], who), contacts.normal
        depth = -np.einsum("ki,ki->k", normal, carried - contacts.offset)
        goal = contacts.offset - np.maximum(depth - _PUSH * self._size, 0.0)[:, None] * normal
        return Stops(
            np.array([0, len(contacts)], np.int64),
            np.einsum("ab,kbr->kar", ahead.turns[0], columns),
            placed - goal,
            placed - carried,
            normal,
            self._settings.friction_of(contacts.source),
            np.zeros((len(contacts), 3)),
            np.zeros((1, self._pairs, 3)),
            np.zeros((1, 2)),
        )

    def _spread(self, surface: FloatArray) -> FloatArray:
        """Positions of all vertices [m], (n, 3), zero within."""
        x = np.zeros((self._count, 3))
        x[self._vertices] = surface
        return x


@cache  # nothing in it is ever written to
def no_stops(count: int, rank: int) -> Stops:
    """Nothing to touch for so many characters."""
    return Stops(
        np.zeros(count + 1, np.int64), np.zeros((0, 3, rank)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)),
        np.zeros(0), np.zeros((0, 3)), np.zeros((count, 0, 3)), np.zeros((count, 2)),
    )  # fmt: skip


def _tell_touch(contacts: Contacts, force: FloatArray, x: FloatArray) -> Touch | None:
    """The contacts that press with forces [N], (k, 3), where their vertices end [m], (k, 3)."""
    rows = np.flatnonzero(force.any(axis=1))
    if not len(rows):
        return None
    found = choose(contacts, rows)
    depth = np.maximum(np.einsum("ki,ki->k", found.normal, found.offset - x[rows]), 0.0)
    return Touch(
        found.vertices[:, 0].copy(), found.source, x[rows], found.normal, depth, force[rows], found.vertices,
        found.weights,
    )  # fmt: skip
