"""How wires carry what surrounds them when their control points move."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, prange
from numpy.typing import NDArray
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from supple.linalg.compiled import compile_copy
from supple.linalg.jit import njit
from supple.linalg.small import matmul, matmul_nt, point
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
        self._transports = np.empty((len(slope) - 1, 9))
        _fill_transports(self._tangents, self._transports)
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
    starts, places, ends, shares, still = listeners
    for k in prange(len(points)):
        mean = np.zeros(12)
        for s in range(starts[k], starts[k + 1]):
            own, begin = shares[ends[s] : ends[s + 1]], places[s]
            end = begin + own.size
            for i in range(0, 12, 4):  # four at a time: shares are read once for them
                first, second = frames[i, begin:end], frames[i + 1, begin:end]
                third, fourth = frames[i + 2, begin:end], frames[i + 3, begin:end]
                a = b = c = d = 0.0
                for j in range(own.size):
                    a += own[j] * first[j]
                    b += own[j] * second[j]
                    c += own[j] * third[j]
                    d += own[j] * fourth[j]
                mean[i] += a
                mean[i + 1] += b
                mean[i + 2] += c
                mean[i + 3] += d
        x, y, z, w = points[k, 0], points[k, 1], points[k, 2], still[k]
        out[k, 0] = mean[0] * x + mean[1] * y + mean[2] * z + mean[9] + w * x
        out[k, 1] = mean[3] * x + mean[4] * y + mean[5] * z + mean[10] + w * y
        out[k, 2] = mean[6] * x + mean[7] * y + mean[8] * z + mean[11] + w * z


_FAST = {"contract", "nsz", "reassoc"}
_carry_few = compile_copy(_carry, "few", fastmath=_FAST)
_carry_many = compile_copy(_carry, "many", fastmath=_FAST, parallel=True)


@njit(cache=True, error_model="numpy")
def _fill_frames(points, first, values, slopes, starts, tangents, transports, samples, frames):
    for curve in range(starts.size - 1):
        R, before = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), _vector(tangents[starts[curve]])
        for k in range(starts[curve], starts[curve + 1]):
            x = y = z = a = b = c = 0.0
            for n in range(values.shape[1]):
                value, slope, point_ = values[k, n], slopes[k, n], points[first[k] + n]
                x, y, z = x + value * point_[0], y + value * point_[1], z + value * point_[2]
                a, b, c = a + slope * point_[0], b + slope * point_[1], c + slope * point_[2]
            size = np.sqrt(a * a + b * b + c * c)
            # Where the curve stands still it has no direction of its own
            ahead = _vector(tangents[k]) if size < 1e-12 else (a / size, b / size, c / size)
            if k > starts[curve]:  # R turned as the tangent, after what the curve does at rest is undone
                R = matmul_nt(R, _matrix(transports[k - 1]))
            R = matmul(_turn(before, ahead), R)
            before = ahead
            for i in range(9):
                frames[i, k] = R[i]
            s = samples[k]
            frames[9, k] = x - (R[0] * s[0] + R[1] * s[1] + R[2] * s[2])
            frames[10, k] = y - (R[3] * s[0] + R[4] * s[1] + R[5] * s[2])
            frames[11, k] = z - (R[6] * s[0] + R[7] * s[1] + R[8] * s[2])


@njit(cache=True, error_model="numpy")
def _fill_transports(tangents, out):
    """The turns from each tangent (m, 3) to the next, row by row, (m - 1, 9)."""
    for k in range(len(out)):
        turn = _turn(_vector(tangents[k]), _vector(tangents[k + 1]))
        for i in range(9):
            out[k, i] = turn[i]


@point
def _vector(a):
    return a[0], a[1], a[2]


@point
def _matrix(a):
    return a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]


@point
def _turn(a, b):
    """The smallest rotation that takes a unit vector to another, row by row."""
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    if cosine < 1e-9 - 1.0:  # opposite: half a turn about anything across
        x, y, z = abs(a[0]), abs(a[1]), abs(a[2])
        p, q, r = (1.0, 0.0, 0.0) if x <= y and x <= z else (0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0)
        least = a[0] * p + a[1] * q + a[2] * r
        p, q, r = p - least * a[0], q - least * a[1], r - least * a[2]
        size = p * p + q * q + r * r
        return (
            2.0 * p * p / size - 1.0, 2.0 * p * q / size, 2.0 * p * r / size,
            2.0 * q * p / size, 2.0 * q * q / size - 1.0, 2.0 * q * r / size,
            2.0 * r * p / size, 2.0 * r * q / size, 2.0 * r * r / size - 1.0,
        )  # fmt: skip
    x, y, z = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    u, v, w = x / (1.0 + cosine), y / (1.0 + cosine), z / (1.0 + cosine)
    return (  # Rodrigues: cos I + [axis] + axis axisᵀ / (1 + cos)
        x * u + cosine, x * v - z, x * w + y,
        y * u + z, y * v + cosine, y * w - x,
        z * u - y, z * v + x, z * w + cosine,
    )  # fmt: skip
