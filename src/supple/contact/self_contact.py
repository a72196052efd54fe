"""A body that touches itself: its surface vertices inside its own tets ([TOK14] 5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.contact.candidates import Candidates
from supple.contact.contacts import SELF, Contacts
from supple.contact.facing import facing_shares
from supple.contact.inside import find_inside
from supple.contact.lazy_candidates import LazyCandidates
from supple.contact.neighbourhood import Neighbourhood
from supple.contact.places import Places, as_places, read
from supple.contact.rest_surface import RestSurface
from supple.contact.shell import find_before
from supple.contact.touched import BEYOND, Fans, drop, project
from supple.errors import SceneError
from supple.mesh.tetmesh import TetMesh
from supple.mesh.trimesh import TriMesh

__all__ = ["SelfContact", "Touching"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_ROOM = 0.1  # mean edges that vertices and tets may come nearer to each other before all are looked at again
_LAZY_ROOM = 0.3  # the same, cluster by cluster, where positions are made as they are asked for
_SLACK = 0.05  # mean edges by which a vertex may be beyond a rim until the thickness pushes it outward
_AT_ONCE = 64  # vertices, where all are tested against all tets
REST_DISTANCE = 1.8  #: longest edges within which a vertex's own surroundings lie


@dataclass(frozen=True, eq=False)
class Touching:
    """m vertices of a body inside it or within its thickness, each once, sorted by vertex."""

    vertex: IntArray
    """(m,)"""
    triangle: IntArray
    """Touched triangle, a row of the mesh's `surface_triangles()`, (m,)."""
    barycentric: FloatArray
    """Touched point on that triangle, perhaps a little beyond its edges, (m, 3)."""
    normal: FloatArray
    """Outward unit normal at the touched point, along which the vertex lies, (m, 3)."""
    depth: FloatArray
    """By how much the vertex is nearer than the thickness, or behind [m], (m,); above 0 but for pairs known before."""
    tet: IntArray
    """Tet that holds the vertex, -1 if it is in front of the surface, (m,)."""

    def __len__(self) -> int:
        return len(self.vertex)

    def choose(self, rows: NDArray[np.integer]) -> "Touching":
        """Those of some rows."""
        return Touching(*(getattr(self, field.name)[rows] for field in fields(self)))

    def join(self, other: "Touching") -> "Touching":
        """These and those of other vertices."""
        if not len(other):
            return self
        both = (np.concatenate([getattr(one, field.name) for one in (self, other)]) for field in fields(self))
        whole = Touching(*both)
        return whole.choose(np.argsort(whole.vertex, kind="stable"))


