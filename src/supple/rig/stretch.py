"""The stretch of a body over which a deformer acts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, refuse

__all__ = ["Stretch"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stretch:
    """A straight piece of an axis; what lies before it is at its start, what lies behind it at its end."""

    start: FloatArray
    """[m], (3,)."""
    direction: FloatArray
    """Unit vector, (3,)."""
    length: float
    """[m]"""

    @classmethod
    def between(cls, start: ArrayLike, end: ArrayLike, who: str) -> "Stretch":
        """The stretch from one point [m] to another; `who` acts over it."""
        first, last = as_floats(start, f"{who}(start)", (3,), unit="m"), as_floats(end, f"{who}(end)", (3,), unit="m")
        way = last - first
        length = float(np.linalg.norm(way))
        if not length > 0.0:
            refuse(f"{who}(end)", "the point where it starts", "another one")
        return cls(first, way / length, length)

    def along(self, points: FloatArray) -> FloatArray:
        """How far along the axis points [m] lie from the start, (k,) [m]."""
        return np.asarray((points - self.start) @ self.direction)

    def share(self, along: FloatArray) -> FloatArray:
        """The same as a share of the stretch, 0 before it and 1 behind it, (k,)."""
        return np.asarray(np.clip(along / self.length, 0.0, 1.0))
