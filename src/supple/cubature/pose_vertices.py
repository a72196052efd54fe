"""Vertices that stand for all in the inertia of a body that its rig moves ([XB16] 5.4).

The rig is a black box: samples are places in three consecutive frames, the last of them in the pose, and their second
difference. With lumped masses it takes no vertex but those of the rule.

Where columns turn with the flesh, the same vertices feel gravity and what the turning does to displacements: samples of
both come in between.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supple.cubature.pool import train_pool
from supple.cubature.pose_lessons import Lessons, PoseErrors, train_lessons
from supple.cubature.posed_space import PosedSpace, PosedSpaces
from supple.cubature.problem import Problem
from supple.cubature.samples import draw_coordinates
from supple.cubature.shared import SharedRule
from supple.cubature.support import Trainer
from supple.cubature.vertex_problem import vertex_problem
from supple.elastic import Body
from supple.rig import Rig
from supple.rig.levers import measure_levers
from supple.rig.motion import root_columns, turn_columns
from supple.subspace.vertex_turns import find_vertex_turns

__all__ = ["draw_inertia", "draw_turning", "frame_steps", "train_pose_vertices"]

FloatArray = NDArray[np.float64]

_TURN = np.deg2rad(1.0)  # from a frame to the next; what is no angle moves the body as far as one would
_AIM = 0.5  # of the tolerance: errors of this force go straight into the motion, and vertices cost little
_LEAST = 0.1  # of the steps of controls: the smallest share of them
_STILL = 1e-10  # of a displacement: what turns less does not turn
_SPEEDING = 2e-4, 0.2  # change of a step from frame to frame, as a share of it: from even speed to hard stops


def train_pose_vertices(
    body: Body,
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
        fields = draw_inertia(rig, space.pose, steps, count, rng)
        if spaces.turning:
            draw_turning(body, rig, space, steps, fields, rng)
        return vertex_problem(space.basis, fields)

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
    for k in range(count):
        here, before, earlier = (rig.positions(one) for one in _draw_frames(rig, pose, steps, k, rng))
        fields[:, :, k] = here - 2.0 * before + earlier
    return fields


def draw_turning(
    body: Body,
    rig: Rig,
    space: PosedSpace,
    steps: FloatArray,
    fields: NDArray[np.float32],
    rng: np.random.Generator,
) -> None:
    """Put in the place of three fields of four, (n, 3, count), even accelerations, what displacements are behind for
    having turned since the frame before, and how that differs from the frame before it."""
    y = draw_coordinates(space.basis, 1.0, fields.shape[2], rng)
    now = find_vertex_turns(body, rig, space.pose)
    for k in range(fields.shape[2]):
        if k % 4 == 1:
            fields[:, :, k] = rng.standard_normal(3)
        elif k % 4 > 1:
            _, before, earlier = _draw_frames(rig, space.pose, steps, k // 4, rng)
            u = np.einsum("vji,vj->vi", now, space.basis.lift(y[:, k]))
            here, gone, more = (_turn(body, rig, one, u) for one in (space.pose, before, earlier))
            field = gone - here if k % 4 == 2 else 2.0 * gone - more - here
            turns = np.abs(field).max() > _STILL * np.abs(u).max()
            fields[:, :, k] = field if turns else rng.standard_normal(3)


def _turn(body: Body, rig: Rig, pose: FloatArray, u: FloatArray) -> FloatArray:
    """Displacements (n, 3) of the neutral pose as the flesh has turned in another."""
    return np.asarray(np.einsum("vij,vj->vi", find_vertex_turns(body, rig, pose), u))


def _draw_frames(
    rig: Rig, pose: FloatArray, steps: FloatArray, number: int, rng: np.random.Generator
) -> Iterator[FloatArray]:
    """A pose and those of the two frames before it, in a random motion."""
    root = np.isin(np.arange(len(pose)), root_columns(rig.controls))
    moving = [some for some in (steps, np.where(root, 0.0, steps), np.where(root, steps, 0.0)) if some.any()]
    size = moving[number % len(moving)] * _log_uniform(_LEAST, 1.0, len(pose), rng)
    speed, change = size * rng.uniform(-1.0, 1.0, (2, len(pose)))
    change *= _log_uniform(*_SPEEDING, 1, rng)
    return (pose - t * speed + 0.5 * t * t * change for t in (0.0, 1.0, 2.0))


def _log_uniform(least: float, most: float, count: int, rng: np.random.Generator) -> FloatArray:
    return np.exp(rng.uniform(np.log(least), np.log(most), count))
