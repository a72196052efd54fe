"""How far joints may turn, and motions that keep to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.rig import Motion
from supple.rig.motion import turn_columns
from supple.scene.actor import Actor

__all__ = ["Beyond", "JointRanges"]

FloatArray = NDArray[np.float64]


class Beyond(NamedTuple):
    """A joint that has left its range."""

    joint: str
    axis: int
    angle: float
    """[degrees]"""
    limit: float
    """The end of its range that it has passed [degrees]."""

    @property
    def excess(self) -> float:
        """How far it is beyond its range [degrees]."""
        return abs(self.angle - self.limit)


@dataclass(frozen=True, eq=False)
class JointRanges:
    """Ranges of the joints of a rig but its root, which may stand and turn as it likes."""

    names: tuple[str, ...]
    columns: NDArray[np.intp]
    """Of the joints' rotation vectors in a pose, (j, 3)."""
    axes: FloatArray
    """(j, 3, 3), in columns."""
    ranges: FloatArray
    """[degrees], (j, 3, 2)"""

    @classmethod
    def of(cls, actor: Actor, controls: tuple[str, ...]) -> JointRanges:
        """Those that are known of a skeleton whose pose is among these controls."""
        rows = {controls[columns[0]].removesuffix(".x"): columns for columns in turn_columns(controls)[1:]}
        names = tuple(name for name in rows if name in actor.ranges)
        return cls(
            names,
            np.array([rows[name] for name in names], np.intp).reshape(-1, 3),
            np.array([actor.axes[name] for name in names]).reshape(-1, 3, 3),
            np.array([actor.ranges[name] for name in names]).reshape(-1, 3, 2),
        )

    def angles(self, pose: FloatArray) -> FloatArray:
        """Angles of every joint about its axes in a pose [degrees], (j, 3).

        Of the two ways to say the same turn, the one that is less beyond its ranges.
        """
        if not self.names:
            return np.empty((0, 3))
        turns = np.einsum("jki,jk->ji", self.axes, pose[self.columns])
        one = Rotation.from_rotvec(turns).as_euler("xyz", degrees=True)
        other = np.column_stack([one[:, 0] + 180.0, 180.0 - one[:, 1], one[:, 2] + 180.0])
        other = (other + 180.0) % 360.0 - 180.0
        worse = self._excess(other).max(axis=1) >= self._excess(one).max(axis=1)
        return np.where(worse[:, None], one, other)

    def beyond(self, pose: FloatArray, slack: float) -> list[Beyond]:
        """The joints that are more than `slack` [degrees] beyond their ranges, the worst axis of each."""
        angles = self.angles(pose)
        excess = self._excess(angles)
        found = []
        for joint in np.flatnonzero(excess.max(axis=1, initial=0.0) > slack):
            axis = int(excess[joint].argmax())
            limit = float(np.clip(angles[joint, axis], *self.ranges[joint, axis]))
            found.append(Beyond(self.names[joint], axis, float(angles[joint, axis]), limit))
        return found

    def clamp(self, pose: FloatArray) -> FloatArray:
        """The pose with every joint turned back to the end of its range."""
        angles = self.angles(pose)
        within = np.clip(angles, self.ranges[:, :, 0], self.ranges[:, :, 1])
        changed = (within != angles).any(axis=1)
        found = pose.copy()
        if changed.any():
            turns = Rotation.from_euler("xyz", within[changed], degrees=True).as_rotvec()
            found[self.columns[changed]] = np.einsum("jik,jk->ji", self.axes[changed], turns)
        return found

    def draw(self, pose: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The pose with every joint turned somewhere within its ranges."""
        angles = rng.uniform(self.ranges[:, :, 0], self.ranges[:, :, 1])
        turns = Rotation.from_euler("xyz", angles, degrees=True).as_rotvec()
        found = pose.copy()
        found[self.columns] = np.einsum("jik,jk->ji", self.axes, turns)
        return found

    def clamp_motion(self, motion: Motion) -> Motion:
        """The motion with all its keys clamped."""
        return replace(motion, poses=np.array([self.clamp(pose) for pose in motion.poses]))

    def _excess(self, angles: FloatArray) -> FloatArray:
        """How far angles [degrees], (j, 3), are beyond their ranges, (j, 3)."""
        low, high = self.ranges[:, :, 0], self.ranges[:, :, 1]
        return np.asarray(np.maximum(np.maximum(low - angles, angles - high), 0.0))