class SelfContact:
    """Finds where a body touches itself.

    Tested is every surface vertex. It touches the body where it lies in a tet of which neither it nor a vertex joined
    to it by an edge is a corner, and comes out at a point of the surface that is not in its own surroundings: those
    parts that at rest lie within `rest_distance` longest edges of the vertex and hang together with it there. Another
    component, or a finger beside the vertex's own, is never part of the surroundings. A tet that is flat or inside out
    holds nothing: elastic forces have to turn it round first. With a thickness it also touches such points that it is
    in front of and looks at, nearer than that; the body is then as if rounded, with few corners at which normals jump.
    """

    def __init__(
        self,
        mesh: TetMesh,
        *,
        thickness: float = 0.0,
        rest_distance: float = REST_DISTANCE,
        ignored: Sequence[tuple[ArrayLike, ArrayLike]] = (),
    ) -> None:
        """`ignored` names pairs of sets of vertices: no vertex of one touches a triangle with a corner in the other."""
        for name, value in (("thickness", thickness), ("rest_distance", rest_distance)):
            if not (np.isfinite(value) and value >= 0.0):
                raise SceneError(f"{name} = {value} of self-contact makes no sense; give a finite number from 0 up.")
        self.mesh, self.thickness = mesh, thickness
        self.triangles, self.vertices = mesh.surface_triangles(), mesh.surface_vertices()
        self.fans = Fans.build(self.triangles, len(mesh.vertices))
        self.surface = RestSurface.build(mesh)
        """As it is at rest."""
        surface = TriMesh(mesh.vertices, self.triangles)
        self._areas = surface.areas()
        rings = np.bincount(self.triangles.ravel(), np.repeat(self._areas, 3), len(mesh.vertices))
        self._rings = np.asarray(rings, np.float64)
        self._around = Neighbourhood.build(mesh, rest_distance, ignored)
        self.edge = surface.mean_edge()
        """Mean edge of the surface [m]."""
        self._first = np.searchsorted(mesh.surface_tets(), np.arange(len(mesh.tets) + 1)).astype(np.int32)
        self._slack, self._reach = (_SLACK * self.edge, thickness + _SLACK * self.edge) if thickness else (np.inf, 0.0)
        room = _ROOM * self.edge
        self._near = Candidates(mesh.vertices, mesh.tets, self.vertices, self._around, room, self._reach)
        self._lazily: LazyCandidates | None = None
        self.tree = self._near.tree
        """Over the tets."""

    def find(self, x: FloatArray) -> Touching:
        """Vertices inside the body or within its thickness at positions x [m], (n, 3)."""
        places = as_places(x)
        if places is not None and places.moment is not None:
            return self._find_lazily(places)
        x = np.ascontiguousarray(x, dtype=np.float64)
        start, listed = self._near.near(x[self.vertices], x)
        return self._touch(self.vertices, *self._locate(self.vertices, start, listed, x), x)

    def _find_lazily(self, x: Places) -> Touching:
        """The same, where positions are made as they are asked for."""
        if self._lazily is None:
            self._lazily = LazyCandidates(self._near, _LAZY_ROOM * self.edge)
        vertices, start, listed, reads = self._lazily.near(x)
        at = x.read(reads)
        if self.thickness > 0.0:
            at = x.read(self.triangles[self.fans.list_faces(vertices)])
        return self._touch(vertices, *self._locate(vertices, start, listed, at), x.as_array())

    def find_brute(self, x: FloatArray) -> Touching:
        """What `find` gives, every surface vertex tested against every tet."""
        everything = np.arange(len(self.mesh.tets), dtype=np.int32)
        parts = []
        for first in range(0, len(self.vertices), _AT_ONCE):
            some = self.vertices[first : first + _AT_ONCE]
            start, listed = len(everything) * np.arange(len(some) + 1), np.tile(everything, len(some))
            parts.append(self._locate(some, start, listed, x))
        tet, triangle, before = np.concatenate(parts, axis=1)
        return self._touch(self.vertices, tet, triangle, before, x)

    def _locate(
        self, vertices: IntArray, start: NDArray[np.int64], listed: IntArray, x: FloatArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Of vertices, each tested against its list of tets, the tet that holds it, the triangle it came through, and
        the one it is in front of within the thickness; each -1 if there is none."""
        tet, triangle = find_inside(
            x[vertices], vertices, start, listed,
            self.mesh.tets, x, self.mesh.vertices, self.triangles, self.surface, self._around,
        )  # fmt: skip
        if self.thickness == 0.0:
            return tet, triangle, np.full_like(tet, -1)
        before = find_before(
            vertices, self._reach, start, listed,
            self.mesh.tets, self._first, self.triangles, x, self.mesh.vertices, self.fans, self._around,
        )  # fmt: skip
        return tet, triangle, before

    def _touch(
        self, vertices: IntArray, tet: IntArray, triangle: IntArray, before: IntArray, x: FloatArray
    ) -> Touching:
        """What vertices of the surface touch; x is read around their triangles only."""
        held = np.flatnonzero(tet >= 0)
        found = self._project(vertices[held], tet[held], triangle[held], x)
        inside = found.depth > self.thickness
        before[held[inside]] = -1
        near = np.flatnonzero(before >= 0)
        shell = self._project(vertices[near], np.full(len(near), -1, np.int32), before[near], x)
        return found.choose(np.flatnonzero(inside)).join(shell.choose(np.flatnonzero(shell.depth > 0.0)))

    def follow(self, pairs: IntArray, x: FloatArray) -> Touching:
        """Known pairs of a vertex and a triangle, (k, 2), as they are at x [m], (n, 3), open ones among them.

        A vertex that slid off its triangle touches the nearest one around it. No tet is named.
        """
        vertices, triangle = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        return self._project(vertices, np.full(len(pairs), -1, np.int32), triangle, x, beyond=0.0)

    def _project(
        self, vertices: IntArray, tet: IntArray, triangle: IntArray, x: FloatArray, beyond: float = BEYOND
    ) -> Touching:
        around = np.concatenate([vertices, self.triangles[triangle].ravel()])
        at = read(x, self.triangles[self.fans.list_faces(around)])
        number, weights, normal, depth = project(
            at[vertices], vertices, triangle, self.triangles, at, self.mesh.vertices, self.fans, self._around,
            beyond, self._slack,
        )  # fmt: skip
        return Touching(vertices, number, weights, normal, depth + self.thickness, tet)

    def recall(self, pairs: IntArray, reach: float, x: FloatArray) -> Touching:
        """Known pairs of a vertex and a triangle, (k, 2), as they are at x [m], (n, 3); those that have parted by more
        than `reach` [m] or slid off their triangles are left out."""
        vertices, triangle = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        at = read(x, np.concatenate([vertices, self.triangles[triangle].ravel()]))
        weights, normal, depth = drop(at[vertices], triangle, self.triangles, at)
        depth += self.thickness
        kept = np.flatnonzero((np.abs(depth) < reach) & (weights.min(axis=1, initial=0.0) > BEYOND))
        found = vertices[kept], triangle[kept], weights[kept], normal[kept], depth[kept]
        return Touching(*found, np.full(len(kept), -1, np.int32))

    def arrays(self) -> tuple[IntArray, FloatArray, Fans, Neighbourhood, FloatArray, FloatArray, float]:
        """Triangles, rest positions, fans, surroundings, areas of triangles and rings, and slack, for other loops."""
        return self.triangles, self.mesh.vertices, self.fans, self._around, self._areas, self._rings, self._slack

    def to_contacts(self, touching: Touching, x: FloatArray) -> Contacts:
        """The same as contacts at positions x [m], (n, 3).

        The area is the mean of the triangle's at rest and of the vertex's one-ring, Eq. (6) of [TOK14], of the ring
        what faces the touched surface.
        """
        count, at = len(touching), read(x, self.triangles[self.fans.list_faces(touching.vertex)])
        shares = facing_shares(touching.vertex, touching.normal, self.triangles, self.fans, self._areas, at)
        return Contacts(
            vertices=np.column_stack([touching.vertex, self.triangles[touching.triangle]]),
            weights=np.column_stack([np.ones(count), -touching.barycentric]),
            offset=self.thickness * touching.normal,
            normal=touching.normal,
            area=(self._areas[touching.triangle] + shares * self._rings[touching.vertex]) / 2.0,
            velocity=np.zeros((count, 3)),
            source=np.full(count, SELF, np.int32),
            feature=touching.triangle,
        )
