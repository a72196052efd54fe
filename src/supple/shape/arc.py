"""A stretch of a shape that bends as one: what a bend deformer needs, and which bones say how far."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.rig import Skeleton
from supple.shape.bone import Vector

__all__ = ["Arc"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Arc:
    """From `start` to `end` [m], bent about a unit axis."""

    start: Vector
    end: Vector
    about: Vector
    shares: Mapping[str, float]
    """How much of a bone's turn about the axis belongs to the bend, by bone."""

    def angle(self, skeleton: Skeleton, pose: FloatArray) -> float:
        """The bend [rad] of a pose of the bones, (p,)."""
        turns = skeleton.check(pose)[3:].reshape(-1, 3) @ np.array(self.about)
        return float(sum(share * turns[skeleton.number(name)] for name, share in self.shares.items()))
