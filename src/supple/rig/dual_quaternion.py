"""Dual quaternion skinning: every vertex follows a rigid motion between those of its joints.

Kavan, Collins, Žára, O'Sullivan, "Skinning with dual quaternions", 2007. The frames are pure rotations, so bends and
twists keep their thickness. A motion is the dual quaternion (q, p) with p = t q / 2; it and its negative are one
motion, and a blend takes the one on the side of the vertex's main joint: joints more than half a turn apart are
therefore blended the short way round.
"""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.small import point
from supple.rig.row_sums import signed_sum

__all__ = ["blend_frames", "blend_places", "blend_points", "fill_frames", "fill_places", "fill_points"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def blend_points(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray) -> FloatArray:
    """Points [m], (n, 3), moved by the blend of the motions R (j, 3, 3), t (j, 3) of their joints."""
    moved = np.empty_like(points)
    fill_points(R, t, joints, weights, points, moved)
    return moved


def blend_frames(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotations (n, 3, 3) and t [m], (n, 3), of every vertex, blended from the motions of its joints."""
    turns, shift = np.empty((len(weights), 3, 3)), np.empty((len(weights), 3))
    fill_frames(R, t, joints, weights, turns, shift)
    return turns, shift


def blend_places(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray) -> FloatArray:
    """Points [m] as `blend_points` moves them, and beside each its rotation, row by row, (n, 12)."""
    out = np.empty((len(points), 12))
    fill_places(R, t, joints, weights, points, out)
    return out


@njit(cache=True, error_model="numpy")
def _tabulate(R: FloatArray, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """q and p of every joint, real parts first, (j, 8), and 1 for two joints with q on one side, else -1, (j, j)."""
    count = len(R)
    motions, sides = np.empty((count, 8)), np.empty((count, count))
    for j in range(count):
        w, a, b, c = _quaternion(R[j])
        x, y, z = 0.5 * t[j, 0], 0.5 * t[j, 1], 0.5 * t[j, 2]
        motions[j, 0], motions[j, 1], motions[j, 2], motions[j, 3] = w, a, b, c
        motions[j, 4], motions[j, 5] = -(x * a + y * b + z * c), w * x + y * c - z * b
        motions[j, 6], motions[j, 7] = w * y + z * a - x * c, w * z + x * b - y * a
        for i in range(j + 1):
            dot = motions[i, 0] * w + motions[i, 1] * a + motions[i, 2] * b + motions[i, 3] * c
            sides[i, j] = sides[j, i] = -1.0 if dot < 0.0 else 1.0
    return motions, sides


@njit(cache=True, error_model="numpy")
def _quaternion(R: FloatArray) -> tuple[float, float, float, float]:
    """A unit quaternion of a rotation, found from the largest of its entries, four times whose squares are below."""
    w = 1.0 + R[0, 0] + R[1, 1] + R[2, 2]
    a = 1.0 + R[0, 0] - R[1, 1] - R[2, 2]
    b = 1.0 - R[0, 0] + R[1, 1] - R[2, 2]
    c = 1.0 - R[0, 0] - R[1, 1] + R[2, 2]
    if w >= max(a, b, c):
        a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    elif a >= max(b, c):
        w, b, c = R[2, 1] - R[1, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]
    elif b >= c:
        w, a, c = R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 2] + R[2, 1]
    else:
        w, a, b = R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    scale = 1.0 / np.sqrt(w * w + a * a + b * b + c * c)
    return scale * w, scale * a, scale * b, scale * c


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def fill_points(
    R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray, out: FloatArray
) -> None:
    motions, sides = _tabulate(R, t)
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
def fill_frames(
    R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, turns: FloatArray, shift: FloatArray
) -> None:
    """What `blend_frames` returns."""
    motions, sides = _tabulate(R, t)
    for i in range(len(weights)):
        xx, xy, xz, yx, yy, yz, zx, zy, zz, x, y, z = _frame(motions, sides, joints, weights, i)
        turns[i, 0, 0], turns[i, 0, 1], turns[i, 0, 2] = xx, xy, xz
        turns[i, 1, 0], turns[i, 1, 1], turns[i, 1, 2] = yx, yy, yz
        turns[i, 2, 0], turns[i, 2, 1], turns[i, 2, 2] = zx, zy, zz
        shift[i, 0], shift[i, 1], shift[i, 2] = x, y, z


@point
def _frame(
    motions: FloatArray, sides: FloatArray, joints: IntArray, weights: FloatArray, i: int
) -> tuple[float, float, float, float, float, float, float, float, float, float, float, float]:
    """The rotation of vertex i, row by row, and where it puts the origin."""
    w, a, b, c, pw, pa, pb, pc = signed_sum(motions, joints, weights, i, sides)
    scale = 2.0 / (w * w + a * a + b * b + c * c)
    return (
        1 - scale * (b * b + c * c), scale * (a * b - w * c), scale * (a * c + w * b),
        scale * (a * b + w * c), 1 - scale * (a * a + c * c), scale * (b * c - w * a),
        scale * (a * c - w * b), scale * (b * c + w * a), 1 - scale * (a * a + b * b),
        scale * (b * pc - c * pb + w * pa - pw * a),
        scale * (c * pa - a * pc + w * pb - pw * b),
        scale * (a * pb - b * pa + w * pc - pw * c),
    )  # fmt: skip


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def fill_places(
    R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray, out: FloatArray
) -> None:
    motions, sides = _tabulate(R, t)
    for i in range(len(points)):
        xx, xy, xz, yx, yy, yz, zx, zy, zz, x, y, z = _frame(motions, sides, joints, weights, i)
        u, v, w = points[i, 0], points[i, 1], points[i, 2]
        out[i, 0] = xx * u + xy * v + xz * w + x
        out[i, 1] = yx * u + yy * v + yz * w + y
        out[i, 2] = zx * u + zy * v + zz * w + z
        out[i, 3], out[i, 4], out[i, 5] = xx, xy, xz
        out[i, 6], out[i, 7], out[i, 8] = yx, yy, yz
        out[i, 9], out[i, 10], out[i, 11] = zx, zy, zz
