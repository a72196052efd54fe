"""A closed triangle surface as a collider: exact near by, a sampled distance far away."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.arguments import check_type
from supple.contact.collider import Closest, Collider, FloatArray
from supple.errors import MeshError, SuppleWarning
from supple.mesh import TriMesh, orient
from supple.mesh.adjacency import label_rows
from supple.mesh.checks import check_cells, plural, read_instead

__all__ = ["MeshCollider"]

_CELLS = 40  # of the sampled distance along the longest side
_THIN = 1e-6  # volume by area, as a share of the size: below it the surface encloses nothing
_BELOW = 1e-6  # depth below a triangle at which the inside is looked for, as a share of the size
_TOUCHING = 1e-9  # distance as a share of the size below which only the triangle says which way is out


class MeshCollider(Collider):
    """What a closed surface encloses; triangles that face the wrong way are turned.

    Distances to overlapping parts are to the nearest triangle, be it inside another part: such surfaces are warned of.
    """

    def __init__(self, surface: TriMesh) -> None:
        import igl

        check_type(surface, "MeshCollider(surface)", TriMesh, "a TriMesh", read_instead(surface))
        vertices = surface.vertices
        check_cells(surface.triangles, 3, len(vertices), "triangle")
        _refuse_open(surface)
        self._surface = orient(surface)
        low, high = surface.bounds()
        self._size = float(np.linalg.norm(high - low))
        _refuse_thin(self._surface, self._size)
        self._vertices, self._triangles = vertices, self._surface.triangles.astype(np.int64)
        self._normals = self._surface.face_normals()
        self._tree = igl.AABB()
        self._tree.init(self._vertices, self._triangles)
        self._winding = igl.FastWindingNumberBVH()
        self._winding.init(self._vertices, self._triangles)
        self._warn_of_crossings()
        self._low, self._high, self._step, self._samples = self._sample(low, high)

    def closest(self, points: FloatArray) -> Closest:
        """On the nearest triangle, to round-off."""
        if len(points) == 0:
            return Closest(np.empty(0), np.empty((0, 3)), np.empty((0, 3)))
        points = np.ascontiguousarray(points, dtype=np.float64)
        squared, triangle, foot = self._tree.squared_distance(self._vertices, self._triangles, points)
        away = np.sqrt(squared)
        side = np.where(self._winding.winding_number(points) > 0.5, -1.0, 1.0)
        clear = away > _TOUCHING * self._size
        outward = (points - foot) * (side / np.where(clear, away, 1.0))[:, None]
        normal = np.where(clear[:, None], outward, self._normals[triangle])
        return Closest(side * away, normal, np.asarray(foot))

    def near(self, points: FloatArray, reach: FloatArray | float) -> NDArray[np.intp]:
        """Points that the sampled distance cannot rule out: it changes by at most one metre a metre."""
        held = np.clip(points, self._low, self._high)
        node = np.rint((held - self._low) / self._step).astype(np.intp)
        node_distance = self._samples[node[:, 0], node[:, 1], node[:, 2]]
        bound = node_distance - np.linalg.norm(points - (self._low + node * self._step), axis=1)
        beyond = np.linalg.norm(points - held, axis=1)  # of the grid, and so of the surface
        return np.flatnonzero(np.where(beyond > 0, np.maximum(bound, beyond), bound) < reach)

    def closest_within(self, points: FloatArray, reach: FloatArray) -> tuple[NDArray[np.intp], Closest]:
        near = self.near(points, reach)
        return near, self.closest(points[near])

    def surface(self, extent: float = 20.0) -> TriMesh:
        """The surface itself, facing outward."""
        return self._surface

    def _warn_of_crossings(self) -> None:
        """Name triangles that have the inside not once below them: the surface crosses itself around them."""
        middles = self._vertices[self._triangles].mean(axis=1)
        below = np.ascontiguousarray(middles - _BELOW * self._size * self._normals)
        wrong = np.flatnonzero(np.abs(self._winding.winding_number(below) - 1.0) > 0.5)
        if wrong.size:
            where = ", ".join(f"{value:.6g}" for value in middles[wrong[0]])
            warnings.warn(
                f"the surface of the collider crosses itself: {plural(len(wrong), 'triangle')} of it lie inside it or "
                f"face into it, the first at ({where}); contact pushes there to the wrong side. Unite the parts in "
                "your modelling program, or give each part as a collider of its own.",
                SuppleWarning,
                stacklevel=2,
            )

    def _sample(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray, float, FloatArray]:
        """Lowest and highest corner of a grid one cell larger than the surface, its spacing and its distances."""
        step = float((high - low).max()) / _CELLS
        counts = np.ceil((high - low) / step).astype(int) + 3
        first = (low + high - step * (counts - 1)) / 2
        nodes = first + step * np.indices(tuple(counts)).reshape(3, -1).T
        return first, first + step * (counts - 1), step, self.closest(nodes).distance.reshape(counts)


def _refuse_open(surface: TriMesh) -> None:
    count = len(surface.vertices)
    labels, uses = np.unique(
        label_rows(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), count), return_counts=True
    )
    borders = labels[uses % 2 == 1]
    if borders.size:
        ends = np.divmod(int(borders[0]), count)
        where = ", ".join(f"{value:.6g}" for value in surface.vertices[list(ends)].mean(axis=0))
        raise MeshError(
            f"the surface of the collider is not closed: it has {plural(len(borders), 'open edge')}, the first between "
            f"vertices {ends[0]} and {ends[1]} near ({where}); fill the holes, or give a sheet some thickness."
        )


def _refuse_thin(surface: TriMesh, size: float) -> None:
    thickness = surface.volume() / max(float(surface.areas().sum()), np.finfo(float).tiny)
    if not thickness > _THIN * size:
        raise MeshError(
            f"the surface of the collider encloses nothing: its volume by its area is {thickness:.3g} for a size of "
            f"{size:.3g}; give a solid, or a sheet some thickness."
        )
