"""A ball, and what it shares with other round colliders."""

from dataclasses import dataclass

import numpy as np

from supple.contact.collider import Closest, Collider, FloatArray, check_lengths, point_away
from supple.contact.revolve import revolve
from supple.mesh import TriMesh

__all__ = ["Sphere", "leave_core", "round_surface"]

_RINGS = 16  # from the rim of a half ball to its pole


@dataclass(frozen=True)
class Sphere(Collider):
    """A ball around the origin."""

    radius: float

    def __post_init__(self) -> None:
        check_lengths("sphere", radius=self.radius)

    def closest(self, points: FloatArray) -> Closest:
        """Along the radii; from the centre, straight up."""
        return leave_core(np.zeros_like(points), points, self.radius)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """Rings around the x axis."""
        return round_surface(0.0, self.radius)


def leave_core(core: FloatArray, points: FloatArray, radius: float) -> Closest:
    """Nearest points of the surface at `radius` from a core whose nearest points are given, (k, 3)."""
    lengths, normal = point_away(points - core)
    return Closest(lengths - radius, normal, core + radius * normal)


def round_surface(reach: float, radius: float) -> TriMesh:
    """Two half balls with their centres at -reach and reach on the x axis, and what lies between them."""
    angle = np.linspace(0.0, np.pi / 2, _RINGS + 1)
    cap = np.column_stack([reach + radius * np.cos(angle), radius * np.sin(angle)])
    cap[0, 1] = 0.0
    other = cap[::-1] * [-1.0, 1.0]
    return revolve(np.concatenate([cap, other if reach > 0 else other[1:]]))
