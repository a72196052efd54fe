"""A rod with flat ends."""

from dataclasses import dataclass

import numpy as np

from supple.contact.collider import Closest, Collider, FloatArray, check_lengths
from supple.contact.revolve import closest_revolved, revolve
from supple.mesh import TriMesh

__all__ = ["Cylinder"]


@dataclass(frozen=True)
class Cylinder(Collider):
    """A rod along x with flat ends, its middle at the origin."""

    length: float
    radius: float

    def __post_init__(self) -> None:
        check_lengths("cylinder", length=self.length, radius=self.radius)

    def closest(self, points: FloatArray) -> Closest:
        """On the side, an end or a rim."""
        return closest_revolved(points, (self.length / 2, self.radius), 0.0)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """A prism with many sides."""
        end, radius = self.length / 2, self.radius
        return revolve(np.array([[end, 0.0], [end, radius], [-end, radius], [-end, 0.0]]))
