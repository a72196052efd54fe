"""Edges of a body that touch its own edges: what vertices against triangles miss between sharp features.

Each contact is the pair of points where the lines of two edges are nearest, both within their edges. Corners touch
as vertices, and parallel edges have no such pair. Where vertices touch as well, both kinds push: the stiffness there
is up to twice that of vertices alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.contact.ccd import import_ipctk
from supple.contact.contacts import SELF, Contacts
from supple.contact.self_contact import REST_DISTANCE
from supple.mesh import TetMesh, TriMesh
from supple.mesh.adjacency import label_rows, unique_edges

__all__ = ["EdgeContact"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_PARALLEL = 1e-3  # squared sine of the angle below which edges count as parallel
_FACING = 0.1  # least share of the normals of two surfaces that face each other along the contact's normal


class EdgeContact:
    """Finds where edges of a body's surface touch each other. Needs the extra `contact`.

    Edges nearer than `rest_distance` longest edges at rest are surroundings and never touch, unless they belong to
    separate pieces. Edges are found up to `reach` [m] apart or deep: half a mean edge unless given.
    """

    def __init__(
        self,
        mesh: TetMesh,
        thickness: float = 0.0,
        reach: float | None = None,
        rest_distance: float = REST_DISTANCE,
        ignored: Sequence[tuple[ArrayLike, ArrayLike]] = (),
    ) -> None:
        """`ignored` names pairs of sets of vertices: edges that end in one do not touch edges that end in the other."""
        self._ipctk = import_ipctk("contact of edges with edges")
        self._vertices, surface = mesh.surface_vertices(), mesh.surface()
        self._triangles = surface.triangles
        self._edges, self._sides = _list_edges(surface)
        lengths = np.linalg.norm(np.diff(surface.vertices[self._edges], axis=1)[:, 0], axis=1)
        self._areas = surface.areas()[self._sides].sum(axis=1) / 3.0
        self._middles = surface.vertices[self._edges].mean(axis=1)
        self._pieces = mesh.components()[self._vertices][self._edges[:, 0]]
        self._apart = rest_distance * float(lengths.max())
        ends = self._vertices[self._edges]
        self._ignored = [[np.asarray(np.isin(ends, members).any(axis=1)) for members in pair] for pair in ignored]
        self._thickness = thickness
        self._reach = float(lengths.mean()) / 2 if reach is None else reach

    def find(self, x: FloatArray) -> Contacts:
        """Contacts at positions x [m], (n, 3), open ones within reach among them, sorted by the first edge's end."""
        points = x[self._vertices]
        pairs = self._list_pairs(points)
        one, two = self._edges[pairs[:, 0]], self._edges[pairs[:, 1]]
        share, inside = _nearest_shares(points[one], points[two])
        weights = np.column_stack([1.0 - share[:, 0], share[:, 0], share[:, 1] - 1.0, -share[:, 1]])
        corners = np.column_stack([one, two])
        gap = np.einsum("mk,mki->mi", weights, points[corners])
        normal, facing = self._normals(points, pairs)
        keep = inside & facing & (np.linalg.norm(gap, axis=1) < self._reach + self._thickness)
        count = int(keep.sum())
        return Contacts(
            vertices=self._vertices[corners[keep]].astype(np.int32),
            weights=weights[keep],
            offset=self._thickness * normal[keep],
            normal=normal[keep],
            area=self._areas[pairs[keep]].mean(axis=1),
            velocity=np.zeros((count, 3)),
            source=np.full(count, SELF, dtype=np.int32),
            feature=self._sides[pairs[keep, 1], 0],
        )

    def _list_pairs(self, points: FloatArray) -> IntArray:
        """Edges whose boxes are within reach and that were apart at rest, smaller number first, sorted, (m, 2)."""
        broad = self._ipctk.LBVH()
        inflation = (self._reach + self._thickness) / 2
        columns = [np.asfortranarray(array) for array in (points, self._edges, self._triangles)]
        broad.build(*columns, inflation_radius=inflation)
        found = [(pair.edge0_id, pair.edge1_id) for pair in broad.detect_edge_edge_candidates()]
        pairs = np.unique(np.sort(np.array(found, dtype=np.int32).reshape(-1, 2), axis=1), axis=0)
        one, two = pairs.T
        keep = np.linalg.norm(self._middles[one] - self._middles[two], axis=1) > self._apart
        keep |= self._pieces[one] != self._pieces[two]
        for first, second in self._ignored:
            keep &= ~(first[one] & second[two] | second[one] & first[two])
        return np.asarray(pairs[keep])

    def _normals(self, points: FloatArray, pairs: IntArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Unit normals across both edges, away from the second's surface, (m, 3), and whether the surfaces face."""
        ways = [np.diff(points[self._edges[column]], axis=1)[:, 0] for column in pairs.T]
        across = np.cross(*ways)
        across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), np.finfo(float).tiny)
        faces = TriMesh(points, self._triangles).face_normals()[self._sides].mean(axis=1)
        along = [np.einsum("mi,mi->m", across, faces[column]) for column in pairs.T]
        facing = (along[0] * along[1] < 0) & (np.minimum(*np.abs(along)) > _FACING)
        return across * np.where(along[1] < 0, -1.0, 1.0)[:, None], facing


def _list_edges(surface: TriMesh) -> tuple[IntArray, IntArray]:
    """Edges of a closed surface, (e, 2), and the two triangles at each, (e, 2)."""
    count = len(surface.vertices)
    labels = label_rows(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), count)
    order = np.argsort(labels, kind="stable")
    first = np.searchsorted(labels[order], np.unique(labels))
    triangle = (order // 3).astype(np.int32)
    last = np.append(first[1:], len(order)) - 1
    return unique_edges(surface.triangles, count), np.column_stack([triangle[first], triangle[last]])


def _nearest_shares(one: FloatArray, two: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Where lines through edges [m], (m, 2, 3), are nearest, as shares of the edges, (m, 2), and if both lie within."""
    u, v, w = one[:, 1] - one[:, 0], two[:, 1] - two[:, 0], one[:, 0] - two[:, 0]
    uu, uv, vv, uw, vw = (np.einsum("mi,mi->m", a, b) for a, b in ((u, u), (u, v), (v, v), (u, w), (v, w)))
    determinant = uu * vv - uv * uv
    skew = determinant > _PARALLEL * uu * vv
    safe = np.where(skew, determinant, 1.0)
    share = np.column_stack([uv * vw - vv * uw, uu * vw - uv * uw]) / safe[:, None]
    return share, skew & ((share > 0.0) & (share < 1.0)).all(axis=1)
