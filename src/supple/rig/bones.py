"""Bones as segments in a body: how far its points are, which lie along them, and which bones are not in it."""

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.arguments import check_type
from supple.errors import SuppleWarning
from supple.mesh import SurfaceDistance, TetMesh, TriMesh, edge_lengths
from supple.mesh.checks import read_instead
from supple.rig.skeleton import Skeleton

__all__ = ["TIE", "bone_distances", "seat_bones", "warn_outside"]

FloatArray = NDArray[np.float64]

TIE = 1e-9
"""Share of a body's size by which something may be farther away than the nearest and still be as near."""

_TIED = 12  # most vertices that are as near to one point of a bone
_NAMED = 5  # most bones that a warning lists
_SAMPLES = 9  # points along a bone that tell whether it is in the body


def bone_distances(points: FloatArray, skeleton: Skeleton) -> FloatArray:
    """Distances [m] of points (n, 3) to the segments from head to tail, (n, j)."""
    distances = np.empty((len(points), len(skeleton)))
    for k, (head, tail) in enumerate(zip(skeleton.heads, skeleton.tails, strict=True)):
        along, offset = tail - head, points - head
        squared = float(along @ along)
        share = np.clip(offset @ along / squared, 0.0, 1.0) if squared > 0.0 else np.zeros(len(points))
        distances[:, k] = np.linalg.norm(offset - share[:, None] * along, axis=1)
    return distances


def seat_bones(mesh: TetMesh, skeleton: Skeleton) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which vertices lie along which bone, (n, j), and which bones are in flesh, (j,).

    Along a bone lie the vertices nearest to its points, taken an edge of the mesh apart. In flesh at least half these
    points have a vertex within that length; a bone outside or in a cavity has none.
    """
    spacing = float(edge_lengths(mesh).mean())
    lengths = np.linalg.norm(skeleton.tails - skeleton.heads, axis=1)
    counts = 1 + np.ceil(lengths / spacing).astype(np.int64)
    points, bone = _sample(skeleton, counts)
    distances, vertices = cKDTree(mesh.vertices).query(points, min(_TIED, len(mesh.vertices)))
    near = distances <= distances[:, :1] + TIE * mesh.size()
    seats = np.zeros((len(mesh.vertices), len(skeleton)), np.bool_)
    seats[vertices[near], np.broadcast_to(bone[:, None], near.shape)[near]] = True
    return seats, np.bincount(bone, weights=distances[:, 0] <= spacing) >= counts / 2


def warn_outside(mesh: TetMesh, skeleton: Skeleton) -> None:
    """Warn of the bones that lie outside the body altogether; its cavities are inside."""
    check_type(mesh, "mesh", TetMesh, "a TetMesh", read_instead(mesh))
    check_type(skeleton, "skeleton", Skeleton, "a Skeleton", "Use Skeleton.of.")
    points, bone = _sample(skeleton, np.full(len(skeleton), _SAMPLES))
    away = np.full(len(skeleton), np.inf)
    np.minimum.at(away, bone, SurfaceDistance(_outer_surface(mesh))(points))
    outside = np.flatnonzero(away > TIE * mesh.size())
    if outside.size:
        farthest = outside[np.argsort(-away[outside], kind="stable")]
        named = ", ".join(f"'{skeleton.names[k]}' ({away[k]:.3g} m away)" for k in farthest[:_NAMED])
        more = f" and {outside.size - _NAMED} more" if outside.size > _NAMED else ""
        warnings.warn(
            f"outside the body are the bones of {named}{more}: they move the vertices nearest to them; move them in, "
            "mesh finer, or bring skeleton and mesh to the same units.",
            SuppleWarning,
            stacklevel=3,
        )


def _sample(skeleton: Skeleton, counts: NDArray[np.integer]) -> tuple[FloatArray, NDArray[np.int64]]:
    """Points [m] from the head to the tail of each bone, `counts` (j,) of them, and the bone each belongs to."""
    bone = np.repeat(np.arange(len(skeleton)), counts)
    step = np.arange(len(bone)) - np.repeat(np.cumsum(counts) - counts, counts)
    share = (step / np.maximum(counts[bone] - 1, 1))[:, None]
    return (1.0 - share) * skeleton.heads[bone] + share * skeleton.tails[bone], bone


def _outer_surface(mesh: TetMesh) -> TriMesh:
    """The body's surface without the walls of its cavities."""
    surface = mesh.surface()
    piece = surface.components()[surface.triangles[:, 0]]
    walls = [k for k in np.unique(piece) if TriMesh(surface.vertices, surface.triangles[piece == k]).volume() < 0.0]
    return TriMesh.clean(surface.vertices, surface.triangles[~np.isin(piece, walls)])
