"""A brick."""

from dataclasses import dataclass

import numpy as np

from supple.contact.collider import Closest, Collider, FloatArray, check_lengths, point_away
from supple.errors import SceneError
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
        if np.shape(self.sides) != (3,):
            raise SceneError(f"sides = {self.sides} of the collider 'box' are not three; give those along x, y and z.")
        check_lengths("box", **dict(zip(("side x", "side y", "side z"), self.sides, strict=True)))

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
    corner = np.clip(points, -half, half)
    away, outward = point_away(points - corner)
    beyond = np.abs(points) - half
    rows, axis = np.arange(len(points)), beyond.argmax(axis=1)
    inside = away == 0
    side = np.where(points[rows, axis] < 0, -1.0, 1.0)
    face = np.zeros_like(points)
    face[rows, axis] = side
    corner[rows[inside], axis[inside]] = (side * half[axis])[inside]
    distance = np.where(inside, beyond[rows, axis], away)
    return Closest(distance, np.where(inside[:, None], face, outward), corner)
