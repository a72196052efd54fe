"""Linear blend skinning: every vertex follows the weighted mean of its joints' matrices.

Quick and affine, but means of rotations are no rotations: flesh thins where bones bend, and collapses where they twist
by half a turn.
"""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.rig.row_sums import affine_point, sum_rows

__all__ = ["blend_frames", "blend_points", "fill_frames"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]


def blend_points(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray) -> FloatArray:
    """Points [m], (n, 3), moved by the motions R (j, 3, 3), t (j, 3) of their joints: the sum of w (R X + t)."""
    moved = np.empty_like(points)
    _fill_points(_matrix_table(R, t), joints, weights, points, moved)
    return moved


def blend_frames(R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A (n, 3, 3) and t [m], (n, 3), of every vertex: the sums of w R and w t over its joints."""
    A, shift = np.empty((len(weights), 3, 3)), np.empty((len(weights), 3))
    fill_frames(R, t, joints, weights, A, shift)
    return A, shift


@njit(cache=True)
def _matrix_table(R: FloatArray, t: FloatArray) -> FloatArray:
    """The columns of R and t of every joint, each with a fourth entry of 0, (j, 16)."""
    table = np.zeros((len(R), 16))
    for joint in range(len(R)):
        for row in range(3):
            for column in range(3):
                table[joint, 4 * column + row] = R[joint, row, column]
            table[joint, 12 + row] = t[joint, row]
    return table


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _fill_points(table: FloatArray, joints: IntArray, weights: FloatArray, points: FloatArray, out: FloatArray) -> None:
    for i in range(len(points)):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        out[i, 0], out[i, 1], out[i, 2] = affine_point(table, joints, weights, i, x, y, z)


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def fill_frames(
    R: FloatArray, t: FloatArray, joints: IntArray, weights: FloatArray, A: FloatArray, shift: FloatArray
) -> None:
    """What `blend_frames` returns."""
    table = _matrix_table(R, t)
    for i in range(len(weights)):
        frame = sum_rows(table, joints, weights, i)
        for column in range(3):
            for row in range(3):
                A[i, row, column] = frame[4 * column + row]
        shift[i, 0], shift[i, 1], shift[i, 2] = frame[12], frame[13], frame[14]
