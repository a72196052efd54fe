"""Keyframes: joints turned by degrees at times, as an animator writes them down."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.arguments import as_floats, check_type
from supple.errors import SceneError, SuppleWarning
from supple.rig.key_curve import Between
from supple.rig.motion import Motion, Posed, turn_columns

__all__ = ["keyframes", "pose_from"]

FloatArray = NDArray[np.float64]
#: Euler degrees x, y, z of a joint, its rotation, or the number of a plain control.
Setting: TypeAlias = Sequence[float] | float | Rotation

#: Keys a second where joints have keys at different times, so that each keeps its own way between its keys.
RATE = 120.0


def pose_from(rig: Posed, settings: Mapping[str, Setting]) -> FloatArray:
    """A pose, (p,), from Euler degrees (x, y, z) or a rotation by joint and a number by plain control, else neutral.

    The turn about x comes first, then y, then z, all about the parent's axes.
    """
    pose = np.array(rig.neutral, np.float64)
    for name, value in settings.items():
        columns = _find(rig, name)
        given = np.atleast_1d(_numbers(name, value))
        if given.shape != columns.shape:
            raise SceneError(f"'{name}' is set by {len(columns)} number(s), not {given.size}: correct its value.")
        if not np.isfinite(given).all():
            raise SceneError(f"'{name}' is set to something that is not a finite number: correct its value.")
        if len(columns) == 3 and not isinstance(value, Rotation):
            given = Rotation.from_euler("xyz", given, degrees=True).as_rotvec()
        pose[columns] = given
    return pose


def keyframes(rig: Posed, keys: Mapping[float, Mapping[str, Setting]], between: Between = "ease") -> Motion:
    """A motion from settings of `pose_from` by time [s]; a key moves only what it names, the rest passes through it.

    A control without any key stays neutral. Two keys more than half a turn apart are joined the short way round.
    """
    check_type(keys, "keyframes(keys)", Mapping, "poses by time")
    if not keys:
        raise SceneError("the motion has no keys: give at least one time with a pose.")
    times = sorted(float(time) for time in keys)
    _warn_of_long_turns(rig, keys)
    named: dict[str, list[float]] = {}
    for time in times:
        for name in keys[time]:
            named.setdefault(name, []).append(time)
    if all(own == times for own in named.values()):
        return Motion.of(rig, times, [pose_from(rig, keys[time]) for time in times], between)
    steps = np.arange(times[0], times[-1], 1.0 / RATE)
    fine = np.unique(np.concatenate([times, steps[np.abs(steps[:, None] - times).min(axis=1) > 0.1 / RATE]]))
    poses = np.tile(rig.neutral, (len(fine), 1))
    for name, own in named.items():
        alone = Motion.of(rig, own, [pose_from(rig, {name: keys[time][name]}) for time in own], between)
        columns = _find(rig, name)
        poses[:, columns] = alone.sampled(fine)[:, columns]
    return Motion.of(rig, fine, poses)


def _numbers(name: str, value: Setting) -> FloatArray:
    """What a joint or control is set to: angles or a number, (3,) or ()."""
    if isinstance(value, Rotation):
        return np.asarray(value.as_rotvec())
    return as_floats(value, f"pose_from('{name}')", ("k",) if np.ndim(value) else (), finite=False)


def _find(rig: Posed, name: str) -> NDArray[np.intp]:
    """Columns of a joint, (3,), or of a plain control, (1,)."""
    turns = turn_columns(rig.controls)
    joints = [rig.controls[first][:-2] for first in turns[:, 0]]
    if name in joints:
        return np.asarray(turns[joints.index(name)])
    plain = [control for k, control in enumerate(rig.controls) if k not in turns]
    if name in plain:
        return np.array([rig.controls.index(name)])
    close = get_close_matches(name, joints + plain, 1, 0.0)
    meant = f"did you mean '{close[0]}'?" if close else "it has none at all"
    raise SceneError(f"the rig has no joint or control '{name}' to animate: {meant}.".replace("?.", "?"))


def _warn_of_long_turns(rig: Posed, keys: Mapping[float, Mapping[str, Setting]]) -> None:
    """Say so where an angle changes by half a turn or more from one key of a joint to its next."""
    last: dict[str, FloatArray] = {}
    for time in sorted(keys):
        for name, value in keys[time].items():
            if len(_find(rig, name)) < 3 or isinstance(value, Rotation):
                continue
            angles = _numbers(name, value)
            if name in last and np.shape(angles) == (3,) and np.abs(angles - last[name]).max() >= 180.0:
                warnings.warn(
                    f"joint '{name}' turns by half a turn or more up to its key at {time:g} s and will go the short "
                    "way round: add a key in between.",
                    SuppleWarning,
                    stacklevel=3,
                )
            last[name] = angles
