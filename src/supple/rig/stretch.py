"""The stretch of a body over which a deformer acts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import SceneError

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
    def between(cls, start: ArrayLike, end: ArrayLike) -> "Stretch":
        """The stretch from one point [m] to another."""
        first, last = np.asarray(start, np.float64), np.asarray(end, np.float64)
        way = last - first if first.shape == last.shape == (3,) else np.zeros(3)
        length = float(np.linalg.norm(way))
        if not (np.isfinite(length) and length > 0.0):
            raise SceneError(
                f"a deformer cannot act from {first.tolist()} to {last.tolist()}: give two different points."
            )
        return cls(first, way / length, length)

    def along(self, points: FloatArray) -> FloatArray:
        """How far along the axis points [m] lie from the start, (k,) [m]."""
        return np.asarray((points - self.start) @ self.direction)

    def share(self, along: FloatArray) -> FloatArray:
        """The same as a share of the stretch, 0 before it and 1 behind it, (k,)."""
        return np.asarray(np.clip(along / self.length, 0.0, 1.0))
