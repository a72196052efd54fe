"""A half space: the floor and the walls."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.arguments import as_floats, refuse, remember
from supple.contact.collider import Closest, Collider, FloatArray
from supple.mesh import TriMesh

__all__ = ["Plane"]


@dataclass(frozen=True)
class Plane(Collider):
    """Everything behind the plane through the origin with the given normal."""

    normal: tuple[float, float, float] = (0.0, 1.0, 0.0)
    """Towards the free side, of any length."""

    def __post_init__(self) -> None:
        normal = as_floats(self.normal, "Plane(normal)", (3,))
        if not normal.any():
            refuse("Plane(normal)", "(0, 0, 0)", "a direction", "Up is (0, 1, 0).")
        remember(self, normal=tuple(normal.tolist()))

    def closest(self, points: FloatArray) -> Closest:
        """Feet of the perpendiculars."""
        normal = self._unit
        distance = points @ normal
        return Closest(distance, normal[None].repeat(len(points), axis=0), points - distance[:, None] * normal)

    def distance(self, points: FloatArray) -> FloatArray:
        return np.asarray(points @ self._unit)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """A square around the origin: it is not closed."""
        normal = self._unit
        across = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        across /= np.linalg.norm(across)
        along = np.cross(normal, across)
        corners = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) * (extent / 2)
        return TriMesh(corners @ np.stack([across, along]), np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int32))

    @cached_property
    def _unit(self) -> FloatArray:
        return np.asarray(self.normal, dtype=np.float64) / np.linalg.norm(self.normal)
