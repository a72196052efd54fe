"""A Python function as a deformer."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.rig.black_box import BlackBox
from supple.rig.deformer import Deformer, Vertices

__all__ = ["Scripted"]

FloatArray = NDArray[np.float64]


class Scripted(Deformer):
    """A function of all points [m], (n, 3), and the values of its controls, (p,), to where the points go, (n, 3)."""

    is_whole = True

    def __init__(self, rest: ArrayLike, function: Callable[[FloatArray, FloatArray], Any], controls: Sequence[str]):
        super().__init__(rest, tuple(controls))
        self._function = function
        self._at_rest = self._box(self.rest)

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        return self._box(points).positions(pose)

    @cached_property
    def scales(self) -> FloatArray:
        """Length that a unit of each control stands for [m], (p,)."""
        return self._at_rest.scales

    def _box(self, points: FloatArray) -> BlackBox:
        """The function over these points, which checks what it returns."""

        def move_points(pose: FloatArray) -> Any:
            return self._function(points.copy(), pose)

        move_points.__name__ = getattr(self._function, "__name__", "function")
        return BlackBox(move_points, points, self.neutral, self.controls)
