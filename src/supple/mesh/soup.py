"""Meshes as a file gives them, with whatever is wrong with them still in: what checks look at and repairs change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.mesh.trimesh import fan_corners

__all__ = ["PolygonSoup", "TetSoup"]


@dataclass(frozen=True, eq=False)
class TetSoup:
    """Tets over vertices; indices may lie anywhere and positions need not be finite."""

    vertices: NDArray[np.float64]  #: shape (n, 3)
    tets: NDArray[np.int32]  #: shape (m, 4)
    regions: NDArray[np.int32]  #: shape (m,)
    region_names: Mapping[str, int] = field(default_factory=dict)

    def settled(self) -> TetSoup:
        """The same with vertices that are not finite at the origin, for when nothing uses them."""
        return replace(self, vertices=_finite(self.vertices))

    def keep(self, tets: NDArray[np.bool_]) -> TetSoup:
        """Those tets alone, over all vertices."""
        return replace(self, tets=self.tets[tets], regions=self.regions[tets])


@dataclass(frozen=True, eq=False)
class PolygonSoup:
    """Polygons over vertices; indices may lie anywhere and positions need not be finite."""

    vertices: NDArray[np.float64]  #: shape (n, 3)
    counts: NDArray[np.int32]  #: corners of every polygon, shape (p,)
    indices: NDArray[np.int32]  #: corners of all polygons in turn
    uv: NDArray[np.float64] | None = None  #: of every corner
    groups: NDArray[np.int32] | None = None  #: of every polygon
    group_names: tuple[str, ...] = ()

    def owners(self) -> NDArray[np.int64]:
        """The polygon of every corner."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def any_corner(self, marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which polygons have a corner that is marked, shape (p,)."""
        return np.bincount(self.owners(), weights=marked, minlength=len(self.counts)) > 0

    def settled(self) -> PolygonSoup:
        """The same with vertices that are not finite at the origin, for when nothing uses them."""
        return replace(self, vertices=_finite(self.vertices))

    def keep(self, polygons: NDArray[np.bool_]) -> PolygonSoup:
        """Those polygons alone, over all vertices."""
        corners = np.repeat(polygons, self.counts)
        return replace(
            self,
            counts=self.counts[polygons],
            indices=self.indices[corners],
            uv=None if self.uv is None else self.uv[corners],
            groups=None if self.groups is None else self.groups[polygons],
        )

    def turn(self, polygons: NDArray[np.bool_]) -> PolygonSoup:
        """The soup with those polygons wound the other way round."""
        ends = np.cumsum(self.counts, dtype=np.int64)
        places = np.arange(len(self.indices))
        order = np.where(
            np.repeat(polygons, self.counts), np.repeat(2 * ends - self.counts - 1, self.counts) - places, places
        )
        return replace(self, indices=self.indices[order], uv=None if self.uv is None else self.uv[order])

    def triangles(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Fans of triangles of all polygons of 3 corners or more, and the polygon of every triangle."""
        sizes = np.where(self.counts >= 3, self.counts, 2)
        fans = fan_corners(sizes)
        starts = np.cumsum(self.counts, dtype=np.int64) - self.counts
        shift = starts - (np.cumsum(sizes) - sizes)
        owner = np.repeat(np.arange(len(self.counts)), np.maximum(self.counts - 2, 0))
        return self.indices[fans + shift[owner][:, None]], owner


def _finite(vertices: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(vertices).all(axis=1, keepdims=True), vertices, 0.0)
