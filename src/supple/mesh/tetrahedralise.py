"""From a surface or a signed distance to tets."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.arguments import describe, refuse
from supple.errors import MeshError
from supple.mesh.checks import plural, read_instead
from supple.mesh.stuffing import stuff
from supple.mesh.tetmesh import TetMesh
from supple.mesh.trimesh import TriMesh
from supple.mesh.winding import SurfaceDistance

__all__ = ["Solid", "tetrahedralise"]


class Solid(Protocol):
    """A signed distance that knows the box it lies in."""

    def __call__(self, points: NDArray[np.float64], /) -> NDArray[np.float64]:
        """Signed distances [m] at points of shape (k, 3), negative inside, shape (k,)."""
        ...

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest corner [m], each of shape (3,)."""
        ...


def tetrahedralise(
    surface: TriMesh | Solid,
    resolution: int | None = None,
    elements: int | None = None,
    *,
    keep: float = 0.01,
) -> TetMesh:
    """Tets filling a triangle surface or a signed distance.

    The size is given by `resolution` (cells along the longest side) or `elements` (tets, met within 10 %);
    pieces with less than the share `keep` of the largest piece's volume are dropped.
    """
    if not isinstance(surface, TriMesh):
        if not (callable(surface) and hasattr(surface, "bounds")):
            refuse("tetrahedralise(surface)", describe(surface), "a TriMesh", read_instead(surface), MeshError)
        return stuff(surface, surface.bounds(), resolution, elements, keep=keep)
    solid = SurfaceDistance(surface)
    mesh = stuff(solid, solid.bounds(), resolution, elements, keep=keep, steepness=solid.steepness)
    notes = solid.surface.notes + mesh.notes
    pieces, wanted = (int(labels.max()) + 1 for labels in (mesh.components(), solid.surface.components()))
    if pieces > wanted:
        notes += (f"the tets fall into {plural(pieces, 'piece')} where the surface has {wanted}: use more elements",)
    return replace(mesh, notes=notes)
