"""A curve along a chain of bones: the control points of a wire deformer."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.rig import Skeleton

__all__ = ["Curve", "trace_curve"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Curve:
    """Control points in their order along the curve."""

    points: FloatArray
    """Where they are at rest [m], (k, 3)."""
    bones: NDArray[np.int32]
    """Number of the bone each one lies on, (k,)."""

    def posed(self, skeleton: Skeleton, pose: FloatArray) -> FloatArray:
        """The control points [m] carried by their bones, (k, 3)."""
        R, t = skeleton.transforms(pose)
        return np.asarray(np.einsum("kij,kj->ki", R[self.bones], self.points) + t[self.bones])


def trace_curve(skeleton: Skeleton, chain: Sequence[str], count: int) -> Curve:
    """`count` control points evenly spread from the first bone's head over all heads to the last bone's tail."""
    bones = np.array([skeleton.number(name) for name in chain], np.int32)
    corners = np.vstack([skeleton.heads[bones], skeleton.tails[bones[-1:]]])
    reached = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    along = np.linspace(0.0, reached[-1], count)
    points = np.column_stack([np.interp(along, reached, corners[:, axis]) for axis in range(3)])
    owner = np.clip(np.searchsorted(reached, along, side="right") - 1, 0, len(bones) - 1)
    return Curve(points, bones[owner])
