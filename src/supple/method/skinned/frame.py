"""How the bones turn what they hold, at the cost of the bones alone."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.linalg.jit import njit
from supple.linalg.small import matmul_nt, signed_svd
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
        self._moments = np.ascontiguousarray(np.einsum("vb,vi,vj->bij", share, points, arms, optimize=True))
        self._arms = share.T @ arms

    def turn(self, pose: FloatArray) -> FloatArray:
        """The rotation in a pose, (3, 3)."""
        R, t = self._skeleton.transforms(pose)
        return np.asarray(_nearest_turn(R, t, self._moments, self._arms))


@njit(cache=True)
def _nearest_turn(R: FloatArray, t: FloatArray, moments: FloatArray, arms: FloatArray) -> FloatArray:
    """The rotation nearest to the sum of R m + t aᵀ over bones."""
    C = np.zeros((3, 3))
    for b in range(len(R)):
        C += np.dot(R[b], moments[b]) + np.outer(t[b], arms[b])
    U, _, V = signed_svd((C[0, 0], C[0, 1], C[0, 2], C[1, 0], C[1, 1], C[1, 2], C[2, 0], C[2, 1], C[2, 2]))
    return np.array(matmul_nt(U, V)).reshape(3, 3)
