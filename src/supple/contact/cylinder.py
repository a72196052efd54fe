"""A rod with flat ends."""

from dataclasses import dataclass

import numpy as np

from supple.contact.collider import Closest, Collider, FloatArray, point_away
from supple.contact.revolve import closest_revolved, revolve
from supple.mesh import TriMesh

__all__ = ["Cylinder"]


@dataclass(frozen=True)
class Cylinder(Collider):
    """A rod along x with flat ends, its middle at the origin."""

    length: float
    radius: float

    def __post_init__(self) -> None:
        self._check_lengths("length", "radius")

    def closest(self, points: FloatArray) -> Closest:
        """On the side, an end or a rim."""
        return closest_revolved(points, (self.length / 2, self.radius), 0.0)

    def bend(self, points: FloatArray) -> FloatArray:
        """Around the side; not at the ends."""
        lengths, outward = point_away(np.ascontiguousarray(points[:, 1:]))
        around = np.column_stack([np.zeros(len(points)), -outward[:, 1], outward[:, 0]])
        within = self.length / 2 - np.abs(points[:, 0])
        share = ((within > 0.0) & (self.radius - lengths < within)) / np.maximum(lengths, 0.5 * self.radius)
        return np.asarray(share[:, None, None] * around[:, :, None] * around[:, None, :])

    def surface(self, extent: float = 20.0) -> TriMesh:
        """A prism with many sides."""
        end, radius = self.length / 2, self.radius
        return revolve(np.array([[end, 0.0], [end, radius], [-end, radius], [-end, 0.0]]))
