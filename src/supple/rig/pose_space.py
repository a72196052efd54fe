"""Pose-space deformation: corrections of a rig, drawn for some poses and interpolated to all others."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import SceneError
from supple.rig.pose import check_pose
from supple.rig.pose_weights import TOO_CLOSE, PoseWeights
from supple.rig.rig import Rig

__all__ = ["PoseSpace"]

FloatArray = NDArray[np.float64]


class PoseSpace:
    """A rig plus the interpolated corrections of its examples, Eqs. (1) and (2) of [XB16].

    The neutral pose is an example of no correction unless it is given one, so that corrections of a bent elbow leave
    the body at rest alone.
    """

    def __init__(self, rig: Rig, poses: ArrayLike, corrections: ArrayLike) -> None:
        """`poses`: (k, p); `corrections`: what to add to the rig's positions there [m], (k, n, 3)."""
        self._rig = rig
        self.controls = rig.controls
        self.neutral: FloatArray = rig.neutral
        given = [check_pose(pose, rig.controls) for pose in np.asarray(poses, np.float64)]
        self._corrections = _check_corrections(corrections, len(given), len(rig.rest))
        points = [rig.embed(pose) for pose in given]
        neutral = rig.embed(rig.neutral)
        away = np.linalg.norm(np.array(points) - neutral, axis=1)
        if away.min() > TOO_CLOSE * away.max():
            points.append(neutral)  # last, so that examples keep their numbers in messages
        self._weights = PoseWeights(points)
        self.rest: FloatArray = self.positions(rig.neutral)

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        corrections = self._corrections if vertices is None else self._corrections[:, vertices]
        weights = self._weights.at(self._rig.embed(pose))[: len(corrections)]
        return np.asarray(self._rig.positions(pose, vertices) + np.tensordot(weights, corrections, axes=1))

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], as the rig below sees it."""
        return self._rig.embed(pose)


def _check_corrections(corrections: ArrayLike, poses: int, vertices: int) -> FloatArray:
    given = np.asarray(corrections, np.float64)
    if poses == 0:
        raise SceneError("a pose space without examples corrects nothing: give at least one pose.")
    if given.shape != (poses, vertices, 3):
        raise SceneError(
            f"corrections of shape {given.shape} do not fit {poses} poses of {vertices} vertices: "
            f"give ({poses}, {vertices}, 3)."
        )
    if not np.isfinite(given).all():
        pose = int(np.argmin(np.isfinite(given).all(axis=(1, 2))))
        raise SceneError(f"the correction of example {pose} is not finite: correct it.")
    return given
