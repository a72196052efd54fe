"""Dual quaternion skinning: every vertex follows a rigid motion between those of its joints.

Kavan, Collins, Žára, O'Sullivan, "Skinning with dual quaternions", 2007. The frames are pure rotations, so bends and
twists keep their thickness. A motion is the dual quaternion (q, p) with p = t q / 2; it and its negative are one
motion, and a blend takes the one on the side of the vertex's main joint: joints more than half a turn apart are
therefore blended the short way round.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.rig.row_sums import signed_sum

__all__ = ["blend_frames", "blend_points"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def blend_points(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray) -> FloatArray:
    """Points [m], (n, 3), moved by the blend of the motions R (j, 3, 3), t (j, 3) of their joints."""
    motions, moved = _motion_table(R, t), np.empty_like(points)
    _fill_points(motions, _side_table(motions), joints, weights, points, moved)
    return moved


def blend_frames(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotations (n, 3, 3) and t [m], (n, 3), of every vertex, blended from the motions of its joints."""
    motions = _motion_table(R, t)
    turns, shift = np.empty((len(weights), 3, 3)), np.empty((len(weights), 3))
    _fill_frames(motions, _side_table(motions), joints, weights, turns, shift)
    return turns, shift


def _motion_table(R: FloatArray, t: FloatArray) -> FloatArray:
    """q and p of every joint, real parts first, (j, 8)."""
    turn = Rotation.from_matrix(R).as_quat()
    v, w = turn[:, :3], turn[:, 3:]
    real = -np.einsum("ji,ji->j", t, v)[:, None]
    return np.hstack([w, v, 0.5 * real, 0.5 * (w * t + np.cross(t, v))])


def _side_table(motions: FloatArray) -> FloatArray:
    """1 for every two joints whose quaternions are on one side, -1 for those that are not, (j, j)."""
    return np.where(motions[:, :4] @ motions[:, :4].T < 0.0, -1.0, 1.0)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _fill_points(
    motions: FloatArray, sides: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray, out: FloatArray
) -> None:
    for i in range(len(points)):
        w, a, b, c, pw, pa, pb, pc = signed_sum(motions, joints, weights, i, sides)
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        # X + 2 v × (v × X + w X + p) + 2 (w p - p_w v), over the length² of the blended q
        u0, u1, u2 = b * z - c * y + w * x + pa, c * x - a * z + w * y + pb, a * y - b * x + w * z + pc
        scale = 2.0 / (w * w + a * a + b * b + c * c)
        out[i, 0] = x + scale * (b * u2 - c * u1 + w * pa - pw * a)
        out[i, 1] = y + scale * (c * u0 - a * u2 + w * pb - pw * b)
        out[i, 2] = z + scale * (a * u1 - b * u0 + w * pc - pw * c)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _fill_frames(
    motions: FloatArray, sides: FloatArray, joints: IntArray, weights: FloatArray, R: FloatArray, t: FloatArray
) -> None:
    for i in range(len(weights)):
        w, a, b, c, pw, pa, pb, pc = signed_sum(motions, joints, weights, i, sides)
        scale = 2.0 / (w * w + a * a + b * b + c * c)
        R[i, 0, 0], R[i, 0, 1], R[i, 0, 2] = (
            1 - scale * (b * b + c * c),
            scale * (a * b - w * c),
            scale * (a * c + w * b),
        )
        R[i, 1, 0], R[i, 1, 1], R[i, 1, 2] = (
            scale * (a * b + w * c),
            1 - scale * (a * a + c * c),
            scale * (b * c - w * a),
        )
        R[i, 2, 0], R[i, 2, 1], R[i, 2, 2] = (
            scale * (a * c - w * b),
            scale * (b * c + w * a),
            1 - scale * (a * a + b * b),
        )
        t[i, 0] = scale * (b * pc - c * pb + w * pa - pw * a)
        t[i, 1] = scale * (c * pa - a * pc + w * pb - pw * b)
        t[i, 2] = scale * (a * pb - b * pa + w * pc - pw * c)
