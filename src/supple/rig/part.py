"""Some vertices of a rig as a rig of their own."""

import numpy as np
from numpy.typing import NDArray

from supple.rig.deformer import Deformer
from supple.rig.pose_space import PoseSpace
from supple.rig.rig import Rig
from supple.rig.skinning import SkinnedRig
from supple.rig.turns import find_turns
from supple.rig.wire import Wire

__all__ = ["RigPart", "pick_part"]

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None


class RigPart:
    """The chosen vertices, such as those of the surface, moved as the whole rig moves them."""

    def __init__(self, rig: Rig, vertices: NDArray[np.integer]) -> None:
        self._rig, self._vertices = rig, np.asarray(vertices)
        self.rest: FloatArray = rig.rest[self._vertices]
        self.neutral: FloatArray = rig.neutral
        self.controls = rig.controls

    def positions(self, pose: FloatArray, vertices: Vertices = None) -> FloatArray:
        """Where all of them, or the chosen ones, are in a pose [m], (k, 3)."""
        return self._rig.positions(pose, self._pick(vertices))

    def turns(self, pose: FloatArray, vertices: Vertices = None) -> FloatArray | None:
        """Rotations there, (k, 3, 3), where the rig knows them."""
        return find_turns(self._rig, pose, self._pick(vertices))

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], as the whole rig sees it."""
        return self._rig.embed(pose)

    def _pick(self, vertices: Vertices) -> NDArray[np.integer]:
        return self._vertices if vertices is None else self._vertices[vertices]


def pick_part(rig: Rig, vertices: NDArray[np.integer]) -> Rig:
    """The chosen vertices as a rig that is quick to ask for all of them."""
    if isinstance(rig, SkinnedRig):
        return SkinnedRig(rig.skeleton, rig.influences.pick(vertices), rig.rest[vertices], rig.mode)
    if isinstance(rig, PoseSpace):
        return rig.pick(vertices, lambda below: pick_part(below, vertices))
    if isinstance(rig, Wire) or (isinstance(rig, Deformer) and rig.is_even):
        return rig.pick(vertices)
    return RigPart(rig, vertices)
