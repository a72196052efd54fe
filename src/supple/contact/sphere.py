"""A ball, and what it shares with other round colliders."""

from dataclasses import dataclass

import numpy as np

from supple.contact.collider import Closest, Collider, FloatArray, point_away
from supple.contact.revolve import revolve
from supple.mesh import TriMesh

__all__ = ["Sphere", "bend_around", "leave_core", "round_surface"]

_RINGS = 16  # from the rim of a half ball to its pole


@dataclass(frozen=True)
class Sphere(Collider):
    """A ball around the origin."""

    radius: float

    def __post_init__(self) -> None:
        self._check_lengths("radius")

    def closest(self, points: FloatArray) -> Closest:
        """Along the radii; from the centre, straight up."""
        return leave_core(np.zeros_like(points), points, self.radius)

    def bend(self, points: FloatArray) -> FloatArray:
        """Alike along all that is across the radius."""
        return bend_around(np.zeros_like(points), points, self.radius)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """Rings around the x axis."""
        return round_surface(0.0, self.radius)


def leave_core(core: FloatArray, points: FloatArray, radius: float) -> Closest:
    """Nearest points of the surface at `radius` from a core whose nearest points are given, (k, 3)."""
    lengths, normal = point_away(points - core)
    return Closest(lengths - radius, normal, core + radius * normal)


def bend_around(core: FloatArray, points: FloatArray, radius: float) -> FloatArray:
    """How normals turn with points [m], (k, 3), around nearest points of a core that stay [1/m], (k, 3, 3); no faster
    than at half the `radius` [m]."""
    lengths, normal = point_away(points - core)
    across = np.eye(3) - normal[:, :, None] * normal[:, None, :]
    return np.asarray(across / np.maximum(lengths, 0.5 * radius)[:, None, None])


def round_surface(reach: float, radius: float) -> TriMesh:
    """Two half balls with their centres at -reach and reach on the x axis, and what lies between them."""
    angle = np.linspace(0.0, np.pi / 2, _RINGS + 1)
    cap = np.column_stack([reach + radius * np.cos(angle), radius * np.sin(angle)])
    cap[0, 1] = 0.0
    other = cap[::-1] * [-1.0, 1.0]
    return revolve(np.concatenate([cap, other if reach > 0 else other[1:]]))
