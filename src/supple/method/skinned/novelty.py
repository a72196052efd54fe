"""Poses that a skinned model was not trained for: its subspace holds nothing of how flesh folds there."""

import warnings

import numpy as np
from numpy.typing import NDArray

from supple.errors import SuppleWarning
from supple.rig import SkinnedRig

__all__ = ["PoseNovelty"]

FloatArray = NDArray[np.float64]
# Of the spread of trained poses: farther than this from the nearest of them, errors of statics were 20 to 100 % of what
# flesh moves beside its bones (two shapes, 80 poses)
_OUTSIDE = 0.25
_LEAST = 0.05  # of the longest lever, where trained poses hardly spread [rad]


class PoseNovelty:
    """Tells a user, once, of a pose far from all trained ones; place and turn of the root do not count."""

    def __init__(self, rig: SkinnedRig, poses: FloatArray) -> None:
        """`poses` (k, p); without any, nothing is known and nothing told."""
        self._skeleton = skeleton = rig.skeleton
        self._ignored = 6 if np.count_nonzero(skeleton.parents < 0) == 1 else 3
        self._trained = np.array([self._embed(pose) for pose in poses])
        self._levers = skeleton.spans[self._ignored :]
        spread = 0.0
        if len(poses):
            spread = float(np.linalg.norm(self._trained - self._trained.mean(axis=0), axis=1).max())
        self._allowed = max(_OUTSIDE * spread, _LEAST * float(skeleton.levers.max()))
        self._told = not len(poses)
        self.is_left = False
        """Whether a user was told."""
        self._known, self._slack = np.zeros(len(self._levers)), -1.0

    def look(self, pose: FloatArray, time: float) -> None:
        """Warn of a pose at a time [s]."""
        if self._told:
            return
        own = pose[self._ignored :]
        # No embedded pose is farther from another than its angles by their levers: most steps need no more than this
        if float(np.linalg.norm(self._levers * (own - self._known))) <= self._slack:
            return
        far = float(np.linalg.norm(self._trained - self._embed(pose), axis=1).min())
        self._known, self._slack = own.copy(), self._allowed - far
        if self._slack < 0.0:
            self._told = self.is_left = True
            warnings.warn(
                f"the pose at {time:.4g} s is {far / self._allowed:.2g} times as far from any trained pose as is known "
                "to be safe, so its error is not known: train with poses like it, or use the full solver.",
                SuppleWarning,
                stacklevel=5,
            )

    def _embed(self, pose: FloatArray) -> FloatArray:
        """The pose relative to its root as a point [m]."""
        own = np.array(pose, np.float64)
        own[: self._ignored] = 0.0
        return self._skeleton.embed(own)
