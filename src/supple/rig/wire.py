"""Wires: curves that carry the flesh around them."""

from collections.abc import Mapping
from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack
from scipy.spatial.distance import cdist

from supple.errors import SceneError
from supple.rig.deformer import Deformer, Vertices
from supple.rig.wire_curve import WireCurve

__all__ = ["Wire"]

FloatArray = NDArray[np.float64]

_WIDTH = 0.5  # of the distance to the wire: the stretch of it that a vertex listens to
_SMALLEST = 1e-6  # a share of a vertex below this is dropped
_CHUNK = 4096  # vertices whose distances to all samples are held at a time


class Wire(Deformer):
    """One curve or several; a pose is the displacement [m] of every control point, (3 c,).

    A vertex follows the frames of the nearest stretch of wire, wholly within `inner` [m] of it, less and less up to
    `outer` [m], and not at all beyond. A wire cannot roll: it turns as its direction does, from its first point on.
    """

    def __init__(self, rest: ArrayLike, curves: Mapping[str, ArrayLike], inner: float, outer: float) -> None:
        """`curves`: control points at rest [m], (c, 3), by the name of the wire."""
        if not curves:
            raise SceneError("a wire deformer needs a curve: give the control points of at least one.")
        if not (0.0 <= inner < outer and np.isfinite(outer)):
            raise SceneError(f"a wire cannot act from {inner} to {outer} m: give 0 <= inner < outer.")
        self._curves = tuple(WireCurve(name, points) for name, points in curves.items())
        names = [
            f"{name}.{point}.t{axis}"
            for name, curve in zip(curves, self._curves, strict=True)
            for point in range(len(curve.points))
            for axis in "xyz"
        ]
        super().__init__(rest, tuple(names))
        self._weights = vstack(
            [self._weigh(self.rest[k : k + _CHUNK], inner, outer) for k in range(0, len(self.rest), _CHUNK)], "csr"
        )
        self._still = 1.0 - np.asarray(self._weights.sum(axis=1))
        self.scales: FloatArray = np.ones(len(names))  # displacements are lengths as they are

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        weights, still = self._weights, self._still
        if vertices is not None:
            weights, still = weights[vertices], still[vertices]
        turns, shifts = [], []
        ends = np.cumsum([3 * len(curve.points) for curve in self._curves])[:-1]
        for curve, moves in zip(self._curves, np.split(pose, ends), strict=True):
            R, t = curve.frames(curve.points + moves.reshape(-1, 3))
            turns.append(R.reshape(-1, 9))
            shifts.append(t)
        frames = weights @ np.concatenate([np.concatenate(turns), np.concatenate(shifts)], axis=1)
        turned = (frames[:, :9].reshape(-1, 3, 3) @ points[:, :, None])[:, :, 0]
        return np.asarray(turned + frames[:, 9:] + still[:, None] * points)

    def pick(self, vertices: NDArray[np.integer]) -> "Wire":
        """The same wires around the chosen vertices alone."""
        part = copy(self)
        part.rest, part._weights, part._still = self.rest[vertices], self._weights[vertices], self._still[vertices]
        return part

    def _weigh(self, points: FloatArray, inner: float, outer: float) -> csr_array:
        """Share of every sample of the wires in points [m], (k, m); what is missing to 1 stays where it is."""
        samples = np.concatenate([curve.samples for curve in self._curves])
        spacing = np.concatenate([np.full(len(curve.samples), curve.spacing) for curve in self._curves])
        square = cdist(points, samples, "sqeuclidean")
        nearest = square.min(axis=1, keepdims=True)
        shares = spacing * np.exp((nearest - square) / (2.0 * (spacing**2 + _WIDTH**2 * nearest)))
        shares[shares < _SMALLEST * shares.max(axis=1, keepdims=True)] = 0.0
        away = np.clip((np.sqrt(nearest) - inner) / (outer - inner), 0.0, 1.0)
        falloff = 1.0 - away**3 * (10.0 - 15.0 * away + 6.0 * away**2)
        return csr_array(falloff * shares / shares.sum(axis=1, keepdims=True))
