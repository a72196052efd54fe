"""The triangle mesh: what is drawn, saved and tetrahedralised."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, remember
from supple.errors import MeshError
from supple.mesh.adjacency import label_rows, unique_edges, vertex_labels
from supple.mesh.checks import as_corners, check_cells, check_vertices, drop_unused, plural, read_instead

__all__ = ["TriMesh", "fan_corners", "proper_triangles"]


@dataclass(frozen=True, eq=False)
class TriMesh:
    """Triangles over vertices, with the polygons they came from when the file had any."""

    vertices: NDArray[np.float64]  #: positions [m], shape (n, 3)
    triangles: NDArray[np.int32]  #: shape (k, 3), counter-clockwise from outside
    notes: tuple[str, ...] = ()  #: what was set right on the way in, in a user's words
    face_counts: NDArray[np.int32] | None = None  #: corners of every polygon, shape (p,); None: triangles only
    face_indices: NDArray[np.int32] | None = None  #: corners of all polygons in turn, shape (sum(face_counts),)
    uv: NDArray[np.float64] | None = None  #: texture coordinates of every polygon corner (or triangle corner), (c, 2)
    groups: NDArray[np.int32] | None = None  #: number of every polygon's (or triangle's) group, shape (p,)
    group_names: tuple[str, ...] = ()  #: name of every group number

    def __post_init__(self) -> None:
        read = read_instead(self.vertices)
        vertices = as_floats(self.vertices, "TriMesh(vertices)", ("n", 3), remedy=read, error=MeshError)
        triangles = as_corners(self.triangles, "TriMesh(triangles)", 3, len(vertices), "triangle")
        uv = self.uv
        if uv is not None:
            corners = triangles.size if self.face_indices is None else len(self.face_indices)
            uv = as_floats(uv, "TriMesh(uv)", (corners, 2), finite=False, error=MeshError)
        remember(self, vertices=vertices, triangles=triangles, uv=uv)

    @classmethod
    def clean(cls, vertices: ArrayLike, triangles: ArrayLike, uv: ArrayLike | None = None) -> TriMesh:
        """Checked mesh: triangles with a repeated corner and unused vertices dropped, each with a note.

        Raises MeshError, naming the first offender, for wrong shapes, non-finite positions and indices out of
        range.
        """
        points = check_vertices(vertices)
        cells = check_cells(triangles, 3, len(points), "triangle")
        corners = _check_uv(uv, cells.size)
        notes: tuple[str, ...] = ()
        keep = proper_triangles(cells)
        if not keep.all():
            notes += (f"dropped {plural(int((~keep).sum()), 'triangle')} with a repeated corner",)
            cells = check_cells(cells[keep], 3, len(points), "triangle")
            corners = None if corners is None else corners.reshape(-1, 3, 2)[keep].reshape(-1, 2)
        points, cells, dropped = drop_unused(points, cells)
        return cls(points, cells, notes + _note_dropped(dropped), uv=corners)

    @classmethod
    def from_polygons(
        cls, vertices: ArrayLike, counts: ArrayLike, indices: ArrayLike, uv: ArrayLike | None = None
    ) -> TriMesh:
        """Mesh of polygons with `counts` corners each, kept for output and cut into fans of triangles."""
        points = check_vertices(vertices)
        sizes = np.array(counts, dtype=np.int32).reshape(-1)
        flat = check_cells(np.asarray(indices).reshape(-1, 1), 1, len(points), "polygon corner")[:, 0]
        if sizes.sum() != len(flat) or (sizes < 3).any():
            raise MeshError(
                f"{plural(len(sizes), 'polygon')} with {int(sizes.sum()):,} corners do not fit "
                f"{len(flat):,} indices; every polygon needs its own 3 corners or more."
            )
        points, column, dropped = drop_unused(points, flat[:, None])
        flat = column[:, 0]
        triangles = flat[fan_corners(sizes)]
        triangles = check_cells(triangles[proper_triangles(triangles)], 3, len(points), "triangle")
        return cls(points, triangles, _note_dropped(dropped), sizes, flat, _check_uv(uv, len(flat)))

    def triangle_corners(self) -> NDArray[np.int64]:
        """Place of every triangle's corners in the list of all polygon corners, to which `uv` belongs, shape (k, 3)."""
        if self.face_counts is None or self.face_indices is None:
            return np.arange(self.triangles.size).reshape(-1, 3)
        fans = fan_corners(self.face_counts)
        return fans[proper_triangles(self.face_indices[fans])]

    def areas(self) -> NDArray[np.float64]:
        """Areas [m^2] of the triangles, shape (k,)."""
        areas: NDArray[np.float64] = np.linalg.norm(self._area_vectors(), axis=1)
        return areas

    def face_normals(self) -> NDArray[np.float64]:
        """Unit normals of the triangles, zero for a triangle without area, shape (k, 3)."""
        return _unit(self._area_vectors())

    def vertex_normals(self) -> NDArray[np.float64]:
        """Unit normals of the vertices, the triangles around weighted by area, shape (n, 3)."""
        vectors = np.repeat(self._area_vectors(), 3, axis=0)
        corners = self.triangles.ravel()
        sums = [np.bincount(corners, weights=axis, minlength=len(self.vertices)) for axis in vectors.T]
        return _unit(np.column_stack(sums))

    def edges(self) -> NDArray[np.int32]:
        """Every edge once, smaller vertex first, shape (e, 2)."""
        return unique_edges(self.triangles, len(self.vertices))

    def mean_edge(self) -> float:
        """Mean length [m] of the edges."""
        return float(np.linalg.norm(np.diff(self.vertices[self.edges()], axis=1), axis=2).mean())

    def is_closed(self) -> bool:
        """Whether no edge is a border: every edge is shared by an even number of triangles."""
        return bool((self._edge_uses() % 2 == 0).all())

    def is_manifold(self) -> bool:
        """Whether no edge has more than two triangles, and the triangles at every vertex form one fan."""
        return bool((self._edge_uses() <= 2).all()) and not self.pinched_vertices().size

    def crowded_edges(self) -> NDArray[np.int32]:
        """Edges of more than two triangles, smaller vertex first, shape (e, 2)."""
        sides = self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        labels, uses = np.unique(label_rows(sides, len(self.vertices)), return_counts=True)
        return np.column_stack(np.divmod(labels[uses > 2], max(len(self.vertices), 1))).astype(np.int32)

    def pinched_vertices(self) -> NDArray[np.int32]:
        """Vertices whose triangles fall into several fans, not joined by an edge at the vertex."""
        count, corners = len(self.vertices), self.triangles.ravel()
        sides = self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        labels = label_rows(sides, count)
        order = np.argsort(labels, kind="stable")
        same = labels[order[:-1]] == labels[order[1:]]
        one, two = order[:-1][same], order[1:][same]  # sides of neighbouring triangles, three a triangle
        links = []
        for end in (0, 1):
            vertex = sides[one, end]
            links.append(np.column_stack([_corner_at(self.triangles, side, vertex) for side in (one, two)]))
        fan = vertex_labels(np.concatenate(links).astype(np.int32), len(corners))
        pairs = np.unique(corners.astype(np.int64) * len(corners) + fan)
        fans = np.bincount(pairs // len(corners), minlength=count)
        return np.flatnonzero(fans > 1).astype(np.int32)

    def volume(self) -> float:
        """Enclosed volume [m^3] by the divergence theorem, positive when the triangles face outward."""
        corners = self.vertices[self.triangles] - self.vertices.mean(axis=0)
        return float(np.einsum("ij,ij->", np.cross(corners[:, 0], corners[:, 1]), corners[:, 2]) / 6.0)

    def components(self) -> NDArray[np.int32]:
        """Number of the connected component of every vertex, shape (n,)."""
        return vertex_labels(self.triangles, len(self.vertices))

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest corner [m] of the bounding box, each of shape (3,)."""
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    def moved(self, vertices: ArrayLike) -> TriMesh:
        """The same faces over other positions [m], shape (n, 3)."""
        points = check_vertices(vertices)
        if points.shape != self.vertices.shape:
            raise MeshError(
                f"{len(points):,} positions for {len(self.vertices):,} vertices; give one for every vertex."
            )
        return replace(self, vertices=points)

    def _area_vectors(self) -> NDArray[np.float64]:
        corners = self.vertices[self.triangles]
        vectors: NDArray[np.float64] = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        return vectors / 2.0

    def _edge_uses(self) -> NDArray[np.int64]:
        labels = label_rows(self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), len(self.vertices))
        return np.unique(labels, return_counts=True)[1]


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: NDArray[np.float64] = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    return units


def _check_uv(uv: ArrayLike | None, corners: int) -> NDArray[np.float64] | None:
    if uv is None:
        return None
    coordinates = np.array(uv, dtype=np.float64)
    if coordinates.shape != (corners, 2):
        raise MeshError(f"uv has shape {coordinates.shape} for {corners:,} corners; give one pair for every corner.")
    return coordinates


def _note_dropped(count: int) -> tuple[str, ...]:
    return (f"dropped {plural(count, 'vertex', 'vertices')} that no face uses",) if count else ()


def proper_triangles(triangles: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which triangles have three different corners, shape (k,)."""
    a, b, c = triangles.T
    proper: NDArray[np.bool_] = (a != b) & (b != c) & (c != a)
    return proper


def fan_corners(sizes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Triangles of the fan of every polygon, as positions in the list of all corners, shape (k, 3)."""
    starts = np.cumsum(sizes) - sizes
    fans = sizes - 2
    first = np.repeat(starts, fans)
    step = np.arange(fans.sum()) - np.repeat(np.cumsum(fans) - fans, fans)
    return np.column_stack([first, first + step + 1, first + step + 2])


def _corner_at(triangles: NDArray[np.int32], side: NDArray[np.int64], vertex: NDArray[np.int32]) -> NDArray[np.int64]:
    """Flat corner number at which the triangle of each `side` (3 a triangle) has `vertex`."""
    triangle = side // 3
    place: NDArray[np.int64] = np.argmax(triangles[triangle] == vertex[:, None], axis=1)
    return triangle * 3 + place
