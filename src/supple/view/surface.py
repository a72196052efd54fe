"""The surface that is shown, and where on it somebody takes hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.io.drawn import RenderMesh, drawn_surface
from supple.mesh import TetMesh
from supple.solve import Grab

__all__ = ["Surface"]

FloatArray = NDArray[np.float64]


class Surface:
    """Triangles that follow the simulated vertices: the body's own, or those of a render mesh."""

    def __init__(self, mesh: TetMesh, render: RenderMesh | None = None) -> None:
        drawn = drawn_surface(mesh, render)
        self.lift = drawn.lift  #: values (n, k) of simulated vertices to those of the surface
        if render is None:
            self.triangles = mesh.surface().triangles
            used = mesh.surface_vertices()
            self._corners, self._weights = used[:, None], np.ones((len(used), 1))
        else:
            self.triangles = render.surface.triangles
            self._corners, self._weights = render.embedding.corners, render.embedding.weights

    def grab(self, name: str, x: FloatArray, point: FloatArray, stiffness: float) -> Grab:
        """A hold [N/m] of the surface's point nearest to one [m], for simulated vertices at x [m], (n, 3)."""
        corners, shares = self._nearest(np.asarray(self.lift(x)), np.asarray(point, np.float64))
        vertices, place = np.unique(self._corners[corners].ravel(), return_inverse=True)
        weights = np.bincount(place, (shares[:, None] * self._weights[corners]).ravel())
        target = tuple(float(value) for value in weights @ x[vertices])
        return Grab(name, tuple(vertices.tolist()), tuple(weights.tolist()), target, stiffness)  # type: ignore[arg-type]

    def _nearest(self, shown: FloatArray, point: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
        """Corners of the nearest triangle and the shares, (3,), with which they make its nearest point."""
        import igl

        triangles = self.triangles.astype(np.int64)
        _, found, nearest = igl.point_mesh_squared_distance(point[None], np.ascontiguousarray(shown), triangles)
        corners = triangles[int(np.ravel(found)[0])]
        a, b, c = shown[corners]
        edges = np.column_stack([b - a, c - a])
        second, third = np.linalg.lstsq(edges, np.ravel(nearest) - a, rcond=None)[0]
        return corners, np.array([1.0 - second - third, second, third])
