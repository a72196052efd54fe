"""Where a rigid thing stands."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.arguments import as_floats, refuse, remember

__all__ = ["Placement"]

FloatArray = NDArray[np.float64]

_ROUND_OFF = 1e-4  # of a rotation matrix: what single precision and a long hierarchy leave in a file


@dataclass(frozen=True, eq=False)
class Placement:
    """A point y of a thing is at R y + t."""

    rotation: FloatArray
    """(3, 3)"""
    translation: FloatArray
    """[m], (3,)"""

    def __post_init__(self) -> None:
        rotation = as_floats(self.rotation, "Placement(rotation)", (3, 3))
        if np.abs(rotation @ rotation.T - np.eye(3)).max() > _ROUND_OFF or np.linalg.det(rotation) < 0.0:
            refuse("Placement(rotation)", "a matrix that scales, shears or mirrors", "a rotation")
        translation = as_floats(self.translation, "Placement(translation)", (3,), unit="m")
        remember(self, rotation=rotation, translation=translation)

    @classmethod
    def still(cls) -> "Placement":
        """The thing where it was made."""
        return cls(np.eye(3), np.zeros(3))

    def move(self, points: FloatArray) -> FloatArray:
        """Points of the thing [m], (k, 3), in the world."""
        return np.asarray(points @ self.rotation.T + self.translation)

    def localise(self, points: FloatArray) -> FloatArray:
        """Points of the world [m], (k, 3), as the thing sees them."""
        return np.asarray((points - self.translation) @ self.rotation)

    def turn(self, directions: FloatArray) -> FloatArray:
        """Directions of the thing, (k, 3), in the world."""
        return np.asarray(directions @ self.rotation.T)

    def seen_from(self, frame: "Placement") -> "Placement":
        """The same, for who is in a frame that is placed so."""
        return Placement(frame.rotation.T @ self.rotation, frame.localise(self.translation))

    def blend(self, other: "Placement", share: float) -> "Placement":
        """`share` of the way to another placement: turning steadily, its origin on a straight line."""
        turn = Rotation.from_matrix(self.rotation.T @ other.rotation).as_rotvec()
        rotation = self.rotation @ Rotation.from_rotvec(share * turn).as_matrix()
        return Placement(rotation, (1.0 - share) * self.translation + share * other.translation)
