"""How the bones turn what they hold, at the cost of the bones alone."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.rig import SkinnedRig

__all__ = ["HeldFrame"]

FloatArray = NDArray[np.float64]


class HeldFrame:
    """The rotation nearest to where a rig takes its held vertices, as `subspace.rigid_fit.pin_frame` finds it.

    Held vertices are summed bone by bone beforehand, as if they were blended linearly; near joints, dual quaternions
    take them elsewhere by a little.
    """

    def __init__(self, rig: SkinnedRig, pins: Pins) -> None:
        self._skeleton = rig.skeleton
        held = pins.vertices
        points, share = rig.rest[held], rig.influences.pick(held).dense(len(rig.skeleton))
        arms = points - points.mean(axis=0)
        self._moments = np.einsum("vb,vi,vj->bij", share, points, arms, optimize=True)
        self._arms = share.T @ arms

    def turn(self, pose: FloatArray) -> FloatArray:
        """The rotation in a pose, (3, 3)."""
        R, t = self._skeleton.transforms(pose)
        left, _, right = np.linalg.svd(np.einsum("bij,bjk->ik", R, self._moments) + t.T @ self._arms)
        return np.asarray((left * [1.0, 1.0, np.sign(np.linalg.det(left @ right))]) @ right)
