"""Signed distance of any triangle surface: winding numbers say what is inside, so holes do no harm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError
from supple.mesh.checks import check_cells, check_vertices
from supple.mesh.orient import orient
from supple.mesh.trimesh import TriMesh

__all__ = ["SurfaceDistance"]

_FLAT = 1e-6  # thinnest side of the bounding box as a share of its longest: below it there is nothing to fill
_MARGIN = 0.05  # the lid over a hole may bulge beyond the surface by about this share of the size


class SurfaceDistance:
    """Signed distance [m] to a surface that may have holes, non-manifold edges or overlapping parts.

    The value is d (1 - 2 w), with the distance d and the winding number w held within 0 and 1: the distance
    itself where the surface is closed, and a smooth lid where w = 1/2 across a hole.
    """

    #: Largest change a metre: across a round hole both d and w vary, each contributing at most one.
    steepness = 2.0

    def __init__(self, surface: TriMesh) -> None:
        import igl

        vertices = check_vertices(surface.vertices)
        check_cells(surface.triangles, 3, len(vertices), "triangle")
        low, high = surface.bounds()
        if not (high - low).min() > _FLAT * (high - low).max():
            raise MeshError(
                "the surface is flat and encloses nothing; give a surface with thickness in all directions."
            )
        self.surface = orient(surface)
        self._vertices, self._triangles = vertices, self.surface.triangles.astype(np.int64)
        self._margin = 0.0 if surface.is_closed() else _MARGIN * float(np.linalg.norm(high - low))
        self._tree = igl.AABB()
        self._tree.init(self._vertices, self._triangles)
        self._winding = igl.FastWindingNumberBVH()
        self._winding.init(self._vertices, self._triangles)

    def __call__(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Signed distances [m] at points of shape (k, 3), negative inside, shape (k,)."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        if len(points) == 0:
            return np.empty(0)
        squared = np.asarray(self._tree.squared_distance(self._vertices, self._triangles, points)[0])
        winding = np.clip(self._winding.winding_number(points), 0.0, 1.0)
        distance: NDArray[np.float64] = np.sqrt(squared) * (1.0 - 2.0 * winding)
        return distance

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest corner [m] of a box that encloses the inside, each of shape (3,)."""
        low, high = self.surface.bounds()
        return low - self._margin, high + self._margin
