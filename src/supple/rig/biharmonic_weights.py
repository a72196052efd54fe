"""Skinning weights as smooth as bounds allow: bounded biharmonic weights.

Jacobson, Baran, Popović, Sorkine, "Bounded biharmonic weights for real-time deformation", 2011, by libigl. They go over
more gently than heat, but each joint is a quadratic programme: a few thousand vertices take seconds a joint, and the
time grows faster than the mesh.
"""

import numpy as np
from numpy.typing import NDArray

from supple.errors import ConvergenceError
from supple.mesh import TetMesh
from supple.rig.bones import bone_distances, seat_bones, warn_outside
from supple.rig.influences import MOST, Influences
from supple.rig.skeleton import Skeleton

__all__ = ["biharmonic_weights"]

_SWEEPS = 8  # of the active set: more change no digit that is seen


def biharmonic_weights(mesh: TetMesh, skeleton: Skeleton, most: int | None = MOST) -> Influences:
    """Influences of the joints on the mesh's vertices, the `most` largest of each.

    The vertices along a bone are held at 1 for it and at 0 for all others; where bones meet they share. libigl bounds
    every weight by itself, so that sums stray from 1 by a few hundredths: they are normalised. A bone outside the body
    is named in a warning and holds the vertices nearest to it.
    """
    import igl

    warn_outside(mesh, skeleton)
    claims, _ = seat_bones(mesh, skeleton)
    _seat_pieces(mesh, skeleton, claims)
    held = np.flatnonzero(claims.any(axis=1))
    shares = claims[held] / claims[held].sum(axis=1, keepdims=True)
    if len(held) == len(mesh.vertices):
        return Influences.from_dense(shares, most)
    weights = igl.bbw(mesh.vertices, mesh.tets.astype(np.int64), held, shares, max_iter=_SWEEPS)
    bounded = np.clip(weights, 0.0, 1.0)
    if not (bounded.sum(axis=1) > 0.0).all():  # nor where one is not finite
        raise ConvergenceError("no biharmonic weights were found on this mesh: use heat weights, or mesh it again.")
    return Influences.from_dense(bounded / bounded.sum(axis=1, keepdims=True), most)


def _seat_pieces(mesh: TetMesh, skeleton: Skeleton, claims: NDArray[np.bool_]) -> None:
    """Hold one vertex of every piece of the body that no bone goes through, for its nearest bone."""
    pieces = mesh.components()
    for piece in np.setdiff1d(pieces, pieces[claims.any(axis=1)]):
        members = np.flatnonzero(pieces == piece)
        distances = bone_distances(mesh.vertices[members], skeleton)
        nearest = int(np.argmin(distances.min(axis=1)))
        claims[members[nearest], np.argmin(distances[nearest])] = True
