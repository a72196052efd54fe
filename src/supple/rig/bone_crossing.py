"""Tets that bones run through: flesh that a simulation may hold still against the skeleton."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.mesh.adjacency import TET_FACES
from supple.rig.skeleton import Skeleton

__all__ = ["BoneCrossings", "find_bone_crossings"]

FloatArray = NDArray[np.float64]

_TOUCH = 1e-12  # of a tet's volume: a bone that runs along a face crosses the tets on both sides of it


@dataclass(frozen=True, eq=False)
class BoneCrossings:
    """Pairs of a tet and a bone that runs through it, ordered by bone."""

    tets: NDArray[np.int64]
    """(k,)"""
    bones: NDArray[np.int64]
    """Number of the joint whose bone it is, (k,)."""
    corners: NDArray[np.int32]
    """Vertices of these tets, (k, 4)."""

    def vertices(self, bone: int | None = None) -> NDArray[np.int32]:
        """Vertices of the tets that a bone, or any bone, crosses, in ascending order: those to hold."""
        chosen = self.corners if bone is None else self.corners[self.bones == bone]
        return np.unique(chosen)


def find_bone_crossings(
    positions: FloatArray, tets: NDArray[np.int32], skeleton: Skeleton, pose: FloatArray | None = None
) -> BoneCrossings:
    """The tets, over vertices at `positions` [m], that bones cross or touch in a pose, or at rest."""
    R, t = skeleton.transforms(skeleton.neutral if pose is None else pose)
    heads, tails = (np.einsum("kij,kj->ki", R, ends) + t for ends in (skeleton.heads, skeleton.tails))
    corners = positions[tets]
    low, high = corners.min(axis=1), corners.max(axis=1)
    found = []
    for head, tail in zip(heads, tails, strict=True):
        near = ((low <= np.maximum(head, tail)) & (high >= np.minimum(head, tail))).all(axis=1)
        candidates = np.flatnonzero(near)
        found.append(candidates[_cross(corners[candidates], head, tail)])
    crossed = np.concatenate(found)
    bones = np.repeat(np.arange(len(skeleton)), [len(one) for one in found])
    return BoneCrossings(crossed, bones, tets[crossed])


def _cross(corners: FloatArray, head: FloatArray, tail: FloatArray) -> NDArray[np.bool_]:
    """Which tets (k, 4, 3) the segment meets, (k,): what each face leaves of it is cut with what the others leave."""
    enter, leave = np.zeros(len(corners)), np.ones(len(corners))
    inside = np.ones(len(corners), np.bool_)
    for opposite, face in enumerate(TET_FACES):
        origin = corners[:, face[0]]
        normal = np.cross(corners[:, face[1]] - origin, corners[:, face[2]] - origin)
        volume = np.einsum("ki,ki->k", normal, corners[:, opposite] - origin)
        side = np.sign(volume)  # so that the opposite corner is on the positive side, in inverted tets too
        begin, end = (
            side * np.einsum("ki,ki->k", normal, point - origin) + _TOUCH * np.abs(volume) for point in (head, tail)
        )
        slope = end - begin
        at = -begin / np.where(slope == 0.0, 1.0, slope)
        enter = np.where(slope > 0.0, np.maximum(enter, at), enter)
        leave = np.where(slope < 0.0, np.minimum(leave, at), leave)
        inside &= (begin >= 0.0) | (end >= 0.0)
    return np.asarray(inside & (enter <= leave))
