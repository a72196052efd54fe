"""What a body touches at given positions: its colliders and itself."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.contacts import Contacts
from supple.contact.edges import EdgeContact
from supple.contact.facing import facing_shares
from supple.contact.own_sides import find_from, find_on_way
from supple.contact.placed import check_placed, list_colliders
from supple.contact.places import read
from supple.contact.self_contact import SelfContact
from supple.contact.sets import NO_PAIRS, SAME_SIDE, anchor, choose, is_in, join, keep_areas, list_pairs
from supple.contact.settings import ContactSettings
from supple.contact.stiffness import default_stiffness
from supple.contact.touch import touch_colliders
from supple.contact.touched import Fans
from supple.elastic import Body
from supple.errors import SceneError
from supple.solve.inputs import Inputs
from supple.solve.placement import Placement

__all__ = ["NO_PAIRS", "Detector"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_NEAR = 0.05  # share of an edge within which a vertex is a candidate: sets change seldom while it trembles


class Detector:
    """Finds the contacts of one body."""

    def __init__(self, body: Body, colliders: Sequence[Collider] = (), settings: ContactSettings | None = None) -> None:
        self.colliders = list_colliders(colliders)
        self.settings = settings or ContactSettings()
        if self.settings.restitution > 0.0:
            raise SceneError("contact restitution is for the methods projective and hyperreduced alone: leave it out.")
        self.stiffness = self.settings.stiffness or default_stiffness(body)
        """k [Pa/m]"""
        mesh, surface = body.mesh, body.mesh.surface()
        self.edge = surface.mean_edge()
        """Mean edge of the surface [m]."""
        self._vertices = mesh.surface_vertices()
        self._triangles, self._triangle_areas = mesh.surface_triangles(), surface.areas()
        self._fans = Fans.build(self._triangles, len(mesh.vertices))
        shares = np.repeat(self._triangle_areas / 3.0, 3)
        self._areas = np.asarray(np.bincount(surface.triangles.ravel(), shares), np.float64)
        self._self: SelfContact | None = None
        if self.settings.self_contact:
            self._self = SelfContact(mesh, thickness=self.settings.thickness, ignored=self.settings.ignored)
        self._edges: EdgeContact | None = None
        if self.settings.self_contact and self.settings.edges:
            self._edges = EdgeContact(mesh, self.settings.thickness, ignored=self.settings.ignored)

    def narrowed(self, watched: IntArray) -> tuple["Detector", IntArray]:
        """One that looks at some vertices of the surface alone, ascending, where the body does not meet itself.

        It numbers those and the vertices around them, in the order in which they are returned.
        """
        assert self._self is None
        counts = self._fans.start[watched + 1] - self._fans.start[watched]
        first = np.repeat(self._fans.start[watched] - (np.cumsum(counts) - counts), counts)
        near = np.unique(self._fans.triangles[first + np.arange(len(first))])
        vertices, corners = np.unique(self._triangles[near], return_inverse=True)
        other = copy(self)
        other._vertices = np.searchsorted(vertices, watched).astype(np.int32)
        other._areas = self._areas[np.searchsorted(self._vertices, watched)]
        other._triangles = corners.reshape(-1, 3).astype(np.int32)
        other._triangle_areas = self._triangle_areas[near]
        other._fans = Fans.build(other._triangles, len(vertices))
        return other, vertices.astype(np.int32)

    def find_near(self, x: FloatArray, placements: Sequence[Placement], reach: FloatArray) -> IntArray:
        """Vertices of the surface at positions x [m], (k, 3), that may be nearer than `reach` [m], (k,), to a collider;
        ascending."""
        near = np.zeros(len(x), np.bool_)
        for collider, standing in zip(self.colliders, placements, strict=True):
            near[collider.near(standing.localise(x), reach + self.settings.thickness)] = True
        return self._vertices[near]

    def foresee(self, x: FloatArray, predicted: FloatArray, inputs: Inputs, known: IntArray = NO_PAIRS) -> Contacts:
        """Candidates of a step from positions x [m], (n, 3), that would end at `predicted` if nothing were touched.

        Colliders are met on the side where the vertex is as the step begins, however far it travels; the body meets
        itself on the side it comes from, where it would be, and in the pairs of vertex and triangle, (k, 2), `known`
        from the last step: a vertex in a fold lies on several triangles, of which a look finds one.
        """
        check_placed(inputs, len(self.colliders))
        found = self._foresee_colliders(np.asarray(x), np.asarray(predicted), inputs) if self.colliders else []
        if self._self is None:
            return join(found)
        return join((*found, self._foresee_own(x, predicted, known)))

    def _foresee_colliders(self, x: FloatArray, predicted: FloatArray, inputs: Inputs) -> list[Contacts]:
        travel = _lengths((predicted - x)[self._vertices]) + _NEAR * self.edge
        found = []
        for number, (begin, end) in enumerate(zip(inputs.begin.colliders, inputs.end.colliders, strict=True)):
            carried = end.move(begin.localise(x))  # as the collider sees the vertex at the beginning
            margin = travel + _lengths((carried - x)[self._vertices])
            met = touch_colliders(
                self.colliders[number : number + 1], (begin,), (end,), inputs.duration, carried,
                self._vertices, self._areas, margin, self.settings.thickness,
            )  # fmt: skip
            found.append(self._face(replace(met, source=np.full(len(met), number, np.int32)), x))
        return found

    def still_near(self, pairs: IntArray, x: FloatArray) -> IntArray:
        """Pairs of vertex and triangle, (k, 2), that are not apart by more than a mean edge at x [m], (n, 3)."""
        if self._self is None or not len(pairs):
            return pairs
        found = self._self.recall(pairs, self.edge, x)
        return np.column_stack([found.vertex, found.triangle])

    def detect(self, x: FloatArray, inputs: Inputs, previous: Contacts | None = None) -> Contacts:
        """Contacts and near misses at positions x [m], (n, 3), at the end of a step.

        `previous` ones of the same step tell on which side of a thin collider, or of a thin part of the body, a vertex
        is, how much it stands for, and where α holds it.
        """
        check_placed(inputs, len(self.colliders))
        met = Contacts.none()
        if self.colliders:
            met = touch_colliders(
                self.colliders, inputs.begin.colliders, inputs.end.colliders, inputs.duration, x,
                self._vertices, self._areas, _NEAR * self.edge, self.settings.thickness, previous,
            )  # fmt: skip
        found = met = self._face(met, x)
        if self._self is not None:
            known = NO_PAIRS if previous is None else list_pairs(previous)
            found = join((met, self._detect_own(x, known)))
        if previous is None:
            return found
        found = self._keep(found, previous)
        return anchor(found, previous, x) if self.settings.alpha > 0.0 else found

    def bend(self, contacts: Contacts, x: FloatArray, inputs: Inputs) -> FloatArray | None:
        """How normals turn with vertices that touch round colliders at positions x [m], (n, 3), at the end of a step
        [1/m], (m, 3, 3); None where none does."""
        out = None
        for number, (collider, standing) in enumerate(zip(self.colliders, inputs.end.colliders, strict=True)):
            rows = np.flatnonzero(contacts.source == number)
            bent = collider.bend(standing.localise(x[contacts.vertices[rows, 0]]))
            if bent is not None and len(rows):
                out = np.zeros((len(contacts), 3, 3)) if out is None else out
                out[rows] = standing.rotation @ bent @ standing.rotation.T
        return out

    def _foresee_own(self, x: FloatArray, predicted: FloatArray, known: IntArray) -> Contacts:
        """Candidates of a step for contacts of the body with itself."""
        own = self.own
        found = own.to_contacts(find_on_way(own, x, predicted, known), predicted)
        return self._remember(self._add_edges(found, predicted), known, predicted)

    def _detect_own(self, x: FloatArray, known: IntArray) -> Contacts:
        """Contacts of the body with itself at x [m], (n, 3)."""
        own = self.own
        return self._add_edges(own.to_contacts(find_from(own, x, known), x), x)

    def _keep(self, found: Contacts, previous: Contacts) -> Contacts:
        """Contacts that stand for as much as in an earlier look of the step."""
        return keep_areas(found, previous)

    @property
    def own(self) -> SelfContact:
        """What finds contacts of the body with itself, where they are asked for."""
        assert self._self is not None
        return self._self

    def _face(self, met: Contacts, x: FloatArray) -> Contacts:
        """Contacts with colliders that stand for no more than what faces these at x [m], (n, 3)."""
        if not len(met):
            return met
        vertices = np.ascontiguousarray(met.vertices[:, 0])
        at = read(x, self._triangles[self._fans.list_faces(vertices)])
        shares = facing_shares(vertices, met.normal, self._triangles, self._fans, self._triangle_areas, at)
        return replace(met, area=shares * met.area)

    def _add_edges(self, found: Contacts, x: FloatArray) -> Contacts:
        return found if self._edges is None else join((found, self._edges.find(x)))

    def _remember(self, found: Contacts, known: IntArray, x: FloatArray) -> Contacts:
        """Contacts of the body with itself, and known pairs of vertices that were not found, or found on another side.

        A vertex that slid from a triangle to the next one of the same side touches that alone, unless it came to rest
        on both: on their edge a look finds now one, now the other.
        """
        if self._self is None or not len(known):
            return found
        again = self._self.to_contacts(self._self.recall(known, self.edge, x), x)
        rows = np.flatnonzero(found.weights[:, 0] == 1.0)  # contacts of edges have no vertex of their own
        vertices = found.vertices[rows, 0]
        place = np.searchsorted(vertices, again.vertices[:, 0])
        place[place == len(vertices)] = 0
        same = vertices[place] == again.vertices[:, 0] if len(vertices) else np.zeros(len(again), bool)
        alike = np.zeros(len(again))
        alike[same] = np.einsum("mi,mi->m", again.normal[same], found.normal[rows[place[same]]])
        trembles = np.bincount(known[:, 0])[again.vertices[:, 0]] > 1
        keep = ~same | trembles | (alike < SAME_SIDE)
        return join((found, choose(again, keep & ~is_in(again, found, places=True))))


def _lengths(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(np.einsum("ki,ki->k", vectors, vectors)))
