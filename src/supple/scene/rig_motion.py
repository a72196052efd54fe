"""What a rig does in a scene: its own motion, a file's, or keyframes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.io.assembled import MOVE_SUFFIXES
from supple.io.bvh import load_bvh
from supple.io.pose_list import load_pinocchio_motion
from supple.rig import Motion, Skeleton, keyframes, looped, preroll, retarget
from supple.rig.motion import Posed
from supple.scene.actor import naming
from supple.scene.joint_ranges import JointRanges
from supple.scene.motion_table import MotionTable, PoseKey
from supple.scene.posing import Posing

__all__ = ["Course", "plan_course", "unwind"]

FloatArray = NDArray[np.float64]
UpAxis = Literal["y", "z"]

LOADERS: dict[str, Callable[[Path], tuple[Skeleton, Motion]]] = {".bvh": load_bvh, ".txt": load_pinocchio_motion}
BLEND = 0.25  #: share of a loop over which its end is bent into its beginning
SETTLING = 0.5  #: share of the pre-roll in which the first pose is held and left
RATE, KEYS = 120.0, 8  #: samples from which a pre-roll learns how the motion begins


@dataclass(frozen=True, eq=False)
class Course:
    """Poses at any time of a run: before time 0 on the way from the neutral pose to the motion's first."""

    motion: Motion
    lead: Motion | None
    """The pre-roll; None without one."""
    lines: tuple[str, ...]
    """What it is, in words."""

    def pose(self, time: float) -> FloatArray:
        """The pose at a time [s], (p,)."""
        return self.lead.at(time) if self.lead is not None and time < 0.0 else self.motion.at(time)

    @property
    def moves(self) -> bool:
        """Whether the pose ever changes."""
        return bool((self.motion.poses != self.motion.poses[0]).any())

    @property
    def end(self) -> float:
        """Time [s] after which the pose stays; infinite for a loop."""
        if not self.moves:
            return 0.0
        return self.motion.end if self.motion.gain is None else math.inf

    def hastened(self, speed: float, rig: Posed) -> Course:
        """The same poses gone through `speed` times as fast; the pre-roll leads into that, and takes as long."""
        motion = _hasten(self.motion, speed)
        lead = None if self.lead is None else _lead_in(motion, rig, -self.lead.begin)
        return replace(self, motion=motion, lead=lead)


def plan_course(table: MotionTable, posing: Posing, up: UpAxis, lead: float) -> Course:
    """The poses of a scene whose pre-roll takes `lead` seconds."""
    with naming("motion"):
        motion, lines = _choose(table, posing, up)
        if table.clamp:
            motion = JointRanges.of(posing.actor, motion.controls).clamp_motion(motion)
        if table.speed != 1.0:
            motion = _hasten(motion, table.speed)
        if table.loop is not None and table.loop != (motion.gain is not None):
            if table.loop:
                motion = looped(motion, BLEND * motion.duration, up=up)
            else:
                motion = motion.cut(motion.begin, motion.end)
        lines = (f"motion: {lines[0]}, {_tell_length(motion)}", *lines[1:])
        return Course(motion, _lead_in(motion, posing.rig, lead) if lead > 0.0 else None, lines)


def _hasten(motion: Motion, speed: float) -> Motion:
    return replace(motion, times=motion.times / speed)


def _tell_length(motion: Motion) -> str:
    return f"{motion.end:.3g} s" + (", over and over" if motion.gain is not None else "")


def _choose(table: MotionTable, posing: Posing, up: UpAxis) -> tuple[Motion, tuple[str, ...]]:
    """The motion as it is written down, from time 0 on, and what it is."""
    if table.keys is not None:
        return _set_keys(table.keys, posing, table.between), (f"{len(table.keys)} key{'s' * (len(table.keys) > 1)}",)
    if table.file is not None and Path(table.file).suffix.lower() in MOVE_SUFFIXES:
        spare = next((key for key in ("names", "from_", "until") if key in table.model_fields_set), None)
        if spare is not None:
            raise SceneError(f"{spare.rstrip('_')} is for motions of other skeletons: remove it.")
        return _from_zero(posing.own_motion()), (Path(table.file).name,)
    if table.file is not None:
        return _borrow(table, posing, up)
    return _from_zero(posing.own_motion()), ("the one that came with the skeleton",)


def _from_zero(motion: Motion) -> Motion:
    return replace(motion, times=motion.times - motion.begin)


def _set_keys(keys: list[PoseKey], posing: Posing, between: Literal["ease", "spline", "linear"]) -> Motion:
    """The motion through keys; what is named later begins at rest."""
    settings = {key.t: posing.settings(key) for key in keys}
    first, rest = settings.setdefault(0.0, {}), posing.rest()
    for named in list(settings.values()):
        first.update({name: rest[name] for name in named if name not in first and name in rest})
    return keyframes(posing.rig, settings, between)


def _borrow(table: MotionTable, posing: Posing, up: UpAxis) -> tuple[Motion, tuple[str, ...]]:
    """The motion of a file for this skeleton, beginning where the body stands, and the report of how it got here."""
    path, actor = Path(table.file or ""), posing.actor
    if actor.skeleton is None or not actor.is_boned:
        raise SceneError(f"{path} moves bones, and this rig has none: give keys for its channels.")
    if path.suffix.lower() not in LOADERS:
        raise SceneError(f"{path} is no motion supple reads: give one that ends in {', '.join(LOADERS)}.")
    source, motion = LOADERS[path.suffix.lower()](path)
    if table.from_ is not None or table.until is not None:
        motion = motion.cut(table.from_ or 0.0, motion.end if table.until is None else table.until)
    found = retarget(motion, source, actor.skeleton, table.names, up=up)
    poses = found.motion.poses.copy()
    ground = [axis for axis, name in enumerate("xyz") if name != up]
    poses[:, ground] = table.travel * (poses[:, ground] - poses[0, ground])
    return _from_zero(posing.widen(replace(found.motion, poses=poses))), (path.name, *found.lines())


def _lead_in(motion: Motion, rig: Posed, seconds: float) -> Motion:
    """From the neutral pose into the motion as it goes on at time 0."""
    times = np.arange(KEYS) / RATE
    begin = Motion.of(rig, times, motion.sampled(times))
    return preroll(begin, rig.neutral, seconds, SETTLING * seconds)


def unwind(pose: FloatArray, near: FloatArray, turns: NDArray[np.intp]) -> FloatArray:
    """The same pose with rotation vectors, in columns `turns` (m, 3), the other way round where that is nearer.

    Then the two may be blended.
    """
    vectors, others = pose[turns], near[turns]
    angles = np.linalg.norm(vectors, axis=1, keepdims=True)
    around = vectors * (1.0 - 2.0 * np.pi / np.where(angles > 0.0, angles, 1.0))
    nearer = np.linalg.norm(around - others, axis=1) < np.linalg.norm(vectors - others, axis=1)
    found = pose.copy()
    found[turns] = np.where(nearer[:, None] & (angles > 0.0), around, vectors)
    return found
