"""Loops: a motion whose end meets its beginning without a pop."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from supple.arguments import check_type
from supple.errors import SceneError
from supple.rig.motion import Motion

__all__ = ["looped"]

FloatArray = NDArray[np.float64]


def looped(
    motion: Motion, blend: float, travel: Literal["keep", "remove"] = "keep", up: Literal["x", "y", "z"] = "y"
) -> Motion:
    """The motion as an endless loop of the same length: pose, velocity and acceleration go on over the seam.

    Over its last `blend` seconds the motion is bent into its beginning; one that closes already hardly changes.
    Travel of the root along the ground (two of its .tx, .ty, .tz) goes on each time round, or is taken out at a steady
    rate; everything else, height and heading too, returns to where it began.
    """
    check_type(motion, "looped(motion)", Motion, "a Motion", "Use Motion.of.")
    if len(motion.times) < 2 or motion.gain is not None:
        raise SceneError("only a motion of two or more keys that is not a loop yet can be looped: cut one first.")
    if not 0.0 <= blend <= motion.duration:
        raise SceneError(f"a loop of {motion.duration:g} s cannot blend over {blend:g} s: blend over a part of it.")
    roots = {motion.controls[first].removesuffix(".x") for first in motion.turns[:, 0]}
    along = {f"{root}.t{axis}" for root in roots for axis in "xyz" if axis != up}
    ground = [name in along for name in motion.controls]
    gain = np.where(ground, motion.poses[-1] - motion.poses[0], 0.0)
    poses = _bend_end(motion, gain, blend)
    if travel == "remove":
        poses -= np.outer((motion.times - motion.begin) / motion.duration, gain)
        gain = np.zeros_like(gain)
    return replace(motion, poses=poses, gain=gain)


def _bend_end(motion: Motion, gain: FloatArray, blend: float) -> FloatArray:
    """Poses at the keys whose last ones bend from the motion to its first pose plus the gain, (k, p)."""
    points = motion.develop(motion.poses)
    (first, last), rates, bends = motion.jet([motion.begin, motion.end])
    plain = len(motion.plain)
    first[:plain] += gain[motion.plain]
    mismatch = np.array([first - last, rates[0] - rates[1], bends[0] - bends[1]])
    quaternions = mismatch[:, plain:].reshape(3, -1, 4)
    starts, ends = first[plain:].reshape(-1, 4), last[plain:].reshape(-1, 4)
    flipped = np.einsum("mi,mi->m", starts, ends) < 0.0  # the same rotation has two quaternions: the nearer one
    for order, jets in enumerate((np.array([first, last]), rates, bends)):
        begin, end = jets[:, plain:].reshape(2, -1, 4)
        quaternions[order, flipped] = -begin[flipped] - end[flipped]
    late = motion.times > motion.end - blend if blend else motion.times == motion.end
    s = ((motion.times[late] - motion.end) / blend + 1.0 if blend else np.ones(1))[:, None]
    gap, rate, bend = mismatch * np.array([1.0, blend, 0.5 * blend**2])[:, None]
    points[late] += s**3 * ((10.0 - 15.0 * s + 6.0 * s**2) * gap + (-4.0 + 7.0 * s - 3.0 * s**2) * rate)
    points[late] += s**3 * (1.0 - s) ** 2 * bend
    poses = motion.poses.copy()
    poses[late] = motion.settle(points[late])
    poses[-1] = motion.poses[0] + gain
    return poses
