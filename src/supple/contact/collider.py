"""Rigid things that a body touches, each in its own coordinates.

Where a collider stands at a time is a `Placement` beside it, so one shape serves still and moving colliders.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.arguments import check_number
from supple.linalg.jit import njit
from supple.mesh import TriMesh

__all__ = ["Closest", "Collider", "point_away"]

FloatArray = NDArray[np.float64]


class Closest(NamedTuple):
    """What of a collider is nearest to k points; point + distance * normal is the point asked for."""

    distance: FloatArray
    """Signed, negative inside [m], (k,)."""
    normal: FloatArray
    """Outward unit normal, the gradient of the distance, (k, 3)."""
    point: FloatArray
    """On the surface [m], (k, 3)."""


class Collider(ABC):
    """A solid with an inside; the bodies stay out of it."""

    @abstractmethod
    def closest(self, points: FloatArray) -> Closest:
        """Nearest points of the surface to points [m], (k, 3); one of them where several are equally near."""

    @abstractmethod
    def surface(self, extent: float = 20.0) -> TriMesh:
        """Triangles facing outward, for pictures; an endless shape is cut to a side of `extent` [m].

        Round shapes become polyhedra whose corners lie on them, so their triangles lie within.
        """

    def distance(self, points: FloatArray) -> FloatArray:
        """Signed distances [m] of points [m], (k, 3), negative inside, (k,)."""
        return self.closest(points).distance

    def bend(self, points: FloatArray) -> FloatArray | None:
        """How the outward normal turns with points [m], (k, 3), near the surface: the second derivative of the distance
        [1/m], (k, 3, 3); None where sides are flat."""
        return None

    def near(self, points: FloatArray, reach: FloatArray | float) -> NDArray[np.intp]:
        """Ascending numbers of all points whose distance is below `reach` [m]; some farther ones may be among them."""
        return np.flatnonzero(self.distance(points) < reach)

    def closest_within(self, points: FloatArray, reach: FloatArray) -> tuple[NDArray[np.intp], Closest]:
        """Ascending numbers of points whose distance is below `reach` [m], (k,), and what is nearest to them; some
        farther ones may be among them."""
        nearest = self.closest(points)
        near = np.flatnonzero(nearest.distance < reach)
        return near, Closest(nearest.distance[near], nearest.normal[near], nearest.point[near])

    def _check_lengths(self, *names: str) -> None:
        """Refuse sizes that are no lengths."""
        for name in names:
            check_number(getattr(self, name), f"{type(self).__name__}({name})", above=0.0)


@njit(cache=True)
def point_away(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lengths, (k,), and directions, (k, d), of vectors; a vector of no length points along its second axis."""
    lengths, directions = np.empty(len(vectors)), np.zeros(vectors.shape)
    for k in range(len(vectors)):
        square = 0.0
        for i in range(vectors.shape[1]):
            square += vectors[k, i] * vectors[k, i]
        lengths[k] = np.sqrt(square)
        if lengths[k] > 0.0:
            for i in range(vectors.shape[1]):
                directions[k, i] = vectors[k, i] / lengths[k]
        else:
            directions[k, 1] = 1.0
    return lengths, directions
