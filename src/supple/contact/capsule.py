"""A rod with round ends."""

from dataclasses import dataclass

import numpy as np

from supple.contact.collider import Closest, Collider, FloatArray, check_lengths
from supple.contact.sphere import leave_core, round_surface
from supple.errors import SceneError
from supple.mesh import TriMesh

__all__ = ["Capsule"]


@dataclass(frozen=True)
class Capsule(Collider):
    """A rod along x with round ends, its middle at the origin."""

    length: float
    """From tip to tip [m]."""
    radius: float

    def __post_init__(self) -> None:
        check_lengths("capsule", length=self.length, radius=self.radius)
        if self.length <= 2 * self.radius:
            raise SceneError(
                f"length = {self.length} of the collider 'capsule' leaves no rod between ends of radius {self.radius}; "
                "give more than twice the radius, or a sphere."
            )

    def closest(self, points: FloatArray) -> Closest:
        """Away from the nearest point of the rod's axis."""
        reach = self.length / 2 - self.radius
        axis = np.zeros_like(points)
        axis[:, 0] = np.clip(points[:, 0], -reach, reach)
        return leave_core(axis, points, self.radius)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """Rings around the x axis."""
        return round_surface(self.length / 2 - self.radius, self.radius)
