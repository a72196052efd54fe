"""A smooth curve through control points, and how its pieces turn when the points move."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline

from supple.errors import SceneError

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
        spline = CubicHermiteSpline(at, each, np.gradient(each, at, axis=0))
        places = np.linspace(0.0, at[-1], _PER_SPAN * len(spans) + 1)
        self.spacing = float(places[1])
        """Between samples [m]."""
        self._values, self._slopes = spline(places), spline(places, 1)  # (m, c) each
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
        transports = _turn(tangents[:-1], tangents[1:])
        R = np.empty((len(tangents), 3, 3))
        R[0] = _turn(self._tangents[:1], tangents[:1])[0]
        for k, (posed, rest) in enumerate(zip(transports, self._transports, strict=True)):
            R[k + 1] = posed @ R[k] @ rest.T
        return R, self._values @ points - np.einsum("kij,kj->ki", R, self.samples)

    def _find_tangents(self, points: FloatArray) -> FloatArray:
        slopes = self._slopes @ points
        gone = np.linalg.norm(slopes, axis=1) < 1e-12
        slopes[gone] = self._slopes[gone] @ self.points  # where the curve stands still it has no direction of its own
        return np.asarray(slopes / np.linalg.norm(slopes, axis=1, keepdims=True))


def _turn(begin: FloatArray, end: FloatArray) -> FloatArray:
    """The smallest rotations that take unit vectors to others, (k, 3) each, (k, 3, 3)."""
    axis, cosine = np.cross(begin, end), np.einsum("ki,ki->k", begin, end)
    cross = np.cross(np.eye(3), axis[:, None, :])  # rows e_i x axis: the matrix of the product axis x
    turn = np.eye(3) + cross + cross @ cross / np.maximum(1.0 + cosine, 1e-12)[:, None, None]
    for k in np.flatnonzero(cosine < 1e-9 - 1.0):  # opposite: half a turn about anything across
        across = np.cross(begin[k], np.eye(3)[np.argmin(np.abs(begin[k]))])
        across /= np.linalg.norm(across)
        turn[k] = 2.0 * np.outer(across, across) - np.eye(3)
    return np.asarray(turn)
