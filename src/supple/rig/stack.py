"""A deformer, or a skin, on top of another rig."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.arguments import describe, refuse
from supple.errors import SceneError
from supple.rig.pose import check_pose
from supple.rig.rig import Rig
from supple.rig.turns import find_turns

__all__ = ["Layer", "Stack"]

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None


class Layer(Rig, Protocol):
    """A rig that moves whatever points it is given."""

    @property
    def is_whole(self) -> bool:
        """Whether it must see all points to move one of them."""

    def move(self, pose: FloatArray, points: FloatArray, vertices: Vertices) -> FloatArray:
        """Where points [m], (k, 3), go that belong to the given vertices, None for all."""


class Stack:
    """The rig below moves the vertices, the layer what comes out; a pose is that of the one, then of the other."""

    def __init__(self, below: Rig, above: Layer) -> None:
        for name, one in (("below", below), ("above", above)):
            if not hasattr(one, "rest"):
                refuse(f"Stack({name})", describe(one), "a rig with vertices, such as a SkinnedRig or a Bend")
        if len(below.rest) != len(above.rest):
            raise SceneError(
                f"a deformer of {len(above.rest)} vertices cannot stand on a rig of {len(below.rest)}: "
                "build both for the same mesh."
            )
        twice = set(below.controls) & set(above.controls)
        if twice:
            raise SceneError(f"two controls are named '{min(twice)}': give the deformer a name of its own.")
        self._below, self._above = below, above
        self.rest: FloatArray = below.rest
        self.controls = (*below.controls, *above.controls)
        self.neutral: FloatArray = np.concatenate([below.neutral, above.neutral])

    def positions(self, pose: FloatArray, vertices: Vertices = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        lower, upper = self._split(pose)
        asked = None if self._above.is_whole else vertices
        moved = self._above.move(upper, self._below.positions(lower, asked), asked)
        return moved if asked is vertices else moved[vertices]

    def turns(self, pose: FloatArray, vertices: Vertices = None) -> FloatArray | None:
        """Rotations of the layer, (k, 3, 3), where it is a skin; what other layers turn is not known."""
        return find_turns(self._above, self._split(pose)[1], vertices)

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m]."""
        lower, upper = self._split(pose)
        return np.concatenate([self._below.embed(lower), self._above.embed(upper)])

    def _split(self, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        checked = check_pose(pose, self.controls)
        return checked[: len(self._below.controls)], checked[len(self._below.controls) :]
