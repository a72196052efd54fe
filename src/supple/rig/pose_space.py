"""Pose-space deformation: corrections of a rig, drawn for some poses and interpolated to all others."""

from collections.abc import Callable
from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.errors import SceneError
from supple.rig.motion import root_columns
from supple.rig.pose import check_pose
from supple.rig.pose_weights import TOO_CLOSE, PoseWeights
from supple.rig.rig import Rig
from supple.rig.skinning import SkinnedRig
from supple.rig.turns import find_turns

__all__ = ["PoseSpace"]

FloatArray = NDArray[np.float64]


class PoseSpace:
    """A rig plus the interpolated corrections of its examples, Eqs. (1) and (2) of [XB16].

    The neutral pose is an example of no correction unless it is given one, so that corrections of a bent elbow leave
    the body at rest alone. Corrections of a skin turn with it, and where the root goes does not change them.
    """

    def __init__(self, rig: Rig, poses: ArrayLike, corrections: ArrayLike) -> None:
        """`poses`: (k, p); `corrections`: what to add to the rig's positions there [m], (k, n, 3)."""
        self._rig = rig
        self.controls = rig.controls
        self.neutral: FloatArray = rig.neutral
        table = as_floats(poses, "PoseSpace(poses)", ("k", len(rig.controls)), finite=False)
        given = [check_pose(pose, rig.controls) for pose in table]
        added = _check_corrections(corrections, len(given), len(rig.rest))
        turns = [find_turns(rig, pose) for pose in given]
        self._root = root_columns(rig.controls) if find_turns(rig, rig.neutral) is not None else []
        self._corrections = np.array([_turn_back(turn, add) for turn, add in zip(turns, added, strict=True)])
        points = [self.place(pose) for pose in given]
        neutral = self.place(rig.neutral)
        away = np.linalg.norm(np.array(points) - neutral, axis=1)
        if away.min() > TOO_CLOSE * away.max():
            points.append(neutral)  # last, so that examples keep their numbers in messages
        self._weights = PoseWeights(points)
        self.rest: FloatArray = self.positions(rig.neutral)

    @property
    def below(self) -> Rig:
        """The rig that is corrected."""
        return self._rig

    @property
    def examples(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Points of the examples [m], (k, e), what their weights are made of, (k, k), and the first q corrections,
        before the skin turns them [m], (q, n, 3); the others are none."""
        return self._weights.points, self._weights.trained, self._corrections

    def positions(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """Where all vertices, or the chosen ones, are in a pose [m], (k, 3)."""
        added, below = self.correction(pose, vertices), self._rig
        if isinstance(below, SkinnedRig) and below.mode == "dual_quaternion":  # its frames are its turns
            rest = below.rest if vertices is None else below.rest[vertices]
            return below.push_forward(pose, rest + added, vertices)
        turns = find_turns(below, pose, vertices)
        if turns is not None:
            added = np.einsum("kij,kj->ki", turns, added)
        return np.asarray(below.positions(pose, vertices) + added)

    def place_and_turn(self, pose: FloatArray) -> FloatArray:
        """Where all vertices are in a pose [m], and `turns` there, which must be known, row by row, (n, 12)."""
        below = self._rig
        if isinstance(below, SkinnedRig) and below.mode == "dual_quaternion":
            return below.place_and_turn(pose, below.rest + self.correction(pose))
        turns = find_turns(below, pose)
        assert turns is not None
        return np.concatenate([self.positions(pose), turns.reshape(-1, 9)], axis=1)

    def correction(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        """What is added in a pose at all vertices, or the chosen ones, before their skin turns it [m], (k, 3)."""
        corrections = self._corrections if vertices is None else self._corrections[:, vertices]
        weights = self._weights.at(self.place(pose))[: len(corrections)]
        return np.asarray(weights @ corrections.reshape(len(corrections), -1)).reshape(-1, 3)

    def pick(self, vertices: NDArray[np.integer], below: Callable[[Rig], Rig]) -> "PoseSpace":
        """The chosen vertices alone; `below` picks them from the rig below."""
        part = copy(self)
        part._rig, part.rest = below(self._rig), self.rest[vertices]
        part._corrections = np.ascontiguousarray(self._corrections[:, vertices])
        return part

    def turns(self, pose: FloatArray, vertices: NDArray[np.integer] | None = None) -> FloatArray | None:
        """Rotations of the rig below, (k, 3, 3), where it knows them."""
        return find_turns(self._rig, pose, vertices)

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], as the rig below sees it."""
        return self._rig.embed(pose)

    def place(self, pose: FloatArray) -> FloatArray:
        """The point [m] of a pose among the examples: without where the root goes, if all turns with it."""
        still = check_pose(pose, self.controls).copy()
        if self._root:
            first, last = self._root[0], self._root[-1] + 1
            still[first:last] = self.neutral[first:last]
        return self._rig.embed(still)


def _turn_back(turns: FloatArray | None, correction: FloatArray) -> FloatArray:
    """A correction [m], (n, 3), as it is before the skin turns it."""
    return correction if turns is None else np.einsum("kji,kj->ki", turns, correction)


def _check_corrections(corrections: ArrayLike, poses: int, vertices: int) -> FloatArray:
    if poses == 0:
        raise SceneError("a pose space without examples corrects nothing: give at least one pose.")
    shape = (poses, vertices, 3)
    given = as_floats(corrections, "PoseSpace(corrections)", shape, unit="m", finite=False)
    if not np.isfinite(given).all():
        pose = int(np.argmin(np.isfinite(given).all(axis=(1, 2))))
        raise SceneError(f"the correction of example {pose} is not finite: correct it.")
    return given
