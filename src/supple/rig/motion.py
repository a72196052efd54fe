"""A motion: poses of a rig at times, smooth in between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from supple.arguments import as_floats, describe, refuse
from supple.errors import SceneError
from supple.rig.key_curve import BETWEEN, Between, KeyCurve

__all__ = ["Motion", "root_columns", "turn_columns"]

FloatArray = NDArray[np.float64]

#: Keys repeated on both sides of a loop: a spline forgets an end by a factor of 0.27 a key.
WRAPPED = 28


class Posed(Protocol):
    """What a motion must know of a rig or skeleton."""

    @property
    def controls(self) -> tuple[str, ...]:
        """A name for every entry of a pose."""

    @property
    def neutral(self) -> FloatArray:
        """The pose of rest, (p,)."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses at times; build one with `Motion.of`.

    Between keys the rotations of a skeleton go the short way, as unit quaternions, so that neither 180 degrees nor a
    sign makes a difference; all other controls are plain numbers. "spline", "ease" and "run-up" keep
    accelerations continuous.
    """

    times: FloatArray
    """Times of the keys [s], (k,)."""
    poses: FloatArray
    """Poses at the keys, (k, p)."""
    controls: tuple[str, ...]
    """A name for every entry of a pose, (p,)."""
    between: tuple[Between, ...]
    """How to go on from every key but the last, (k - 1,)."""
    gain: FloatArray | None = None
    """What a pose gains each time round, (p,), when the motion is a loop; otherwise it stands still after its end."""

    @classmethod
    def of(
        cls, rig: Posed, times: ArrayLike, poses: ArrayLike, between: Between | Sequence[Between] = "spline"
    ) -> Motion:
        """A checked motion of a rig or skeleton from an array of poses, (k, p), at increasing times [s], (k,)."""
        if not hasattr(rig, "controls"):
            refuse("Motion.of(rig)", describe(rig), "a rig or a Skeleton")
        controls = tuple(rig.controls)
        when = np.array(as_floats(times, "Motion.of(times)", ("k",), unit="s", finite=False))
        if not len(when):
            refuse("Motion.of(times)", "none", "one or more, (k,)")
        table = np.array(as_floats(poses, "Motion.of(poses)", (len(when), len(controls)), finite=False))
        _check_finite(when, table, controls)
        if (np.diff(when) <= 0.0).any():
            late = int(np.argmax(np.diff(when) <= 0.0)) + 1
            raise SceneError(
                f"frame {late} of the motion, at {when[late]:g} s, is not after the one before it: sort the frames."
            )
        kinds = repeated(between, len(when) - 1) if isinstance(between, str) else tuple(between)
        if len(kinds) != len(when) - 1 or not set(kinds) <= set(BETWEEN):
            raise SceneError(f"between {len(when)} keys stand {len(when) - 1} words, each one of {', '.join(BETWEEN)}.")
        return cls(when, table, controls, kinds)

    @property
    def begin(self) -> float:
        """Time of the first key [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last key [s]."""
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """From the first key to the last [s]; of a loop, once round."""
        return self.end - self.begin

    def at(self, time: float) -> FloatArray:
        """The pose at a time [s], (p,)."""
        return np.asarray(self.sampled([time])[0])

    def sampled(self, times: ArrayLike) -> FloatArray:
        """The poses at times [s], (n, p)."""
        return self.settle(self.jet(times)[0])

    def about(self, time: float) -> Callable[[float], FloatArray]:
        """Poses near a time as a function of the time since [s]: smooth, with the motion's velocity and acceleration.

        Differences of it do not see the kinks of higher derivatives at the keys.
        """
        value, rate, bend = self.jet([time])
        return lambda s: np.asarray(self.settle(value + s * (rate + 0.5 * s * bend))[0])

    def resampled(self, fps: float, substeps: int = 1) -> Motion:
        """The motion with a key at every substep of every frame up to its end, splined; a loop keeps its period, by
        the nearest spacing that divides it."""
        rate = fps * substeps
        if not (np.isfinite(rate) and rate > 0.0):
            raise SceneError(
                f"a motion cannot be sampled at {fps} frames a second x {substeps}: give positive numbers."
            )
        if self.gain is not None:
            count = max(round(self.duration * rate), 1)
            times = np.linspace(self.begin, self.end, count + 1)
        else:
            times = self.begin + np.arange(int(self.duration * rate + 1e-6) + 1) / rate
        poses = self.sampled(times)
        if self.gain is not None:  # the end of a loop is its begin after one gain
            poses[-1] = poses[0] + self.gain
        return replace(self, times=times, poses=poses, between=repeated("spline", len(times) - 1))

    def cut(self, begin: float, end: float) -> Motion:
        """The stretch from one time to another [s], no longer a loop: the keys inside, and one at each end."""
        if not begin < end:
            raise SceneError(f"a motion cannot be cut from {begin:g} s to {end:g} s: end it after it begins.")
        if begin < self.begin or (end > self.end and self.gain is None):
            raise SceneError(
                f"the motion runs from {self.begin:g} s to {self.end:g} s and cannot be cut from {begin:g} s to "
                f"{end:g} s: stay inside."
            )
        rounds = np.arange(np.ceil((end - self.begin) / self.duration))[:, None] * self.duration
        keys = np.append((self.times[:-1] + rounds).ravel(), self.end + rounds[-1])
        apart = 0.01 * float(np.median(np.diff(self.times)))  # a key too near an end would bend the curve there
        times = np.concatenate([[begin], keys[(keys > begin + apart) & (keys < end - apart)], [end]])
        middles, _ = self._wrap(0.5 * (times[1:] + times[:-1]))
        kinds = tuple(self.between[k] for k in np.searchsorted(self.times, middles, "right") - 1)
        return Motion(times, self.sampled(times), self.controls, kinds)

    @cached_property
    def turns(self) -> NDArray[np.intp]:
        """Columns of the rotation vectors of a pose, (m, 3)."""
        return turn_columns(self.controls)

    @cached_property
    def plain(self) -> NDArray[np.intp]:
        """Columns of the plain numbers of a pose."""
        return np.setdiff1d(np.arange(len(self.controls)), self.turns)

    def develop(self, poses: FloatArray) -> FloatArray:
        """Poses with rotation vectors as unit quaternions, each nearest to the one before, (k, w)."""
        turns = Rotation.from_rotvec(poses[:, self.turns].reshape(-1, 3)).as_quat().reshape(len(poses), -1, 4)
        near = np.where(np.einsum("kmi,kmi->km", turns[1:], turns[:-1]) < 0.0, -1.0, 1.0)
        turns[1:] *= np.cumprod(near, axis=0)[:, :, None]
        return np.concatenate([poses[:, self.plain], turns.reshape(len(poses), -1)], axis=1)

    def settle(self, points: FloatArray) -> FloatArray:
        """The poses that developed points, (k, w), stand for, (k, p); quaternions need not be normalised."""
        poses = np.empty((len(points), len(self.controls)))
        poses[:, self.plain] = points[:, : len(self.plain)]
        turns = Rotation.from_quat(points[:, len(self.plain) :].reshape(-1, 4)).as_rotvec()
        poses[:, self.turns] = turns.reshape(len(points), -1, 3)
        return poses

    def jet(self, times: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Developed poses at times [s] and their first two derivatives, each (n, w)."""
        inside, rounds = self._wrap(times)
        value, rate, bend = self._curve.jet(inside)
        if self.gain is not None:
            value[:, : len(self.plain)] += rounds[:, None] * self.gain[self.plain]
        return value, rate, bend

    def _wrap(self, times: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Times within the keys, and how often the loop went round before."""
        given = np.atleast_1d(np.asarray(times, np.float64))
        if self.gain is None:
            return given, np.zeros_like(given)
        rounds = np.floor((given - self.begin) / self.duration)
        return np.clip(given - rounds * self.duration, self.begin, self.end), rounds

    @cached_property
    def _curve(self) -> KeyCurve:
        times, poses, between = self.times, self.poses, self.between
        if self.gain is not None:
            steps = len(times) - 1
            keys = np.arange(-WRAPPED, steps + WRAPPED + 1)
            rounds, keys = np.divmod(keys, steps)
            times = times[keys] + rounds * self.duration
            poses = poses[keys] + rounds[:, None] * self.gain
            between = tuple(between[key] for key in keys[:-1])
        return KeyCurve.through(times, self.develop(poses), len(self.plain), between)


def turn_columns(controls: Sequence[str]) -> NDArray[np.intp]:
    """Columns of the rotation vectors of a skeleton among named controls, (m, 3).

    They are the triples "joint.x", "joint.y", "joint.z" in a row behind the root's "root.tx", "root.ty", "root.tz".
    """
    firsts: list[int] = []
    for k in range(3, len(controls) - 2):
        joint = controls[k].removesuffix(".x")
        root = tuple(controls[k - 3 : k]) == tuple(f"{joint}.t{axis}" for axis in "xyz")
        if (root or k - 3 in firsts) and tuple(controls[k : k + 3]) == tuple(f"{joint}.{axis}" for axis in "xyz"):
            firsts.append(k)
    return np.asarray(firsts, np.intp).reshape(-1, 1) + np.arange(3)


def root_columns(controls: Sequence[str]) -> list[int]:
    """Columns of where a skeleton's root goes and turns among named controls; none without a skeleton."""
    turns = turn_columns(controls)
    return list(range(int(turns[0, 0]) - 3, int(turns[0, 0]) + 3)) if len(turns) else []


def repeated(between: Between, count: int) -> tuple[Between, ...]:
    """The same way through all of `count` intervals."""
    return (between,) * count


def _check_finite(times: FloatArray, poses: FloatArray, controls: Sequence[str]) -> None:
    """Refuse a time or pose that is not a finite number, by frame and name."""
    if not np.isfinite(times).all():
        raise SceneError(f"the time of frame {int(np.argmin(np.isfinite(times)))} is not a finite number: correct it.")
    if not np.isfinite(poses).all():
        frame, column = np.argwhere(~np.isfinite(poses))[0]
        raise SceneError(f"frame {frame} of the motion is not a finite number at '{controls[column]}': correct it.")
