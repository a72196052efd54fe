"""A rod with round ends."""

from dataclasses import dataclass

import numpy as np

from supple.arguments import check_number
from supple.contact.collider import Closest, Collider, FloatArray
from supple.contact.sphere import bend_around, leave_core, round_surface
from supple.mesh import TriMesh

__all__ = ["Capsule"]


@dataclass(frozen=True)
class Capsule(Collider):
    """A rod along x with round ends, its middle at the origin."""

    length: float
    """From tip to tip [m]."""
    radius: float

    def __post_init__(self) -> None:
        self._check_lengths("length", "radius")
        twice = 2.0 * self.radius
        check_number(self.length, "Capsule(length)", above=twice, remedy="Else it is a Sphere.")

    def closest(self, points: FloatArray) -> Closest:
        """Away from the nearest point of the rod's axis."""
        return leave_core(self._find_core(points), points, self.radius)

    def bend(self, points: FloatArray) -> FloatArray:
        """Around the axis, and at the ends to all sides."""
        core = self._find_core(points)
        bent = bend_around(core, points, self.radius)
        bent[core[:, 0] == points[:, 0], 0, 0] = 0.0  # along the axis the nearest point of it goes along
        return bent

    def _find_core(self, points: FloatArray) -> FloatArray:
        """Nearest points of the axis to points [m], (k, 3)."""
        reach, axis = self.length / 2 - self.radius, np.zeros_like(points)
        axis[:, 0] = np.clip(points[:, 0], -reach, reach)
        return axis

    def surface(self, extent: float = 20.0) -> TriMesh:
        """Rings around the x axis."""
        return round_surface(self.length / 2 - self.radius, self.radius)
