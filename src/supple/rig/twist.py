"""Twist a stretch of the body about its own axis."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.rig.deformer import Deformer, Vertices
from supple.rig.stretch import Stretch

__all__ = ["Twist"]

FloatArray = NDArray[np.float64]


class Twist(Deformer):
    """One angle [rad] by which the body is turned at `end` about the line from `start`, growing evenly on the way."""

    is_even = True

    def __init__(self, rest: ArrayLike, start: ArrayLike, end: ArrayLike, name: str = "twist") -> None:
        super().__init__(rest, (f"{name}.angle",))
        self._stretch = Stretch.between(start, end, "Twist")

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        stretch = self._stretch
        along = stretch.along(points)
        angle = (pose[0] * stretch.share(along))[:, None]
        spoke = points - stretch.start - along[:, None] * stretch.direction
        turned = np.cos(angle) * spoke + np.sin(angle) * np.cross(stretch.direction, spoke)
        return np.asarray(points - spoke + turned)
