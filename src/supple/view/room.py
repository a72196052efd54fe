"""The room in which the body is shown: its measures, and the parts that are in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Room"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Room:
    """Scenes of every size are shown at one: the page measures in body sizes from the body's centre at rest.

    What viser draws in units of its own (arrows, the nearest and farthest that is seen) then suits them all.
    """

    centre: FloatArray
    """[m], (3,)"""
    size: float
    """[m]"""
    up_axis: str

    @classmethod
    def around(cls, points: FloatArray, up_axis: str) -> Room:
        """The room around points [m], (n, 3)."""
        low, high = points.min(axis=0), points.max(axis=0)
        return cls(0.5 * (low + high), float(np.linalg.norm(high - low)) or 1.0, up_axis)

    def enter(self, points: FloatArray) -> NDArray[np.float32]:
        """Points of the scene [m], (..., 3), as the page sees them."""
        return ((points - self.centre) / self.size).astype(np.float32)

    def leave(self, points: object) -> FloatArray:
        """Points of the page, (..., 3), in the scene [m]."""
        return np.asarray(points, np.float64) * self.size + self.centre

    @property
    def up(self) -> FloatArray:
        """(3,)"""
        return np.asarray(np.eye(3)["xyz".index(self.up_axis)])

    @property
    def eye(self) -> FloatArray:
        """Where to look from at first, as the page sees it, (3,)."""
        side = np.array([0.9, 0.0, 1.9]) if self.up_axis == "y" else np.array([0.9, -1.9, 0.0])
        return side + 0.5 * self.up
