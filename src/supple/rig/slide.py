"""Joints that slide: flesh carried along where a file pulls joints from their parents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.rig.deformer import Deformer, Vertices

__all__ = ["Slide", "slide_controls"]

FloatArray = NDArray[np.float64]


class Slide(Deformer):
    """x + sum of a joint's weight times how far it slides [m]: what linear skinning adds for it."""

    def __init__(self, rest: ArrayLike, joints: Sequence[str], weights: FloatArray) -> None:
        """`weights`: of these joints on all vertices, (n, j)."""
        super().__init__(rest, tuple(control for joint in joints for control in slide_controls(joint)))
        self._weights = weights

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        weights = self._weights if vertices is None else self._weights[vertices]
        return np.asarray(points + weights @ pose.reshape(-1, 3))


def slide_controls(joint: str) -> tuple[str, ...]:
    """Names of the controls by which a joint slides."""
    return tuple(f"{joint}.slide_{axis}" for axis in "xyz")
