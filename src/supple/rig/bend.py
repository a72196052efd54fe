"""Bend a stretch of the body into an arc of a circle."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.errors import SceneError
from supple.linalg.jit import njit
from supple.rig.deformer import Deformer, Vertices
from supple.rig.stretch import Stretch

__all__ = ["Bend"]

FloatArray = NDArray[np.float64]


class Bend(Deformer):
    """One angle [rad] by which the stretch from `start` to `end` turns about an axis; what is behind follows rigidly.

    Lengths along the line from start to end are kept; the flesh inside the bend is pressed, that outside drawn out.
    """

    is_even = True

    def __init__(self, rest: ArrayLike, start: ArrayLike, end: ArrayLike, about: ArrayLike, name: str = "bend") -> None:
        super().__init__(rest, (f"{name}.angle",))
        self._stretch = Stretch.between(start, end, "Bend")
        along, axis = self._stretch.direction, as_floats(about, "Bend(about)", (3,))
        side = np.cross(axis, along)
        if not np.linalg.norm(side) > 1e-9 * np.linalg.norm(axis):
            raise SceneError(f"'{name}' cannot bend about {axis.tolist()}: give an axis across its stretch.")
        side /= np.linalg.norm(side)
        self._frame = np.array([self._stretch.start, along, side, np.cross(along, side)])

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        x = np.asarray(points, np.float64)
        moved = np.empty(x.shape)
        _fill_bent(x, self._frame, self._stretch.length, float(pose[0]), moved)
        return moved


@njit(cache=True, error_model="numpy")
def _fill_bent(x: FloatArray, frame: FloatArray, length: float, turn: float, out: FloatArray) -> None:
    """Points x (k, 3) bent by a turn [rad]; frame: where the stretch starts, its direction, across it, the axis."""
    start, ahead, side, axis = frame
    for k in range(len(x)):
        along = aside = beside = 0.0
        for i in range(3):
            offset = x[k, i] - start[i]
            along += offset * ahead[i]
            aside += offset * side[i]
            beside += offset * axis[i]
        passed = min(max(along, 0.0), length)
        half = 0.5 * turn * passed / length
        sine, cosine = np.sin(half), np.cos(half)
        chord = passed * (sine / half if half != 0.0 else 1.0)  # of the arc passed; it points half aside
        sine_whole, cosine_whole = 2.0 * sine * cosine, 1.0 - 2.0 * sine * sine
        a = chord * cosine + (along - passed) * cosine_whole - aside * sine_whole
        b = chord * sine + (along - passed) * sine_whole + aside * cosine_whole
        for i in range(3):
            out[k, i] = start[i] + a * ahead[i] + b * side[i] + beside * axis[i]
