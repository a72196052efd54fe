"""How wires carry what surrounds them when their control points move."""

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import block_diag

from supple.rig.wire_curve import WireCurve

__all__ = ["WireFrames", "carry_points"]

FloatArray = NDArray[np.float64]


class WireFrames:
    """The samples of several curves, one after another."""

    def __init__(self, curves: Sequence[WireCurve]) -> None:
        self.points: FloatArray = np.concatenate([curve.points for curve in curves])
        """Control points at rest [m], (c, 3)."""
        self.samples: FloatArray = np.concatenate([curve.samples for curve in curves])
        """[m], (m, 3)"""
        self.spacing: FloatArray = np.concatenate([np.full(len(curve.samples), curve.spacing) for curve in curves])
        """Between samples [m], (m,)."""
        self._starts = np.cumsum([0, *(len(curve.samples) for curve in curves)])
        values, slopes = (block_diag(*parts) for parts in zip(*((c.values, c.slopes) for c in curves), strict=True))
        used = (values != 0.0) | (slopes != 0.0)
        # Few points move a sample: those from the first on, as many for all
        first, last = used.argmax(axis=1), used.shape[1] - used[:, ::-1].argmax(axis=1)
        width = int((last - first).max())
        self._first = np.minimum(first, used.shape[1] - width)
        near = self._first[:, None] + np.arange(width)
        self._values, self._slopes = (np.take_along_axis(all_, near, axis=1) for all_ in (values, slopes))
        slope = slopes @ self.points
        self._tangents = slope / np.linalg.norm(slope, axis=1, keepdims=True)
        self._transports = _turn(self._tangents[:-1], self._tangents[1:])

    def at(self, moves: FloatArray) -> FloatArray:
        """R and t of every sample, row by row, (m, 12): x = R X + t moves what surrounds it when the control points
        move by so much [m], (c, 3).

        The frame at the first sample of a curve turns as little as its tangent allows and is carried along the curve
        without roll, at rest as in the pose, so that a curve may curl up by any angle.
        """
        frames = np.empty((len(self.samples), 12))
        _fill_frames(
            self.points + moves, self._first, self._values, self._slopes, self._starts, self._tangents,
            self._transports, self.samples, frames,
        )  # fmt: skip
        return frames


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def carry_points(points, starts, who, shares, frames, out):
    """Fill out (k, 3) with points (k, 3) as the frames (m, 12) of wires carry them.

    Point k listens to frames who[j] by shares[j] with j from starts[k] to starts[k + 1]; what is missing to 1 stays.
    """
    for k in range(len(points)):
        a = b = c = d = e = f = g = h = i = u = v = w = 0.0  # in registers: an array would be written at every turn
        still = 1.0
        for j in range(starts[k], starts[k + 1]):
            share, frame = shares[j], frames[who[j]]
            a, b, c, u = a + share * frame[0], b + share * frame[1], c + share * frame[2], u + share * frame[9]
            d, e, f, v = d + share * frame[3], e + share * frame[4], f + share * frame[5], v + share * frame[10]
            g, h, i, w = g + share * frame[6], h + share * frame[7], i + share * frame[8], w + share * frame[11]
            still -= share
        x, y, z = points[k, 0], points[k, 1], points[k, 2]
        out[k, 0] = a * x + b * y + c * z + u + still * x
        out[k, 1] = d * x + e * y + f * z + v + still * y
        out[k, 2] = g * x + h * y + i * z + w + still * z


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_frames(points, first, values, slopes, starts, tangents, transports, samples, frames):
    place, slope = np.empty(3), np.empty(3)
    before, half, R = np.empty((1, 3)), np.empty((3, 3)), np.empty((3, 3))
    for curve in range(starts.size - 1):
        for k in range(starts[curve], starts[curve + 1]):
            place[:], slope[:] = 0.0, 0.0
            for c in range(values.shape[1]):
                for i in range(3):
                    place[i] += values[k, c] * points[first[k] + c, i]
                    slope[i] += slopes[k, c] * points[first[k] + c, i]
            size = np.sqrt(slope[0] ** 2 + slope[1] ** 2 + slope[2] ** 2)
            if size < 1e-12:  # where the curve stands still it has no direction of its own
                slope[:] = tangents[k]
            else:
                slope /= size
            if k == starts[curve]:
                R[:] = _turn(tangents[k : k + 1], slope.reshape(1, 3))[0]
            else:  # R turned as the tangent, after what the curve does at rest is undone
                turn, rest = _turn(before, slope.reshape(1, 3))[0], transports[k - 1]
                for i in range(3):
                    for j in range(3):
                        half[i, j] = R[i, 0] * rest[j, 0] + R[i, 1] * rest[j, 1] + R[i, 2] * rest[j, 2]
                for i in range(3):
                    for j in range(3):
                        R[i, j] = turn[i, 0] * half[0, j] + turn[i, 1] * half[1, j] + turn[i, 2] * half[2, j]
            before[0] = slope
            for i in range(3):
                frames[k, 9 + i] = place[i]
                for j in range(3):
                    frames[k, 3 * i + j] = R[i, j]
                    frames[k, 9 + i] -= R[i, j] * samples[k, j]


@njit(cache=True, error_model="numpy")
def _turn(begin, end):
    """The smallest rotations that take unit vectors to others, (k, 3) each, (k, 3, 3)."""
    turn = np.empty((len(begin), 3, 3))
    axis = np.empty(3)
    for k in range(len(begin)):
        a, b = begin[k], end[k]
        cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
        if cosine < 1e-9 - 1.0:  # opposite: half a turn about anything across
            least = np.argmin(np.abs(a))
            axis[:] = -a[least] * a
            axis[least] += 1.0
            axis /= np.sqrt(np.sum(axis**2))
            for i in range(3):
                for j in range(3):
                    turn[k, i, j] = 2.0 * axis[i] * axis[j] - (1.0 if i == j else 0.0)
            continue
        for i in range(3):
            axis[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]
        for i in range(3):
            for j in range(3):  # Rodrigues: cos I + [axis] + axis axisᵀ / (1 + cos)
                turn[k, i, j] = axis[i] * axis[j] / (1.0 + cosine) + (cosine if i == j else 0.0)
            turn[k, i, (i + 1) % 3] -= axis[(i + 2) % 3]
            turn[k, i, (i + 2) % 3] += axis[(i + 1) % 3]
    return turn
