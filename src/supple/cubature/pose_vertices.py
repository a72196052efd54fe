"""Vertices that stand for all in the inertia of a body that its rig moves ([XB16] 5.4).

The rig is a black box: samples are places in three consecutive frames, the last of them in the pose, and their second
difference. With lumped masses it takes no vertex but those of the rule.
"""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.pool import train_pool
from supple.cubature.pose_lessons import Lessons, PoseErrors, train_lessons
from supple.cubature.posed_space import PosedSpace, PosedSpaces
from supple.cubature.problem import Problem
from supple.cubature.shared import SharedRule
from supple.cubature.support import Trainer
from supple.cubature.vertex_problem import vertex_problem
from supple.rig import Rig
from supple.rig.levers import measure_levers
from supple.rig.motion import root_columns, turn_columns

__all__ = ["draw_inertia", "frame_steps", "train_pose_vertices"]

FloatArray = NDArray[np.float64]

_TURN = np.deg2rad(1.0)  # from a frame to the next; what is no angle moves the body as far as one would
_AIM = 0.5  # of the tolerance: errors of this force go straight into the motion, and vertices cost little
_LEAST = 0.1  # of the steps of controls: the smallest share of them
_SPEEDING = 2e-4, 0.2  # change of a step from frame to frame, as a share of it: from even speed to hard stops


def train_pose_vertices(
    rig: Rig,
    spaces: PosedSpaces,
    tolerance: float,
    rng: np.random.Generator,
    *,
    trainer: Trainer = train_pool,
) -> tuple[SharedRule, PoseErrors]:
    """A rule accepted by held-out samples in all poses, with its errors."""
    steps = frame_steps(rig)

    def draw(space: PosedSpace, count: int) -> Problem:
        return vertex_problem(space.basis, draw_inertia(rig, space.pose, steps, count, rng))

    return train_lessons(Lessons(spaces, draw, aim=_AIM), tolerance, rng, "vertices", trainer=trainer)


def frame_steps(rig: Rig) -> FloatArray:
    """How far each control goes from a frame to the next, (p,): joints turn, the rest moves vertices as far."""
    levers = measure_levers(rig)
    far = _TURN * float(np.ptp(rig.rest, axis=0).max())
    steps: FloatArray = np.divide(far, levers, out=np.zeros_like(levers), where=levers > 0.0)
    steps[turn_columns(rig.controls)] = _TURN
    return steps


def draw_inertia(
    rig: Rig, pose: FloatArray, steps: FloatArray, count: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Second differences of the rig's vertices in random motions that arrive in a pose, (n, 3, count) [m].

    Controls take turns in moving most, and a root moves with the others, rests and moves alone: what moves little of
    the body is not to be lost in what moves all of it.
    """
    fields = np.empty((*rig.rest.shape, count), np.float32)
    root = np.isin(np.arange(len(pose)), root_columns(rig.controls))
    moving = [some for some in (steps, np.where(root, 0.0, steps), np.where(root, steps, 0.0)) if some.any()]
    for k in range(count):
        size = moving[k % len(moving)] * _log_uniform(_LEAST, 1.0, len(pose), rng)
        speed, change = size * rng.uniform(-1.0, 1.0, (2, len(pose)))
        change *= _log_uniform(*_SPEEDING, 1, rng)
        here, before, earlier = (rig.positions(pose - t * speed + 0.5 * t * t * change) for t in (0.0, 1.0, 2.0))
        fields[:, :, k] = here - 2.0 * before + earlier
    return fields


def _log_uniform(least: float, most: float, count: int, rng: np.random.Generator) -> FloatArray:
    return np.exp(rng.uniform(np.log(least), np.log(most), count))
