"""Preroll: from the neutral pose into a motion, so that flesh begins at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats, check_type
from supple.errors import SceneError
from supple.rig.key_curve import Between
from supple.rig.motion import Motion

__all__ = ["preroll"]

FloatArray = NDArray[np.float64]


def preroll(motion: Motion, neutral: ArrayLike, seconds: float, run_up: float = 0.0) -> Motion:
    """The motion with a lead-in before it, of that many seconds; its own keys keep their times.

    The lead-in goes from the neutral pose to the first one, without velocity or acceleration at either end. Its last
    `run_up` seconds lead from that stop into the motion's own velocity and acceleration; without them a motion that
    begins moving begins with a jolt.
    """
    check_type(motion, "preroll(motion)", Motion, "a Motion", "Use Motion.of.")
    pose = as_floats(neutral, "preroll(neutral)", ("p",))
    if pose.shape != motion.poses[0].shape:
        raise SceneError(f"the neutral pose has {pose.size} numbers, the motion {motion.poses.shape[1]}: give as many.")
    if not 0.0 <= run_up < seconds:
        raise SceneError(f"a preroll of {seconds:g} s cannot hold a run-up of {run_up:g} s: make it longer.")
    if motion.gain is not None:
        raise SceneError("a loop has no first pose to lead into: cut a stretch from it first.")
    # first the stop at the first pose, if there is a run-up from it, then the neutral pose before it
    led = _prepend(motion, motion.poses[0], motion.begin - run_up, "run-up") if run_up else motion
    return _prepend(led, pose, motion.begin - seconds, "ease")


def _prepend(motion: Motion, pose: FloatArray, time: float, between: Between) -> Motion:
    """The motion with one more key before its first."""
    return replace(
        motion,
        times=np.concatenate([[time], motion.times]),
        poses=np.concatenate([[pose], motion.poses]),
        between=(between, *motion.between),
    )
