"""Bend a stretch of the body into an arc of a circle."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import SceneError
from supple.rig.deformer import Deformer, Vertices
from supple.rig.stretch import Stretch

__all__ = ["Bend"]

FloatArray = NDArray[np.float64]


class Bend(Deformer):
    """One angle [rad] by which the stretch from `start` to `end` turns about an axis; what is behind follows rigidly.

    Lengths along the line from start to end are kept; the flesh inside the bend is pressed, that outside drawn out.
    """

    def __init__(self, rest: ArrayLike, start: ArrayLike, end: ArrayLike, about: ArrayLike, name: str = "bend") -> None:
        super().__init__(rest, (f"{name}.angle",))
        self._stretch = Stretch.between(start, end)
        along, axis = self._stretch.direction, np.asarray(about, np.float64)
        side = np.cross(axis, along)
        if not np.linalg.norm(side) > 1e-9 * np.linalg.norm(axis):
            raise SceneError(f"'{name}' cannot bend about {axis.tolist()}: give an axis across its stretch.")
        self._side = side / np.linalg.norm(side)
        self._axis = np.cross(along, self._side)

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        stretch = self._stretch
        along = stretch.along(points)
        share = stretch.share(along)
        angle, passed = pose[0] * share, share * stretch.length
        chord = passed * np.sinc(0.5 * angle / np.pi)  # of the arc passed; it points half its angle aside
        ahead, across = self._turned(0.5 * angle)[0], self._turned(angle)
        offset = points - stretch.start
        return np.asarray(
            stretch.start
            + chord[:, None] * ahead
            + (along - passed)[:, None] * across[0]
            + (offset @ self._side)[:, None] * across[1]
            + (offset @ self._axis)[:, None] * self._axis
        )

    def _turned(self, angle: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The directions along and across the stretch after a turn, each (k, 3)."""
        cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
        along, side = self._stretch.direction, self._side
        return cosine * along + sine * side, cosine * side - sine * along
