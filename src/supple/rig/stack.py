"""A deformer on top of another rig."""

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.rig.deformer import Deformer
from supple.rig.pose import check_pose
from supple.rig.rig import Rig

__all__ = ["Stack"]

FloatArray = NDArray[np.float64]


class Stack:
    """The rig below moves the vertices, the deformer what comes out; a pose is that of the one, then of the other."""

    def __init__(self, below: Rig, above: Deformer) -> None:
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

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        lower, upper = self._split(pose)
        return self._above.move(upper, self._below.positions(lower, vertices), vertices)

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m]."""
        lower, upper = self._split(pose)
        return np.concatenate([self._below.embed(lower), self._above.embed(upper)])

    def _split(self, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        checked = check_pose(pose, self.controls)
        return checked[: len(self._below.controls)], checked[len(self._below.controls) :]
