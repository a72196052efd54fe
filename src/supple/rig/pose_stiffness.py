"""How stiff flesh is in the poses of a rig: muscles that harden as they flex ([XB16] 8)."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, refuse
from supple.rig.pose_weights import PoseWeights
from supple.rig.rig import Rig
from supple.rig.root import Root

__all__ = ["PoseStiffness"]

FloatArray = NDArray[np.float64]


class PoseStiffness:
    """Factors of the stiffness of every tet, given in some poses and interpolated in all others.

    Eq. (36) of [XB16] in the logarithm, by weights of which none is negative: half way between 1 and 4 it is 2, and
    nowhere beyond what was given.
    """

    def __init__(self, rig: Rig, poses: ArrayLike, factors: ArrayLike) -> None:
        """`factors` (k, m) of the m tets in poses (k, p); in the neutral pose they are 1 unless it is among these."""
        self._rig, self._root = rig, Root.of(rig)
        rows = as_floats(poses, "PoseStiffness(poses)", ("k", len(rig.controls)))
        if not len(rows):
            refuse("PoseStiffness(poses)", "none", "one or more, (k, p)")
        given = [self._root.still(pose) for pose in rows]
        table = as_floats(factors, "PoseStiffness(factors)", (len(given), "m"), above=0.0)
        neutral = np.array([np.array_equal(pose, rig.neutral) for pose in given])
        if not neutral.any():
            given, table = [rig.neutral, *given], np.concatenate([np.ones((1, table.shape[1])), table])
        first = int(neutral.argmax())
        self.poses: FloatArray = np.array(given, np.float64)
        """The given ones and the neutral one, their roots at rest, (k, p)."""
        self.neutral: FloatArray = table[first].copy()
        """Factors in the neutral pose, (m,)."""
        self._logs = np.log(table)
        self._weights = PoseWeights([rig.embed(pose) for pose in self.poses])

    def at(self, pose: FloatArray) -> FloatArray:
        """Factors of the stiffness of all tets in a pose, (m,)."""
        shares = self._weights.shares(self._rig.embed(self._root.still(pose)))
        return np.asarray(np.exp(shares @ self._logs))

    def digest(self) -> str:
        """Fingerprint of what was given, and where."""
        return hashlib.sha256(self._weights.points.tobytes() + self._logs.tobytes()).hexdigest()
