"""Inverse kinematics: the pose of a chain of joints whose end reaches a target."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from supple.arguments import as_floats, check_type, refuse
from supple.errors import SceneError
from supple.rig.skeleton import Skeleton

__all__ = ["Chain", "Reach"]

FloatArray = NDArray[np.float64]

_REACHED = 1e-9  # of the chain's length: nearer than this is there
_MOST_STEPS = 200
_STILL = 1e-10  # a step that brings less than this share of the distance ends the search
_NUDGE = 0.6  # [rad] by which other starts are bent, out of a straight chain that cannot shorten
_MORE_STARTS = 16  # anywhere within the limits, when all else is stuck


@dataclass(frozen=True, eq=False)
class Reach:
    """Where a chain got to."""

    pose: FloatArray
    """The skeleton's pose, (3 + 3 j,); joints off the chain are as they were."""
    distance: float
    """From the chain's end to the target [m]."""
    reached: bool


class Chain:
    """Joints from one to a descendant of it, each with the range that every entry of its rotation vector may take."""

    def __init__(self, skeleton: Skeleton, begin: str, end: str, limits: Mapping[str, ArrayLike] | None = None) -> None:
        """`limits`: lowest and highest rotation vector [rad], (2, 3), by joint; others turn freely.

        A hinge is a joint with two entries between 0 and 0.
        """
        check_type(skeleton, "Chain(skeleton)", Skeleton, "a Skeleton", "Use Skeleton.of.")
        self._skeleton = skeleton
        self.joints = _list_joints(skeleton, begin, end)
        self._free = np.array([skeleton.names[k] not in (limits or {}) for k in self.joints])
        self._low, self._high = _gather_limits(skeleton, self.joints, limits or {})
        self._entries = (3 + 3 * self.joints[:, None] + np.arange(3)).ravel()
        links = np.linalg.norm(np.diff(skeleton.heads[self.joints], axis=0), axis=1).sum()
        last = self.joints[-1]
        self._length = float(links + np.linalg.norm(skeleton.tails[last] - skeleton.heads[last]))
        if self._length == 0.0:
            raise SceneError(f"the chain from '{begin}' to '{end}' has no length: give joint '{end}' a tail.")

    def end(self, pose: FloatArray) -> FloatArray:
        """Where the tail of the chain's last bone is [m], (3,)."""
        R, t = self._skeleton.transforms(pose)
        last = self.joints[-1]
        return np.asarray(R[last] @ self._skeleton.tails[last] + t[last])

    def reach(self, target: ArrayLike, pose: FloatArray | None = None) -> Reach:
        """A pose whose end is at the target [m], or as near to it as it comes, found from the given one, or from rest.

        Damped least squares with the step projected onto the limits, from the pose itself; where that gets stuck,
        from a fixed list of bent poses too.
        """
        goal = as_floats(target, "Chain.reach(target)", (3,), unit="m")
        begin = self._shorten_turns(self._skeleton.check(self._skeleton.neutral if pose is None else pose))
        best, nearest, limit = begin, np.inf, self._nearest_possible(begin, goal)
        for start in self._list_starts(begin[self._entries]):
            found = begin.copy()
            found[self._entries] = start
            found, distance = self._descend(found, goal)
            if distance < nearest * (1.0 - 1e-6):
                best, nearest = found, distance
            if nearest <= limit + _REACHED * self._length:
                break
        return Reach(self._shorten_turns(best), nearest, nearest <= 1e-6 * self._length)

    def _list_starts(self, angles: FloatArray) -> Iterator[FloatArray]:
        """Poses of the chain to search from, (3 k,) each, within the limits."""
        yield np.clip(angles, self._low, self._high)
        middle = np.clip(0.0, 0.75 * self._low + 0.25 * self._high, 0.25 * self._low + 0.75 * self._high)
        yield middle
        for axis in range(3):
            for side in (1.0, -1.0):
                bent = middle.reshape(-1, 3).copy()
                bent[:, axis] += side * _NUDGE
                bent[0, axis] -= 2.0 * side * _NUDGE  # the first joint against the others: the end stays about there
                yield np.clip(bent.ravel(), self._low, self._high)
        anywhere = np.random.default_rng(0).random((_MORE_STARTS, len(middle)))  # the same every time
        yield from self._low + anywhere * (self._high - self._low)

    def _nearest_possible(self, pose: FloatArray, goal: FloatArray) -> float:
        """How near the goal [m] a stretched chain without limits comes."""
        R, t = self._skeleton.transforms(pose)
        first = self.joints[0]
        away = float(np.linalg.norm(R[first] @ self._skeleton.heads[first] + t[first] - goal))
        return max(0.0, away - self._length)

    def _descend(self, pose: FloatArray, goal: FloatArray) -> tuple[FloatArray, float]:
        """A pose whose end is no farther from the goal than any near it, and the distance [m]."""
        gap, slopes = self._look(pose, goal)
        damping = 1e-3
        for _ in range(_MOST_STEPS):
            distance = float(np.linalg.norm(gap))
            if distance <= 1e-3 * _REACHED * self._length:
                break
            angles, downhill = pose[self._entries], -slopes.T @ gap
            held = ((angles <= self._low) & (downhill < 0.0)) | ((angles >= self._high) & (downhill > 0.0))
            if held.all():
                break
            ahead = pose.copy()
            ahead[self._entries] = np.clip(
                angles + self._damped_step(slopes, downhill, ~held, damping), self._low, self._high
            )
            gap_there, slopes_there = self._look(ahead, goal)
            gain = 1.0 - float(np.linalg.norm(gap_there)) / distance
            if gain > 0.0:
                pose, gap, slopes, damping = ahead, gap_there, slopes_there, max(0.2 * damping, 1e-12)
            else:
                damping *= 8.0
            if damping > 1e8 or 0.0 < gain < _STILL:
                break
        return pose, float(np.linalg.norm(gap))

    def _damped_step(
        self, slopes: FloatArray, downhill: FloatArray, moving: NDArray[np.bool_], damping: float
    ) -> FloatArray:
        matrix = (slopes.T @ slopes)[np.ix_(moving, moving)]
        step = np.zeros(len(downhill))
        step[moving] = np.linalg.solve(matrix + damping * self._length**2 * np.eye(len(matrix)), downhill[moving])
        return step

    def _look(self, pose: FloatArray, goal: FloatArray) -> tuple[FloatArray, FloatArray]:
        """From the goal to the chain's end [m], (3,), and its derivative by the chain's angles [m], (3, 3 k)."""
        skeleton = self._skeleton
        R, t = skeleton.transforms(pose)
        last = self.joints[-1]
        end = R[last] @ skeleton.tails[last] + t[last]
        columns = []
        for k in self.joints:
            parent = skeleton.parents[k]
            above = np.eye(3) if parent < 0 else R[parent]
            turns = above @ _rotation_rate(pose[3 + 3 * k : 6 + 3 * k])
            columns.append(np.cross(turns, end - R[k] @ skeleton.heads[k] - t[k], axis=0))
        return end - goal, np.concatenate(columns, axis=1)

    def _shorten_turns(self, pose: FloatArray) -> FloatArray:
        """The same pose with joints that turn freely turned by no more than half a turn."""
        pose = pose.copy()
        turns = pose[3:].reshape(-1, 3)
        free = self.joints[self._free]
        turns[free] = Rotation.from_rotvec(turns[free]).as_rotvec()
        return pose


