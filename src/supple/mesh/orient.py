"""Make the triangles of a surface face the same way, outward."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.mesh.checks import plural
from supple.mesh.trimesh import TriMesh

__all__ = ["flips_to_agree", "orient"]


def orient(surface: TriMesh) -> TriMesh:
    """The surface with neighbouring triangles facing the same way and the whole facing outward, with a note.

    In each connected piece the smaller area is turned. Closed shells that face inward stay: they are hollows.
    """
    flip = flips_to_agree(surface)
    if not flip.any():
        return surface
    note = f"turned round {plural(int(flip.sum()), 'triangle')} that faced the wrong way"
    return replace(_turn(surface, flip), notes=(*surface.notes, note))


def flips_to_agree(surface: TriMesh) -> NDArray[np.bool_]:
    """Which triangles to turn round so that neighbours face the same way and the whole faces outward, shape (k,)."""
    import igl

    triangles = surface.triangles.astype(np.int64)
    agreed, piece = igl.bfs_orient(triangles)
    flip = agreed[:, 0] != triangles[:, 0]
    areas = surface.areas()
    pieces = int(piece.max()) + 1
    flipped = np.bincount(piece, weights=areas * flip, minlength=pieces)
    whole = np.bincount(piece, weights=areas, minlength=pieces)
    flip ^= (flipped > whole / 2)[piece]

    if _turn(surface, flip).volume() < 0:
        flip = ~flip
    turned: NDArray[np.bool_] = flip
    return turned


def _turn(surface: TriMesh, flip: NDArray[np.bool_]) -> TriMesh:
    """The bare triangles, those marked turned round; polygons and texture are not carried over."""
    triangles = np.where(flip[:, None], surface.triangles[:, ::-1], surface.triangles)
    return TriMesh(surface.vertices, triangles, surface.notes)
