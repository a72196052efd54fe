"""A body that touches itself: its surface vertices inside its own tets ([TOK14] 5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.contact.candidates import Candidates
from supple.contact.contacts import SELF, Contacts
from supple.contact.facing import facing_shares
from supple.contact.inside import find_inside
from supple.contact.neighbourhood import Neighbourhood
from supple.contact.rest_surface import RestSurface
from supple.contact.touched import BEYOND, Fans, drop, project, vertex_normals
from supple.errors import SceneError
from supple.mesh.tetmesh import TetMesh
from supple.mesh.trimesh import TriMesh

__all__ = ["SelfContact", "Touching"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_SLANTED = 0.1  # cosine between a contact's normal and its triangle's below which they do not meet
_ROOM = 0.1  # mean edges that vertices and tets may come nearer to each other before all are looked at again
_AT_ONCE = 64  # vertices, where all are tested against all tets
REST_DISTANCE = 1.8  #: longest edges within which a vertex's own surroundings lie


@dataclass(frozen=True, eq=False)
class Touching:
    """m vertices of a body inside it, each once, sorted by vertex."""

    vertex: IntArray
    """(m,)"""
    triangle: IntArray
    """Touched triangle, a row of the mesh's `surface_triangles()`, (m,)."""
    barycentric: FloatArray
    """Touched point on that triangle, perhaps a little beyond its edges, (m, 3)."""
    normal: FloatArray
    """Outward unit normal at the touched point, (m, 3)."""
    depth: FloatArray
    """Distance [m] of the tested point behind the touched one, (m,); above 0 but for pairs known from before."""
    tet: IntArray
    """Tet that holds the vertex, (m,)."""
    offset: FloatArray
    """What the vertex keeps from the touched point, beside the depth [m], (m, 3); zero without thickness."""

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

    Tested is every surface vertex, moved outward by the thickness along its normal. It touches the body where it lies
    in a tet of which neither it nor a vertex joined to it by an edge is a corner, and comes out at a point of the
    surface that is not in its own surroundings: those parts that at rest lie within `rest_distance` longest edges of
    the vertex and hang together with it there. Another component, or a finger beside the vertex's own, is never part
    of the surroundings. A tet that is flat or inside out holds nothing: elastic forces have to turn it round first.
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
        self._surface = RestSurface.build(mesh)
        surface = TriMesh(mesh.vertices, self.triangles)
        self._areas = surface.areas()
        self._rings = np.bincount(self.triangles.ravel(), np.repeat(self._areas, 3), len(mesh.vertices))
        self._around = Neighbourhood.build(mesh, rest_distance, ignored)
        self.edge = surface.mean_edge()
        """Mean edge of the surface [m]."""
        self._near = Candidates(mesh.vertices, mesh.tets, self.vertices, self._around, _ROOM * self.edge)
        self.tree = self._near.tree
        """Over the tets."""

    def find(self, x: FloatArray) -> Touching:
        """Vertices inside the body at positions x [m], (n, 3)."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        points = self.place(x, self.vertices)
        return self._touch(
            points, self.vertices, *self._locate(points, self.vertices, *self._near.near(points, x), x), x
        )

    def find_brute(self, x: FloatArray) -> Touching:
        """What `find` gives, every surface vertex tested against every tet."""
        points, everything = self.place(x, self.vertices), np.arange(len(self.mesh.tets), dtype=np.int32)
        parts = []
        for first in range(0, len(points), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            count = len(points[some])
            start, listed = len(everything) * np.arange(count + 1), np.tile(everything, count)
            parts.append(self._locate(points[some], self.vertices[some], start, listed, x))
        tet, triangle = np.concatenate(parts, axis=1)
        return self._touch(points, self.vertices, tet, triangle, x)

    def place(self, x: FloatArray, vertices: IntArray) -> FloatArray:
        """Tested points [m], (k, 3), of surface vertices: moved outward by the thickness along their normals."""
        points: FloatArray = x[vertices]
        if self.thickness > 0.0:
            points += self.thickness * vertex_normals(vertices, self.triangles, self.fans, x)
        return points

    def _locate(
        self, points: FloatArray, vertices: IntArray, start: NDArray[np.int64], listed: IntArray, x: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Tet, or -1, and triangle of points that stand for vertices, each tested against its list of tets."""
        found: tuple[IntArray, IntArray] = find_inside(
            points, vertices, start, listed,
            self.mesh.tets, x, self.mesh.vertices, self.triangles, self._surface, self._around,
        )  # fmt: skip
        return found

    def _touch(
        self, points: FloatArray, vertices: IntArray, tet: IntArray, triangle: IntArray, x: FloatArray
    ) -> Touching:
        """What the points that some tet holds touch; x is read around their triangles only."""
        held = np.flatnonzero(tet >= 0)
        found = self._project(points[held], vertices[held], tet[held], triangle[held], x)
        return self._straighten(found.choose(np.flatnonzero(found.depth > 0.0)), x)

    def follow(self, pairs: IntArray, x: FloatArray) -> Touching:
        """Known pairs of a vertex and a triangle, (k, 2), as they are at x [m], (n, 3), open ones among them.

        A vertex that slid off its triangle touches the nearest one around it. No tet is named.
        """
        vertices, triangle = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        nowhere = np.full(len(pairs), -1, np.int32)
        return self._straighten(self._project(self.place(x, vertices), vertices, nowhere, triangle, x, beyond=0.0), x)

    def _project(
        self,
        points: FloatArray,
        vertices: IntArray,
        tet: IntArray,
        triangle: IntArray,
        x: FloatArray,
        beyond: float = BEYOND,
    ) -> Touching:
        number, weights, normal, depth = project(
            points, vertices, triangle, self.triangles, x, self.mesh.vertices, self.fans, self._around, beyond
        )
        return Touching(vertices, number, weights, normal, depth, tet, x[vertices] - points)

    def recall(self, pairs: IntArray, reach: float, x: FloatArray) -> Touching:
        """Known pairs of a vertex and a triangle, (k, 2), as they are at x [m], (n, 3); those that have parted by more
        than `reach` [m] or slid off their triangles are left out."""
        vertices, triangle = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        points = self.place(x, vertices)
        weights, normal, depth = drop(points, triangle, self.triangles, x)
        near = (np.abs(depth) < reach) & (weights.min(axis=1, initial=0.0) > BEYOND)
        kept, offset = np.flatnonzero(near), x[vertices] - points
        found = vertices[kept], triangle[kept], weights[kept], normal[kept], depth[kept]
        return self._straighten(Touching(*found, np.full(len(kept), -1, np.int32), offset[kept]), x)

    def _straighten(self, found: Touching, x: FloatArray) -> Touching:
        """The same with vertex and touched point on one line along the normal, so that thickness makes no torque.

        The point is where that line through the vertex itself meets the triangle, unless that is more than a whole
        triangle beyond it.
        """
        if self.thickness == 0.0:
            return found
        vertices, normal = x[found.vertex], found.normal
        _, upright, below = drop(vertices, found.triangle, self.triangles, x)
        slope = np.maximum(np.einsum("mi,mi->m", upright, normal), _SLANTED)
        height = (-below / slope)[:, None]
        foot = drop(vertices - height * normal, found.triangle, self.triangles, x)[0]
        meets = ((slope > _SLANTED) & (foot.min(axis=1, initial=0.0) > 2.0 * BEYOND))[:, None]
        return replace(
            found,
            barycentric=np.where(meets, foot, found.barycentric),
            offset=np.where(meets, (height + found.depth[:, None]) * normal, found.offset),
        )

    def to_contacts(self, touching: Touching, x: FloatArray) -> Contacts:
        """The same as contacts at positions x [m], (n, 3).

        The area is the mean of the triangle's at rest and of the vertex's one-ring, Eq. (6) of [TOK14], of the ring
        what faces the touched surface.
        """
        count = len(touching)
        shares = facing_shares(touching.vertex, touching.normal, self.triangles, self.fans, self._areas, x)
        return Contacts(
            vertices=np.column_stack([touching.vertex, self.triangles[touching.triangle]]),
            weights=np.column_stack([np.ones(count), -touching.barycentric]),
            offset=touching.offset,
            normal=touching.normal,
            area=(self._areas[touching.triangle] + shares * self._rings[touching.vertex]) / 2.0,
            velocity=np.zeros((count, 3)),
            source=np.full(count, SELF, np.int32),
            feature=touching.triangle,
        )
