"""A motion of bones that keep their length, out of joints that files move freely."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.rig.motion import Motion
from supple.rig.skeleton import Skeleton
from supple.rig.turns import nearest_rotations

__all__ = ["Hinged", "hinge_motion"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hinged:
    """The motion, and what it leaves out."""

    motion: Motion
    misses: FloatArray
    """How far each bone's ends come to lie from where they were moved [m], at most, (j,)."""
    slides: FloatArray
    """From where the joints come to lie to where they were moved [m], (k, j, 3)."""
    scales: FloatArray
    """What the turns have beside rotations, A - R, (k, j, 3, 3)."""
    stretch: FloatArray
    """How far ends of each bone would lie off if joints slid [m], at most, (j,)."""


def hinge_motion(skeleton: Skeleton, times: FloatArray, turns: FloatArray, shifts: FloatArray) -> Hinged:
    """The motion of the skeleton nearest to affine motions x = A X + t of its joints, A (k, j, 3, 3), t [m] (k, j, 3).

    The first root goes where it was moved, all joints turn as they were turned; stretch, and joints pulled from their
    parents, are left out.
    """
    count, joints = len(times), len(skeleton)
    rotations = nearest_rotations(turns.reshape(-1, 3, 3)).reshape(turns.shape)
    local = rotations.copy()
    for k, parent in enumerate(skeleton.parents):
        if parent >= 0:
            local[:, k] = rotations[:, parent].transpose(0, 2, 1) @ rotations[:, k]
    poses = np.empty((count, 3 + 3 * joints))
    poses[:, :3] = turns[:, 0] @ skeleton.heads[0] + shifts[:, 0] - skeleton.heads[0]
    poses[:, 3:] = Rotation.from_matrix(local.reshape(-1, 3, 3)).as_rotvec().reshape(count, -1)
    slides, tails = np.empty((2, count, joints, 3))
    scales = turns - rotations
    for frame, pose in enumerate(poses):
        R, t = skeleton.transforms(pose)
        for off, ends in ((slides, skeleton.heads), (tails, skeleton.tails)):
            off[frame] = np.einsum("jab,jb->ja", turns[frame] - R, ends) + shifts[frame] - t
    misses = np.maximum(np.linalg.norm(slides, axis=2).max(axis=0), np.linalg.norm(tails, axis=2).max(axis=0))
    stretch = np.linalg.norm(tails - slides, axis=2).max(axis=0)
    return Hinged(Motion.of(skeleton, times, poses), misses, slides, scales, stretch)