def _list_joints(skeleton: Skeleton, begin: str, end: str) -> NDArray[np.int64]:
    first, at = skeleton.number(begin), skeleton.number(end)
    joints = [at]
    while at != first:
        at = int(skeleton.parents[at])
        if at < 0:
            raise SceneError(
                f"joint '{end}' does not hang from '{begin}': give a chain from a joint to its descendant."
            )
        joints.append(at)
    return np.array(joints[::-1], np.int64)


def _gather_limits(
    skeleton: Skeleton, joints: NDArray[np.int64], limits: Mapping[str, ArrayLike]
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest angles of the chain [rad], (3 k,) each."""
    full = 2.0 * np.pi  # farther a joint that turns freely need not go
    ranges = np.tile([[[-full], [full]]], (len(skeleton), 1, 3))
    for name, limit in limits.items():
        given = as_floats(limit, f"Chain(limits['{name}'])", (2, 3), unit="rad", finite=False)
        if not (given[0] <= given[1]).all():
            refuse(f"Chain(limits['{name}'])", str(given.tolist()), "the lowest and the highest angles")
        ranges[skeleton.number(name)] = np.clip(given, -full, full)
    return ranges[joints, 0].ravel(), ranges[joints, 1].ravel()


def _rotation_rate(vector: FloatArray) -> FloatArray:
    """Angular velocity per rate of a rotation vector, (3, 3): d exp(r) = [J dr]x exp(r)."""
    angle = float(np.linalg.norm(vector))
    cross = np.cross(np.eye(3), vector)
    if angle < 1e-4:
        return np.eye(3) + 0.5 * cross + cross @ cross / 6.0
    return np.asarray(
        np.eye(3) + (1.0 - np.cos(angle)) / angle**2 * cross + (angle - np.sin(angle)) / angle**3 * cross @ cross
    )
