"""A skeleton: joints in a hierarchy, and where they go in a pose.

A pose is the root's translation [m] and a rotation vector [rad] for every joint, (3 + 3 j,), each relative to the rest
pose and to the joint's parent.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, as_integers, refuse
from supple.errors import SceneError
from supple.linalg.jit import njit
from supple.rig.pose import check_pose
from supple.rig.turns import turn_rows

__all__ = ["Skeleton", "fill_point", "place_joints"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Joints by name, a parent before its children; build one with `Skeleton.of`."""

    names: tuple[str, ...]
    parents: NDArray[np.int32]
    """Number of each joint's parent, -1 for a root, (j,)."""
    heads: FloatArray
    """Where the joints are at rest [m], (j, 3)."""
    tails: FloatArray
    """Where their bones end at rest [m], (j, 3)."""

    @classmethod
    def of(cls, names: ArrayLike, parents: ArrayLike, heads: ArrayLike, tails: ArrayLike) -> "Skeleton":
        """A checked skeleton; joints may come in any order and are sorted so that parents come first."""
        labels = (names,) if isinstance(names, str) else tuple(str(name) for name in np.asarray(names).ravel())
        count = len(labels)
        if not count:
            refuse("Skeleton.of(names)", "none", "a name for every joint")
        above = as_integers(parents, "Skeleton.of(parents)", (count,))
        begins = as_floats(heads, "Skeleton.of(heads)", (count, 3), unit="m")
        ends = as_floats(tails, "Skeleton.of(tails)", (count, 3), unit="m")
        if len(set(labels)) < count:
            twice = next(name for name, uses in Counter(labels).items() if uses > 1)
            raise SceneError(f"joint '{twice}' is named twice: give every joint a name of its own.")
        order = _sort_parents_first(labels, above)
        place = np.empty(count + 1, np.int32)
        place[order], place[-1] = np.arange(count), -1
        return cls(tuple(labels[k] for k in order), place[above[order]], begins[order], ends[order])

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def controls(self) -> tuple[str, ...]:
        """A name for every entry of a pose."""
        root = self.names[0]
        return (*(f"{root}.t{axis}" for axis in "xyz"), *(f"{name}.{axis}" for name in self.names for axis in "xyz"))

    @property
    def neutral(self) -> FloatArray:
        """The pose of rest, (3 + 3 j,)."""
        return np.zeros(3 + 3 * len(self))

    def number(self, name: str) -> int:
        """Number of a joint."""
        if name not in self.names:
            raise SceneError(f"the skeleton has no joint '{name}': it has {', '.join(self.names)}.")
        return self.names.index(name)

    def transforms(self, pose: FloatArray) -> tuple[FloatArray, FloatArray]:
        """R (j, 3, 3) and t (j, 3) that take points of each bone from rest to the pose: x = R X + t."""
        return place_joints(self.check(pose), self.parents, self.heads)

    def check(self, pose: ArrayLike) -> FloatArray:
        """The pose as an array, refused when it does not fit."""
        return check_pose(pose, self.controls)

    @cached_property
    def levers(self) -> FloatArray:
        """How far what hangs from each joint reaches at rest [m], (j,): what an angle there moves."""
        reach = np.linalg.norm(self.tails - self.heads, axis=1)
        for k in range(len(self) - 1, -1, -1):
            parent = self.parents[k]
            if parent >= 0:
                reach[parent] = max(reach[parent], np.linalg.norm(self.heads[k] - self.heads[parent]) + reach[k])
        return np.asarray(reach)

    @property
    def spans(self) -> FloatArray:
        """How far each entry of a pose moves its point at most [m], (p,)."""
        return np.concatenate([np.ones(3), np.repeat(self.levers, 3)])

    def embed(self, pose: FloatArray) -> FloatArray:
        """The pose as a point [m], (3 + 9 j,): rotations as matrices, so that nothing wraps, by the lever they turn."""
        point = np.empty(3 + 9 * len(self))
        fill_point(self.check(pose), self.levers, point)
        return point


@njit(cache=True)
def fill_point(pose: FloatArray, levers: FloatArray, point: FloatArray) -> None:
    """`Skeleton.embed`."""
    for i in range(3):
        point[i] = pose[i]
    for k in range(len(levers)):
        turn = turn_rows(pose[3 + 3 * k], pose[4 + 3 * k], pose[5 + 3 * k])
        for i in range(3):
            for j in range(3):
                point[3 + 9 * k + 3 * i + j] = levers[k] * turn[i][j] / np.sqrt(2.0)


@njit(cache=True)
def place_joints(pose: FloatArray, parents: NDArray[np.int32], heads: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`Skeleton.transforms`."""
    count = len(parents)
    R, t = np.empty((count, 3, 3)), np.empty((count, 3))
    for k in range(count):
        turn = turn_rows(pose[3 + 3 * k], pose[4 + 3 * k], pose[5 + 3 * k])
        parent = parents[k]
        for i in range(3):
            t[k, i] = pose[i] + heads[k, i] if parent < 0 else t[parent, i]
            for j in range(3):
                R[k, i, j] = turn[i][j]
                if parent >= 0:
                    R[k, i, j] = (
                        R[parent, i, 0] * turn[0][j] + R[parent, i, 1] * turn[1][j] + R[parent, i, 2] * turn[2][j]
                    )
                    t[k, i] += R[parent, i, j] * heads[k, j]
            for j in range(3):
                t[k, i] -= R[k, i, j] * heads[k, j]
    return R, t


def _sort_parents_first(names: tuple[str, ...], parents: NDArray[np.int32]) -> NDArray[np.int64]:
    """An order of the joints with every parent before its children."""
    if parents.min() < -1 or parents.max() >= len(names):
        wrong = int(np.argmax((parents < -1) | (parents >= len(names))))
        raise SceneError(
            f"the parent of joint '{names[wrong]}' is joint {parents[wrong]}, which is not there: correct it."
        )
    below: list[list[int]] = [[] for _ in names]
    for k, parent in enumerate(parents.tolist()):
        if parent >= 0:
            below[parent].append(k)
    depth = np.full(len(names), -1)
    level, reached = np.flatnonzero(parents < 0).tolist(), 0
    while level:
        depth[level] = reached
        level, reached = [child for joint in level for child in below[joint]], reached + 1
    if (depth < 0).any():
        name = names[int(np.argmax(depth < 0))]
        raise SceneError(f"joint '{name}' is its own ancestor: break the cycle in the hierarchy.")
    return np.argsort(depth, kind="stable")
