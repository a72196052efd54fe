"""A body that touches itself: its surface vertices inside its own tets ([TOK14] 5.1)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.contact.contacts import SELF, Contacts
from supple.contact.hierarchy import BoxTree, LeafPairs, cross_points, cross_trees
from supple.contact.inside import find_inside
from supple.contact.neighbourhood import Neighbourhood
from supple.contact.rest_surface import RestSurface
from supple.contact.touched import BEYOND, Fans, drop, project, vertex_normals
from supple.errors import MeshError, SceneError
from supple.mesh.tetmesh import TetMesh
from supple.mesh.trimesh import TriMesh

__all__ = ["SelfContact", "Touching"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_SLANTED = 0.1  # cosine between a contact's normal and its triangle's below which they do not meet
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
    """Distance [m] of the tested point behind the touched one, above 0, (m,)."""
    tet: IntArray
    """Tet that holds the vertex, (m,)."""
    offset: FloatArray
    """What the vertex keeps from the touched point, beside the depth [m], (m, 3); zero without thickness."""

    def __len__(self) -> int:
        return len(self.vertex)


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
        self.tree = BoxTree.build(mesh.vertices, mesh.tets)
        """Over the tets."""
        self.fans = Fans.build(self.triangles, len(mesh.vertices))
        own = np.arange(len(self.vertices), dtype=np.int32)[:, None]
        self._groups = BoxTree.build(mesh.vertices[self.vertices], own)
        self._surface = RestSurface.build(mesh)
        self._areas = TriMesh(mesh.vertices, self.triangles).areas()
        self._rings = np.bincount(self.triangles.ravel(), np.repeat(self._areas, 3), len(mesh.vertices))
        self._around = Neighbourhood.build(mesh, rest_distance, ignored)

    def find(self, x: FloatArray, candidates: IntArray | None = None) -> Touching:
        """Vertices inside the body at positions x [m], (n, 3); of the candidates alone if these are given."""
        x = np.ascontiguousarray(x, dtype=np.float64)
        boxes = self.tree.refit(x)
        if candidates is not None:
            vertices = self.check_candidates(candidates)
            points = self.place(x, vertices)
            found = self.locate(points, vertices, cross_points(points, boxes), x)
            return self.touch(points, vertices, *found, x)
        points, order = self.place(x, self.vertices), self._groups.order
        pairs = cross_trees(self._groups.refit(points), boxes)
        tet, triangle = np.empty_like(self.vertices), np.empty_like(self.vertices)
        tet[order], triangle[order] = self._locate(
            points[order], self.vertices[order], self._groups.start, pairs, self.tree.start, self.tree.order, x
        )
        return self.touch(points, self.vertices, tet, triangle, x)

    def find_brute(self, x: FloatArray) -> Touching:
        """What `find` gives, every surface vertex tested against every tet."""
        points, count = self.place(x, self.vertices), len(self.mesh.tets)
        everyone, all_tets = np.array([0, len(points)], np.int32), np.array([0, count], np.int32)
        pairs = LeafPairs(np.array([0, 1]), np.zeros(1, np.int32))
        order = np.arange(count, dtype=np.int32)
        found = self._locate(points, self.vertices, everyone, pairs, all_tets, order, x)
        return self.touch(points, self.vertices, *found, x)

    def check_candidates(self, candidates: ArrayLike) -> IntArray:
        """The candidates in ascending order, each once; MeshError if one is not on the surface."""
        vertices = np.unique(np.asarray(candidates, dtype=np.int32))
        inner = vertices[~np.isin(vertices, self.vertices)]
        if inner.size:
            raise MeshError(f"vertex {inner[0]} is not on the surface; only surface vertices are tested for contact.")
        return vertices

    def place(self, x: FloatArray, vertices: IntArray) -> FloatArray:
        """Tested points [m], (k, 3), of surface vertices: moved outward by the thickness along their normals."""
        points: FloatArray = x[vertices]
        if self.thickness > 0.0:
            points += self.thickness * vertex_normals(vertices, self.triangles, self.fans, x)
        return points

    def locate(
        self, points: FloatArray, vertices: IntArray, pairs: LeafPairs, x: FloatArray
    ) -> tuple[IntArray, IntArray]:
        """Tet, or -1, and triangle of points that stand for vertices, each tested against its leaves of the tree."""
        alone = np.arange(len(points) + 1, dtype=np.int32)
        return self._locate(points, vertices, alone, pairs, self.tree.start, self.tree.order, x)

    def _locate(
        self,
        points: FloatArray,
        vertices: IntArray,
        groups: IntArray,
        pairs: LeafPairs,
        tets_start: IntArray,
        tet_order: IntArray,
        x: FloatArray,
    ) -> tuple[IntArray, IntArray]:
        found: tuple[IntArray, IntArray] = find_inside(
            points, vertices, groups, pairs.start, pairs.leaves, tets_start, tet_order,
            self.mesh.tets, x, self.mesh.vertices, self.triangles, self._surface, self._around,
        )  # fmt: skip
        return found

    def touch(
        self, points: FloatArray, vertices: IntArray, tet: IntArray, triangle: IntArray, x: FloatArray
    ) -> Touching:
        """What the points that some tet holds touch; x is read around their triangles only."""
        held = np.flatnonzero(tet >= 0)
        points, vertices, tet = points[held], vertices[held], tet[held]
        number, weights, normal, depth = project(
            points, vertices, triangle[held], self.triangles, x, self.mesh.vertices, self.fans, self._around
        )
        deep, offset = depth > 0.0, x[vertices] - points
        found = vertices[deep], number[deep], weights[deep], normal[deep], depth[deep], tet[deep], offset[deep]
        return self._straighten(Touching(*found), x)

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

    def to_contacts(self, touching: Touching) -> Contacts:
        """The same as contacts; the area is the mean of the triangle's and the vertex's one-ring at rest, Eq. (6)."""
        count = len(touching)
        return Contacts(
            vertices=np.column_stack([touching.vertex, self.triangles[touching.triangle]]),
            weights=np.column_stack([np.ones(count), -touching.barycentric]),
            offset=touching.offset,
            normal=touching.normal,
            area=(self._areas[touching.triangle] + self._rings[touching.vertex]) / 2.0,
            velocity=np.zeros((count, 3)),
            source=np.full(count, SELF, np.int32),
            feature=touching.triangle,
        )
