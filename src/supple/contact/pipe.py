"""A hollow tube."""

from dataclasses import dataclass

import numpy as np

from supple.arguments import check_number
from supple.contact.collider import Closest, Collider, FloatArray
from supple.contact.revolve import closest_revolved, revolve
from supple.mesh import TriMesh

__all__ = ["Pipe"]


@dataclass(frozen=True)
class Pipe(Collider):
    """A hollow tube along x, open at both ends, its middle at the origin; bodies touch the wall from both sides."""

    length: float
    radius: float
    """Of the outside [m]."""
    inner_radius: float
    """Of the hollow [m]."""

    def __post_init__(self) -> None:
        self._check_lengths("length", "radius", "inner_radius")
        check_number(self.inner_radius, "Pipe(inner_radius)", below=self.radius)

    def closest(self, points: FloatArray) -> Closest:
        """On the outside, the inside, an end or a rim of the wall."""
        half_wall = (self.radius - self.inner_radius) / 2
        return closest_revolved(points, (self.length / 2, half_wall), self.inner_radius + half_wall)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """The inside, the outside and the two ends of the wall."""
        end, inner, outer = self.length / 2, self.inner_radius, self.radius
        return revolve(np.array([[end, inner], [end, outer], [-end, outer], [-end, inner]]), ring=True)
