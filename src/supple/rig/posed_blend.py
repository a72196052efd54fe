"""Skinning in a pose as compiled loops do it for vertices that they come upon on their way."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.rig import dual_quaternion, linear_blend
from supple.rig.skinning import SkinnedRig

__all__ = ["PosedBlend", "fill_frames"]

FloatArray = NDArray[np.float64]
_fill_turns, _fill_means = dual_quaternion.fill_frames, linear_blend.fill_frames


class PosedBlend(NamedTuple):
    """The motions of joints in a pose, and who follows them."""

    R: FloatArray
    """(j, 3, 3)"""
    t: FloatArray
    """[m], (j, 3)"""
    joints: NDArray[np.int32]
    """Of all vertices, (n, k)."""
    weights: FloatArray
    is_linear: bool

    @classmethod
    def of(cls, rig: SkinnedRig, pose: FloatArray) -> "PosedBlend":
        """Of a rig in a pose."""
        own = rig.influences
        return cls(*rig.skeleton.transforms(pose), own.joints, own.weights, rig.mode == "linear")


@njit(cache=True)
def fill_frames(blend, vertices, A, t):
    """Fill the frames A (k, 3, 3) and t (k, 3) [m] of vertices (k,), as `SkinnedRig.frames` has them."""
    joints, weights = blend.joints[vertices], blend.weights[vertices]
    if blend.is_linear:
        _fill_means(blend.R, blend.t, joints, weights, A, t)
    else:
        _fill_turns(blend.R, blend.t, joints, weights, A, t)
