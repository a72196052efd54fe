"""A smooth curve through control points, and how its pieces turn when the points move."""

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from supple.errors import SceneError
from supple.rig.cubic_spline import hermite_pieces

__all__ = ["WireCurve"]

FloatArray = NDArray[np.float64]

_PER_SPAN = 8  # samples between two control points


class WireCurve:
    """A smooth curve through c points, sampled at m places; a point that moves bends the two spans on either side.

    Catmull and Rom's cubics over the lengths at rest: linear in the points.
    """

    def __init__(self, name: str, points: ArrayLike) -> None:
        self.points: FloatArray = np.array(points, np.float64)
        if self.points.ndim != 2 or self.points.shape[1] != 3 or len(self.points) < 2:
            raise SceneError(f"wire '{name}' has points of shape {self.points.shape}: give two or more, (c, 3).")
        spans = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        if not (np.isfinite(spans).all() and (spans > 1e-9 * spans.sum()).all()):
            raise SceneError(f"two neighbouring points of wire '{name}' coincide or are not finite: correct them.")
        at = np.concatenate([[0.0], np.cumsum(spans)])
        each = np.eye(len(at))
        pieces = hermite_pieces(at, each, np.asarray(np.gradient(each, at, axis=0)))
        places = np.linspace(0.0, at[-1], _PER_SPAN * len(spans) + 1)
        self.spacing = float(places[1])
        """Between samples [m]."""
        span = np.clip(np.searchsorted(at, places, side="right") - 1, 0, len(spans) - 1)
        c, t = pieces[:, span], (places - at[span])[:, None]
        self._values = c[0] + t * (c[1] + t * (c[2] + t * c[3]))  # (m, c) each
        self._slopes = c[1] + t * (2.0 * c[2] + t * 3.0 * c[3])
        self.samples: FloatArray = self._values @ self.points
        """Places on the curve at rest [m], (m, 3)."""
        self._tangents = self._find_tangents(self.points)
        self._transports = _turn(self._tangents[:-1], self._tangents[1:])

    def frames(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R (m, 3, 3) and t (m, 3): x = R X + t moves what surrounds each sample when the control points [m] move.

        The frame at the first sample turns as little as its tangent allows and is carried along the curve without
        roll, at rest as in the pose, so that a curve may curl up by any angle.
        """
        tangents = self._find_tangents(points)
        R = np.empty((len(tangents), 3, 3))
        R[0] = _turn(self._tangents[:1], tangents[:1])[0]
        _carry(_turn(tangents[:-1], tangents[1:]), self._transports, R)
        return R, self._values @ points - (R @ self.samples[:, :, None])[:, :, 0]

    def _find_tangents(self, points: FloatArray) -> FloatArray:
        slopes = self._slopes @ points
        gone = np.linalg.norm(slopes, axis=1) < 1e-12
        slopes[gone] = self._slopes[gone] @ self.points  # where the curve stands still it has no direction of its own
        return np.asarray(slopes / np.linalg.norm(slopes, axis=1, keepdims=True))


@njit(cache=True)
def _carry(posed: FloatArray, rest: FloatArray, R: FloatArray) -> None:
    """Fill R (m, 3, 3) from its first: R_{k+1} = posed_k R_k rest_kᵀ."""
    for k in range(len(posed)):
        half = np.zeros((3, 3))
        for i in range(3):
            for j in range(3):
                for l in range(3):
                    half[i, j] += R[k, i, l] * rest[k, j, l]
        for i in range(3):
            for j in range(3):
                R[k + 1, i, j] = posed[k, i, 0] * half[0, j] + posed[k, i, 1] * half[1, j] + posed[k, i, 2] * half[2, j]


@njit(cache=True)
def _turn(begin: FloatArray, end: FloatArray) -> FloatArray:
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
