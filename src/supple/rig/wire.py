"""Wires: curves that carry the flesh around them."""

from collections.abc import Mapping
from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack
from scipy.spatial.distance import cdist

from supple.arguments import check_number
from supple.errors import SceneError
from supple.rig.deformer import Deformer, Vertices
from supple.rig.wire_curve import WireCurve
from supple.rig.wire_frames import Listeners, WireFrames, carry_points

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
        check_number(inner, "Wire(inner)", least=0.0, unit="m")
        check_number(outer, "Wire(outer)", above=inner, unit="m")
        wires = [WireCurve(name, points) for name, points in curves.items()]
        self._frames = WireFrames(wires)
        names = [
            f"{name}.{point}.t{axis}"
            for name, curve in zip(curves, wires, strict=True)
            for point in range(len(curve.points))
            for axis in "xyz"
        ]
        super().__init__(rest, tuple(names))
        self._weights = vstack(
            [self._weigh(self.rest[k : k + _CHUNK], inner, outer) for k in range(0, len(self.rest), _CHUNK)], "csr"
        )
        self._listeners = Listeners.of(self._weights)
        self.scales: FloatArray = np.ones(len(names))  # displacements are lengths as they are

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        listeners = self._listeners if vertices is None else Listeners.of(self._weights[vertices])
        return carry_points(np.asarray(points, np.float64), listeners, self._frames.at(pose.reshape(-1, 3)))

    def pick(self, vertices: NDArray[np.integer]) -> "Wire":
        """The same wires around the chosen vertices alone."""
        part = copy(self)
        part.rest, part._weights = self.rest[vertices], self._weights[vertices]
        part._listeners = Listeners.of(part._weights)
        return part

    def _weigh(self, points: FloatArray, inner: float, outer: float) -> csr_array:
        """Share of every sample of the wires in points [m], (k, m); what is missing to 1 stays where it is."""
        samples, spacing = self._frames.samples, self._frames.spacing
        square = cdist(points, samples, "sqeuclidean")
        nearest = square.min(axis=1, keepdims=True)
        shares = spacing * np.exp((nearest - square) / (2.0 * (spacing**2 + _WIDTH**2 * nearest)))
        shares[shares < _SMALLEST * shares.max(axis=1, keepdims=True)] = 0.0
        away = np.clip((np.sqrt(nearest) - inner) / (outer - inner), 0.0, 1.0)
        falloff = 1.0 - away**3 * (10.0 - 15.0 * away + 6.0 * away**2)
        return csr_array(falloff * shares / shares.sum(axis=1, keepdims=True))
