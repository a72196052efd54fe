"""How wires carry what surrounds them when their control points move."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from supple.linalg.compiled import compile_copy
from supple.linalg.vectors import copy_into
from supple.rig.wire_curve import WireCurve

__all__ = ["Listeners", "WireFrames", "carry_points"]

FloatArray = NDArray[np.float64]

_MANY = 1000  # points: fewer are carried before a second thread has woken up


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
        self._last = np.full(self.points.shape, np.nan), np.empty((12, 0))
        get_num_threads()  # starts the threads: a loop from the cache does not

    def at(self, moves: FloatArray) -> FloatArray:
        """R and t of every sample, row by row, (12, m): x = R X + t moves what surrounds it when the control points
        move by so much [m], (c, 3).

        The frame at the first sample of a curve turns as little as its tangent allows and is carried along the curve
        without roll, at rest as in the pose, so that a curve may curl up by any angle.
        """
        known, frames = self._last  # a step and the surface after it ask for the same
        if np.array_equal(known, moves):
            return frames
        frames = np.empty((12, len(self.samples)))
        _fill_frames(
            self.points + moves, self._first, self._values, self._slopes, self._starts, self._tangents,
            self._transports, self.samples, frames,
        )  # fmt: skip
        self._last = moves.copy(), frames
        return frames


class Listeners(NamedTuple):
    """Which samples points listen to: stretches of neighbours, so that sums over them run along memory."""

    starts: NDArray[np.int64]
    """Of the stretches of each point, (k + 1,)."""
    first: NDArray[np.int64]
    """First sample of a stretch, (s,)."""
    ends: NDArray[np.int64]
    """Of the shares of stretches, one after another, (s + 1,)."""
    shares: FloatArray
    still: FloatArray
    """What is missing to 1 and stays, (k,)."""

    @classmethod
    def of(cls, weights: csr_array) -> "Listeners":
        """Shares of samples in points, (k, m)."""
        weights.sort_indices()
        rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        breaks = (np.diff(weights.indices, prepend=-2) != 1) | (np.diff(rows, prepend=-1) != 0)
        first = np.flatnonzero(breaks)
        counts = np.bincount(rows[first], minlength=weights.shape[0])
        return cls(
            np.concatenate([[0], np.cumsum(counts)]),
            weights.indices[first].astype(np.int64),
            np.append(first, len(rows)),
            weights.data,
            1.0 - np.asarray(weights.sum(axis=1)),
        )


def carry_points(points: FloatArray, listeners: Listeners, frames: FloatArray) -> FloatArray:
    """Points (k, 3) as the frames (12, m) of wires carry them, (k, 3)."""
    out = np.empty(points.shape)
    (_carry_many if len(points) >= _MANY else _carry_few)(points, listeners, frames, out)
    return out


def _carry(points, listeners, frames, out):
    starts, first, ends, shares, still = listeners
    for k in prange(len(points)):
        mean = np.zeros(12)
        for s in range(starts[k], starts[k + 1]):
            own = shares[ends[s] : ends[s + 1]]
            for i in range(12):
                line, total = frames[i, first[s] : first[s] + own.size], 0.0
                for j in range(own.size):
                    total += own[j] * line[j]
                mean[i] += total
        x, y, z, w = points[k, 0], points[k, 1], points[k, 2], still[k]
        out[k, 0] = mean[0] * x + mean[1] * y + mean[2] * z + mean[9] + w * x
        out[k, 1] = mean[3] * x + mean[4] * y + mean[5] * z + mean[10] + w * y
        out[k, 2] = mean[6] * x + mean[7] * y + mean[8] * z + mean[11] + w * z


_FAST = {"contract", "nsz", "reassoc"}
_carry_few = compile_copy(_carry, "few", fastmath=_FAST)
_carry_many = compile_copy(_carry, "many", fastmath=_FAST, parallel=True)


@njit(cache=True, error_model="numpy")
def _fill_frames(points, first, values, slopes, starts, tangents, transports, samples, frames):
    place, slope = np.empty(3), np.empty(3)
    before, half, R = np.empty((1, 3)), np.empty((3, 3)), np.empty((3, 3))
    for curve in range(starts.size - 1):
        for k in range(starts[curve], starts[curve + 1]):
            for i in range(3):
                place[i] = slope[i] = 0.0
            for c in range(values.shape[1]):
                for i in range(3):
                    place[i] += values[k, c] * points[first[k] + c, i]
                    slope[i] += slopes[k, c] * points[first[k] + c, i]
            size = np.sqrt(slope[0] ** 2 + slope[1] ** 2 + slope[2] ** 2)
            for i in range(3):  # where the curve stands still it has no direction of its own
                slope[i] = tangents[k, i] if size < 1e-12 else slope[i] / size
            if k == starts[curve]:
                turn = _turn(tangents[k : k + 1], slope.reshape(1, 3))[0]
                copy_into(turn.reshape(9), R.reshape(9))
            else:  # R turned as the tangent, after what the curve does at rest is undone
                turn, rest = _turn(before, slope.reshape(1, 3))[0], transports[k - 1]
                for i in range(3):
                    for j in range(3):
                        half[i, j] = R[i, 0] * rest[j, 0] + R[i, 1] * rest[j, 1] + R[i, 2] * rest[j, 2]
                for i in range(3):
                    for j in range(3):
                        R[i, j] = turn[i, 0] * half[0, j] + turn[i, 1] * half[1, j] + turn[i, 2] * half[2, j]
            copy_into(slope, before[0])
            for i in range(3):
                frames[9 + i, k] = place[i]
                for j in range(3):
                    frames[3 * i + j, k] = R[i, j]
                    frames[9 + i, k] -= R[i, j] * samples[k, j]


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
            for i in range(3):
                axis[i] = (1.0 if i == least else 0.0) - a[least] * a[i]
            size = np.sqrt(axis[0] ** 2 + axis[1] ** 2 + axis[2] ** 2)
            for i in range(3):
                axis[i] /= size
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
