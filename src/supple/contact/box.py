"""A brick."""

from dataclasses import dataclass

import numpy as np

from supple.arguments import as_floats, remember
from supple.contact.collider import Closest, Collider, FloatArray
from supple.linalg.jit import njit
from supple.mesh import TriMesh

__all__ = ["Box", "closest_in_box"]

#: Corners are numbered 4 x + 2 y + z.
_FACES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


@dataclass(frozen=True)
class Box(Collider):
    """A brick with its middle at the origin and its sides along the axes."""

    sides: tuple[float, float, float]
    """Lengths along x, y and z [m]."""

    def __post_init__(self) -> None:
        sides = as_floats(self.sides, "Box(sides)", (3,), above=0.0)
        remember(self, sides=tuple(sides.tolist()))

    def closest(self, points: FloatArray) -> Closest:
        """On the nearest side, edge or corner."""
        return closest_in_box(points, np.array(self.sides) / 2)

    def surface(self, extent: float = 20.0) -> TriMesh:
        """Twelve triangles."""
        corners = np.indices((2, 2, 2)).reshape(3, -1).T.astype(np.float64) - 0.5
        quads = np.array(_FACES, dtype=np.int32)
        return TriMesh(corners * np.array(self.sides), quads[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3))


def closest_in_box(points: FloatArray, half: FloatArray) -> Closest:
    """Nearest points of the box from -half to half, (d,), in any number of dimensions d."""
    return Closest(*_find_closest(np.ascontiguousarray(points, np.float64), np.asarray(half, np.float64)))


@njit(cache=True)
def _find_closest(points: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What `Closest` holds, in one pass: a look asks for it at every vertex that is watched."""
    distance, normal, corner = np.empty(len(points)), np.zeros(points.shape), np.empty(points.shape)
    for k in range(len(points)):
        square, axis = 0.0, 0
        for i in range(len(half)):
            corner[k, i] = min(max(points[k, i], -half[i]), half[i])
            square += (points[k, i] - corner[k, i]) ** 2
            if abs(points[k, i]) - half[i] > abs(points[k, axis]) - half[axis]:
                axis = i
        if square > 0.0:
            distance[k] = np.sqrt(square)
            for i in range(len(half)):
                normal[k, i] = (points[k, i] - corner[k, i]) / distance[k]
        else:
            side = -1.0 if points[k, axis] < 0.0 else 1.0
            distance[k] = abs(points[k, axis]) - half[axis]
            normal[k, axis], corner[k, axis] = side, side * half[axis]
    return distance, normal, corner
