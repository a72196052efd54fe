"""Points that follow the nearest vertices of a rig."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree

from supple.mesh.checks import check_vertices
from supple.rig.rig import Rig
from supple.rig.turns import find_turns, nearest_rotations

__all__ = ["Shepard"]

FloatArray = NDArray[np.float64]

NEIGHBOURS = 4  # as in [XB16] 4.1


class Shepard:
    """A rig whose points move by the mean displacement of the nearest vertices of another, weighted by 1/distance².

    They turn with vertices that are a skin, so that a rigid motion of it is theirs.
    """

    def __init__(self, rig: Rig, points: ArrayLike, neighbours: int = NEIGHBOURS) -> None:
        """`points`: where they are in the neutral pose [m], (n, 3)."""
        self._rig = rig
        self.rest: FloatArray = check_vertices(points)
        self.controls = rig.controls
        self.neutral: FloatArray = rig.neutral
        count = min(neighbours, len(rig.rest))
        distance, nearest = KDTree(rig.rest).query(self.rest, k=list(range(1, count + 1)))
        self._nearest = np.asarray(nearest)
        # A point on a vertex goes where it goes, whatever else is near
        ratio = np.where(distance > 0.0, distance[:, :1] / np.where(distance > 0.0, distance, 1.0), 1.0)
        self._weights = ratio**2 / (ratio**2).sum(axis=1, keepdims=True)

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all points, or the chosen ones, are in a pose [m], (k, 3)."""
        rest, nearest, weights = self.rest, self._nearest, self._weights
        if vertices is not None:
            rest, nearest, weights = rest[vertices], nearest[vertices], weights[vertices]
        asked, place = np.unique(nearest, return_inverse=True)
        moved = self._rig.positions(pose, asked)
        turns, place = find_turns(self._rig, pose, asked), place.reshape(nearest.shape)
        spokes = rest[:, None] - self._rig.rest[nearest]
        if turns is not None:
            spokes = np.einsum("knij,knj->kni", turns[place], spokes)
        return np.asarray(np.einsum("kn,kni->ki", weights, moved[place] + spokes))

    def turns(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray | None:
        """The mean turn of the nearest vertices, (k, 3, 3), where they know theirs."""
        nearest, weights = self._nearest, self._weights
        if vertices is not None:
            nearest, weights = nearest[vertices], weights[vertices]
        asked, place = np.unique(nearest, return_inverse=True)
        turns = find_turns(self._rig, pose, asked)
        if turns is None:
            return None
        return nearest_rotations(np.einsum("kn,knij->kij", weights, turns[place.reshape(nearest.shape)]))

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], as the rig sees it."""
        return self._rig.embed(pose)
