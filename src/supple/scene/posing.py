"""Poses as a scene writes them down: joints in degrees, channels in their own units, poses by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.errors import SceneError
from supple.rig import Motion, Skeleton, pose_from
from supple.rig.keyframes import Setting
from supple.rig.motion import Posed
from supple.rig.scaled import scale_controls
from supple.rig.slide import slide_controls
from supple.scene.actor import REST, Actor
from supple.scene.pose_table import PoseTable

__all__ = ["Channel", "Posing"]

FloatArray = NDArray[np.float64]

RATE = 60.0  #: keys a second of a motion of bones that deformers follow


@dataclass(frozen=True, eq=False)
class Channel:
    """What a name in a key sets besides joints."""

    controls: tuple[str, ...]
    """Controls of the rig that it sets."""
    unit: float = 1.0
    """What one in a key is for the rig: a degree in radians, a scene unit in metres."""
    follow: Callable[[FloatArray], FloatArray] | None = None
    """Values of the controls that do what a pose of the shape's bones does; None where nothing is known of that."""


@dataclass(frozen=True, eq=False)
class Posing:
    """A rig that a scene poses by names."""

    actor: Actor
    rig: Posed
    channels: Mapping[str, Channel]

    def pose(self, table: PoseTable) -> FloatArray:
        """The pose, (p,), that a table describes; what it does not name is at rest."""
        return pose_from(self.rig, self.settings(table))

    def settings(self, table: PoseTable) -> dict[str, Setting]:
        """What a table sets, by joint and by control: its pose first, single joints and channels over it."""
        named = {} if table.pose is None else self._name_pose(table.pose)
        skeleton = self.actor.skeleton if self.actor.is_boned else None
        if table.shift is not None:
            if skeleton is None:
                raise SceneError("shift moves the root of bones, and this rig has none: remove it.")
            named |= zip(skeleton.controls[:3], table.shift, strict=True)
        for name, value in table.joints.items():
            named |= self._set(name, value, () if skeleton is None else skeleton.names)
        return named

    def rest(self) -> dict[str, Setting]:
        """All joints and all plain controls as they are at rest."""
        skeleton = self.actor.skeleton if self.actor.is_boned else None
        turning = [] if skeleton is None else skeleton.controls[3:]
        found: dict[str, Setting] = {control: 0.0 for control in self.rig.controls if control not in turning}
        return found | dict.fromkeys(() if skeleton is None else skeleton.names, (0.0, 0.0, 0.0))

    def widen(self, motion: Motion) -> Motion:
        """A motion of the bones as one of the whole rig, all else at rest."""
        columns = [self.rig.controls.index(control) for control in motion.controls]
        poses = np.tile(self.rig.neutral, (len(motion.poses), 1))
        poses[:, columns] = motion.poses
        gain = None
        if motion.gain is not None:
            gain = np.zeros(len(self.rig.controls))
            gain[columns] = motion.gain
        return replace(motion, poses=poses, controls=tuple(self.rig.controls), gain=gain)

    def own_motion(self) -> Motion:
        """The motion that came with the bones, followed by deformers where there are no bones; else none."""
        motion = self.actor.motion
        if motion is not None and self.actor.is_boned:
            whole = self.widen(motion)
            for name in self.actor.shares:
                if name in self.channels:
                    whole.poses[:, self.rig.controls.index(name)] = self.actor.shares[name]
            for name_all, known in ((slide_controls, self.actor.slides), (scale_controls, self.actor.scales)):
                for joint, values in known.items():
                    whole.poses[:, [self.rig.controls.index(name) for name in name_all(joint)]] = values
            return whole
        if motion is None or not any(channel.follow for channel in self.channels.values()):
            return Motion.of(self.rig, [0.0], [self.rig.neutral])
        fine = motion.resampled(RATE)
        poses = [pose_from(self.rig, self._follow(pose)) for pose in fine.poses]
        found = Motion.of(self.rig, fine.times, poses, fine.between)
        return found if motion.gain is None else replace(found, gain=poses[-1] - poses[0])

    def _name_pose(self, name: str) -> dict[str, Setting]:
        if name == REST:
            return self.rest()
        pose = self.actor.pose(name)
        if self.actor.is_boned and self.actor.skeleton is not None:
            return _name_all(self.actor.skeleton, pose)
        found = self._follow(pose)
        if not found:
            raise SceneError(f"the pose '{name}' is one of bones, and this rig has none: set its channels instead.")
        return found

    def _follow(self, pose: FloatArray) -> dict[str, Setting]:
        """What the channels that follow bones are set to in a pose of these, (p,)."""
        found: dict[str, Setting] = {}
        for channel in self.channels.values():
            if channel.follow is not None:
                found |= zip(channel.controls, channel.follow(pose).tolist(), strict=True)
        return found

    def _set(self, name: str, value: object, joints: tuple[str, ...]) -> dict[str, Setting]:
        """What one name in a key sets."""
        numbers = np.asarray(value, np.float64).ravel()
        channel = self.channels.get(name)
        if channel is None and name not in joints:
            known = [*joints, *self.channels]
            close = get_close_matches(name, known, 1, 0.0)
            hint = f"did you mean '{close[0]}'?" if close else "it has none at all."
            raise SceneError(f"the rig has no joint or control '{name}' to animate: {hint}")
        wanted = 3 if channel is None else len(channel.controls)
        if len(numbers) != wanted:
            count = {1: "one number", 3: "three numbers"}.get(wanted, f"{wanted} numbers")
            raise SceneError(f"'{name}' must be {count}, not {len(numbers)}: correct its value.")
        if channel is not None:
            return dict(zip(channel.controls, (channel.unit * numbers).tolist(), strict=True))
        degrees = (float(numbers[0]), float(numbers[1]), float(numbers[2]))
        plain = np.array_equal(self.actor.axes.get(name, np.eye(3)), np.eye(3))
        return {name: degrees if plain else self.actor.turn(name, degrees)}


def _name_all(skeleton: Skeleton, pose: FloatArray) -> dict[str, Setting]:
    """A whole pose of bones as settings of a key."""
    turns = Rotation.from_rotvec(pose[3:].reshape(-1, 3))
    places = zip(skeleton.controls[:3], pose[:3].tolist(), strict=True)
    return {**dict(places), **dict(zip(skeleton.names, turns, strict=True))}
