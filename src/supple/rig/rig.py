"""What a rig is: a pose goes in, positions come out."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rig"]

FloatArray = NDArray[np.float64]


class Rig(Protocol):
    """Maps a pose to vertex positions; how, is its own affair ([XB16] section 3)."""

    @property
    def rest(self) -> FloatArray:
        """Positions in the neutral pose [m], (n, 3)."""

    @property
    def neutral(self) -> FloatArray:
        """The pose in which every vertex is at rest, (p,)."""

    @property
    def controls(self) -> tuple[str, ...]:
        """A name for every entry of a pose, (p,): "elbow.x", "root.ty"."""

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m] whose Euclidean distances compare poses: angles count by what they move, full turns
        not at all."""
