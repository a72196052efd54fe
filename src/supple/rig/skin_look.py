"""What steps of tenths of a millisecond ask a skin for, in one compiled call: some of its vertices and their turns, the
pose as a point, and the turn of the root."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.vectors import copy_into
from supple.rig.dual_quaternion import fill_places, fill_points
from supple.rig.pose_space import PoseSpace
from supple.rig.pose_weights import weigh_examples_into
from supple.rig.rig import Rig
from supple.rig.root import Root, turn_between
from supple.rig.skeleton import Skeleton, fill_point, place_joints
from supple.rig.skinning import SkinnedRig

__all__ = ["SkinLook"]

FloatArray = NDArray[np.float64]


class SkinLook(NamedTuple):
    """A skin by dual quaternions with n vertices, and what examples add to it before it turns."""

    neutral: FloatArray
    root: int
    """First column of the root's place and rotation vector."""
    parents: NDArray[np.int32]
    heads: FloatArray
    levers: FloatArray
    joints: NDArray[np.int32]
    weights: FloatArray
    rest: FloatArray
    points: FloatArray
    """Of the examples [m], (k, e)."""
    trained: FloatArray
    corrections: FloatArray
    """[m], (q, n, 3)"""

    @classmethod
    def of(cls, rig: Rig, root: Root) -> "SkinLook | None":
        """That of a whole rig with a root; None for rigs that are no such skins."""
        skin, examples = (rig.below, rig.examples) if isinstance(rig, PoseSpace) else (rig, None)
        if not isinstance(skin, SkinnedRig) or skin.mode != "dual_quaternion" or not root.turns:
            return None
        if type(skin.skeleton) is not Skeleton:  # others place their joints otherwise
            return None
        bones, who = skin.skeleton, skin.influences
        added = (np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0, 3))) if examples is None else examples
        return cls(
            bones.neutral, root.columns[0], bones.parents, bones.heads, bones.levers, who.joints, who.weights,
            skin.rest, *added,
        )  # fmt: skip

    def at(
        self, pose: FloatArray, poses: FloatArray, turns: FloatArray, turning: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Places [m] (n, 3), if `turning` with turns beside them, row by row, (n, 12); the pose with its root at the
        neutral place as a point [m], (e,); turns of the root in it and in two poses before, (3, 3, 3), which are given
        as (2, 3, 3); and the pose with that before it, (2, p), the first of those given."""
        found: tuple[FloatArray, FloatArray, FloatArray, FloatArray] = _look(pose, poses, turns, turning, *self)
        return found


@njit(cache=True, error_model="numpy")
def _look(
    pose: FloatArray,
    poses: FloatArray,
    turns: FloatArray,
    turning: bool,
    neutral: FloatArray,
    root: int,
    parents: NDArray[np.int32],
    heads: FloatArray,
    levers: FloatArray,
    joints: NDArray[np.int32],
    weights: FloatArray,
    rest: FloatArray,
    points: FloatArray,
    trained: FloatArray,
    corrections: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    both, all_turns = np.empty((2, pose.size)), np.empty((3, 3, 3))
    copy_into(pose, both[0])
    copy_into(poses[0], both[1])
    copy_into(turn_between(pose, neutral, root + 3).reshape(9), all_turns[0].reshape(9))
    copy_into(turns.reshape(18), all_turns.reshape(27)[9:])
    still, point = pose.copy(), np.empty(3 + 9 * levers.size)
    for i in range(root, root + 6):
        still[i] = neutral[i]
    fill_point(still, levers, point)
    given = rest
    if corrections.shape[0]:
        given, shares = rest.copy(), np.empty(points.shape[0])
        weigh_examples_into(points, trained, point, shares)
        for k in range(corrections.shape[0]):
            for v in range(given.shape[0]):
                for i in range(3):
                    given[v, i] += shares[k] * corrections[k, v, i]
    R, t = place_joints(pose, parents, heads)
    placed = np.empty((rest.shape[0], 12 if turning else 3))
    if turning:
        fill_places(R, t, joints, weights, given, placed)
    else:
        fill_points(R, t, joints, weights, given, placed)
    return placed, point, all_turns, both
