"""Contact that holds in projective dynamics: forces through the constant matrix, found while a step is solved.

A step looks for contacts once, at sampled vertices of the surface, and freezes them. Every iteration of the method then
makes one pass over their forces (contact/sweep.py), which start from those of the step before. Nothing is factorised
again and nothing is softened: where contacts come to rest, they do not sink and do not creep.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import ProjectiveBody
from supple.contact.approach import approach_colliders, hold_up
from supple.contact.collider import Collider
from supple.contact.contacts import SELF, Contacts
from supple.contact.delassus import Delassus
from supple.contact.grip import Grip
from supple.contact.links import look, push, start_contacts
from supple.contact.placed import check_placed, list_colliders
from supple.contact.pressing import Pressing
from supple.contact.result import Touch
from supple.contact.sets import choose, join
from supple.contact.settings import ContactSettings
from supple.contact.surfels import Surfels
from supple.contact.sweep import settle
from supple.errors import SceneError
from supple.mesh.adjacency import vertex_labels
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.solve.inputs import Inputs

__all__ = ["ContactStep", "ProjectiveContact", "choose_candidates"]

FloatArray = NDArray[np.float64]
SingleArray = NDArray[np.float32]
IntArray = NDArray[np.int32]
_NEAR = 0.002  # sizes of the body within which a vertex may come to touch a collider that it is not bound for
_NEAR_SELF = 0.005  # likewise its own surface, which moves too
_PUSH = 0.01  # sizes of the body by which a step pushes out at most what begins inside a collider
_MOST = 400  # contacts; a pass costs their square, and sampled vertices come in an order that spreads any first part
_TOLERANCE = 2e-5  # sizes of the body by which forces may still move a contact
_REBOUND_WORK, _REBOUND_PASSES = 4_000_000, (10, 4000)  # squares of contacts that passes may cost; fewest, most passes
_REBOUND_MISS = 1e-6  # share of the fastest rebound that a pass may still change
_SLOW = 2.0  # steps in which loads alone make the speed below which nothing rebounds


@dataclass(frozen=True, eq=False)
class ContactStep:
    """The contacts of one step, and their forces, which a method brings up to date in place."""

    contacts: Contacts
    base: FloatArray
    """Where they are as the step begins, carried by what they touch [m], (m, 3)."""
    impact: FloatArray
    """Speed at which contacts shall part if they press [m/s], (m,); 0 where none is asked for."""
    grip: Grip
    """Their arrays for compiled loops; its bases are relative to the origin that positions are to be seen from."""

    def settle(self, points: FloatArray) -> None:
        """Brings the forces up to date, under which the contacts are now at `points` C x [m], (m, 3)."""
        grip, moved = self.grip, _lanes(points - self.base)
        settle(grip.W, grip.normal, grip.goal, grip.friction, moved, grip.force, grip.tolerance, grip.passes)

    def look(self, q: FloatArray) -> FloatArray:
        """C q, (m, 3), of a method's coordinates or their rates, (r, 3)."""
        return np.asarray(look(self.grip.start, self.grip.column, self.grip.value, q))

    def answer(self, forces: FloatArray) -> FloatArray:
        """How far forces on the contacts [N], (m, 3), move the coordinates, (r, 3)."""
        Y, forces = self.grip.Y, forces.astype(np.float32)
        if len(Y) == 1:
            return np.asarray(Y[0].T @ forces, np.float64)
        return np.column_stack([Y[axis].T @ forces[:, axis] for axis in range(3)]).astype(np.float64)

    def push(self, forces: FloatArray, width: int) -> FloatArray:
        """Forces on the contacts [N], (m, 3), as the method's coordinates feel them, (width, 3)."""
        return np.asarray(push(self.grip.start, self.grip.column, self.grip.value, forces, width))

    def rebound(self, velocity: FloatArray) -> FloatArray | None:
        """Forces [N/s], (m, 3), that add to `velocity` C v at the end [m/s], (m, 3), what makes contacts bounce.

        None where nothing does. A method's velocities grow by what its coordinates move under these forces.
        """
        if not self.impact.any():
            return None
        bounce = (self.impact > 0.0) & self.grip.force.any(axis=0)
        if not bounce.any():
            return None
        goal = np.where(bounce, self.impact, -np.inf).astype(np.float32)
        speed, force = _lanes(velocity - self.contacts.velocity), np.zeros_like(self.grip.force)
        miss = _REBOUND_MISS * float(self.impact.max())
        passes = int(np.clip(_REBOUND_WORK // len(goal) ** 2, *_REBOUND_PASSES))
        settle(self.grip.W, self.grip.normal, goal, np.zeros_like(goal), speed, force, miss, passes)
        return force.T.astype(np.float64)

    def forces(self) -> FloatArray:
        """On the contacts [N], (m, 3)."""
        return self.grip.force.T.astype(np.float64)

    def total(self) -> FloatArray:
        """The force on the body as a whole [N], (3,): pairs of its own vertices cancel."""
        return np.asarray(self.grip.force.astype(np.float64) @ self.contacts.weights.sum(axis=1))

    def finish(self, points: FloatArray) -> tuple[Pressing, Touch | None]:
        """The contacts that press where they are now, C x [m], (m, 3): for the next step, and for the user."""
        rows = np.flatnonzero(self.grip.force.any(axis=0))
        if not len(rows):
            return Pressing.none(), None
        found, force, here = choose(self.contacts, rows), self.forces()[rows], points[rows]
        vertex, depth = found.vertices[:, 0].copy(), np.einsum("mi,mi->m", found.normal, found.offset - here)
        touch = Touch(vertex, found.source, here, found.normal, depth, force, found.vertices, found.weights)
        return Pressing(vertex, found.source, found.feature, force), touch


class ProjectiveContact:
    """What a body of projective dynamics touches, seen from sampled vertices of its surface."""

    def __init__(
        self,
        body: ProjectiveBody,
        vertices: IntArray,
        rows: sp.csr_array,
        place: Callable[[FloatArray], FloatArray],
        colliders: Sequence[Collider],
        settings: ContactSettings | None = None,
    ) -> None:
        """`vertices` in an order that spreads any first part of them; positions are `rows` @ coordinates, (n, r), those
        of these vertices alone `place`(coordinates)."""
        self.colliders, self.settings = list_colliders(colliders), settings or ContactSettings()
        self.vertices = vertices
        self._size = body.size()
        self._rank = np.full(len(body.vertices), len(vertices), np.int32)
        self._rank[vertices] = np.arange(len(vertices), dtype=np.int32)
        self._surfels: Surfels | None = None
        self._place = place
        if self.settings.self_contact:
            if body.cells.shape[1] != 4:
                raise SceneError("self_contact needs a body with an inside: leave it out for shells.")
            self._surfels = Surfels(body.surface, vertices, vertex_labels(body.cells, len(body.vertices)))
            self._facing = self._surfels.facing(rows)

    def begin(
        self,
        q: FloatArray,
        v: FloatArray,
        predicted: FloatArray,
        inputs: Inputs,
        pressing: Pressing,
        delassus: Delassus,
        origin: FloatArray | None = None,
        change: FloatArray | None = None,
    ) -> ContactStep | None:
        """The contacts of a step, None where nothing is near.

        Given are the coordinates as it begins, their rates, and where they would be if nothing but the loads acted.
        `origin` [m], (3,), is where a method's compiled loop sees positions from. With the accelerations `change` of
        the step before, fewer contacts are foreseen where something holds the body up already.
        """
        check_placed(inputs, len(self.colliders))
        begin, end = self._place(q), self._place(predicted)
        if change is not None and len(pressing.vertex):
            h = inputs.duration
            coast = q + h * v
            end = hold_up(self._place(coast), end, self._place(coast + h * h * change))
        found = approach_colliders(
            self.colliders, inputs, self.vertices, begin, end, _NEAR * self._size, self.settings.thickness
        )
        if self._surfels is not None:
            near = _NEAR_SELF * self._size
            own = self._surfels.find(begin, end, self._facing(q), pressing, near, self.settings.thickness)
            found = join((found, own))
        if not len(found):
            return None
        if len(found) > _MOST:
            found = choose(found, self._order(found, begin, inputs.duration)[:_MOST])
        origin = np.zeros(3) if origin is None else origin
        return self._freeze(found, q, v, predicted, inputs.duration, pressing, delassus, origin)

    def _order(self, found: Contacts, begin: FloatArray, duration: float) -> NDArray[np.intp]:
        """Contacts by the order of their vertices, but close ones before most of those that are not.

        Loads alone would take half the body through the floor in a long step: of what they lead there, enough are
        kept to stop an impact, and more of what rests there already. What holds the body up comes before its folds, or
        it would sink where these are many.
        """
        first, second = (self._rank[found.vertices[:, k]] for k in range(2))
        apart = begin[first] + found.weights[:, 1:2] * begin[second] + duration * found.velocity - found.offset
        later = np.einsum("mi,mi->m", found.normal, apart) > _NEAR_SELF * self._size
        later[np.argsort(first, kind="stable")[: _MOST // 2]] = False
        return np.lexsort((first, found.source == SELF, later))

    def _freeze(
        self,
        contacts: Contacts,
        q: FloatArray,
        v: FloatArray,
        predicted: FloatArray,
        duration: float,
        pressing: Pressing,
        delassus: Delassus,
        origin: FloatArray,
    ) -> ContactStep:
        linked = delassus.link(contacts)
        rows = linked.start, linked.column, linked.value
        base, seen, normal, goal = start_contacts(
            *rows, q, contacts.normal, contacts.offset, contacts.velocity, duration, contacts.weights, origin,
            _PUSH * self._size,
        )  # fmt: skip
        friction, force = np.full_like(goal, self.settings.friction), _lanes(pressing.recall(contacts))
        grip = Grip.take(linked, seen, normal, goal, friction, force, _TOLERANCE * self._size)
        impact = np.zeros(len(contacts))
        if self.settings.restitution > 0.0:
            begin, speed, end = (look(*rows, field) for field in (q, v, predicted))
            impact = self._rate_impacts(contacts, speed, (end - begin) / duration - speed)
        return ContactStep(contacts, base, impact, grip)

    def _rate_impacts(self, contacts: Contacts, speed: FloatArray, added: FloatArray) -> FloatArray:
        """Speeds at which contacts shall part [m/s], (m,), that close faster than what loads add in a few steps."""
        closing = -np.einsum("mi,mi->m", contacts.normal, speed - contacts.velocity)
        loads = np.abs(np.einsum("mi,mi->m", contacts.normal, added))
        return np.where(closing > _SLOW * loads, self.settings.restitution * closing, 0.0)


def choose_candidates(body: ProjectiveBody, count: int) -> IntArray:
    """Vertices of the surface, each the farthest along it from all before, as many as asked for or as there are."""
    if count < 1:
        raise SceneError(f"{count} candidates for contact make no sense: ask for at least 1.")
    used, triangles = np.unique(body.surface.triangles, return_inverse=True)
    graph = Geodesics.along(body.vertices[used], triangles.reshape(-1, 3).astype(np.int32))
    return used[spread_points(graph, count).vertices].astype(np.int32)


def _lanes(values: FloatArray) -> SingleArray:
    """Vectors, (m, 3), as contiguous lanes in single precision, (3, m)."""
    return np.ascontiguousarray(values.T, dtype=np.float32)
