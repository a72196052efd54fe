"""Elements that stand for all in the elastic forces of a body in its poses ([XB16] 5.3)."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.check import frequency_errors, pitch_excess
from supple.cubature.element_problem import ElementProblem
from supple.cubature.pool import train_pool
from supple.cubature.pose_lessons import Lessons, PoseErrors, train_lessons
from supple.cubature.posed_space import PosedSpace, PosedSpaces
from supple.cubature.poses import Poses
from supple.cubature.problem import Problem
from supple.cubature.rule import Rule
from supple.cubature.samples import draw_coordinates
from supple.cubature.shared import SharedRule
from supple.cubature.stiffness_problem import StiffnessProblem
from supple.cubature.support import Trainer

__all__ = ["expect_reach", "pose_problem", "train_pose_elements"]

FloatArray = NDArray[np.float64]

_AIM = 0.9  # of the tolerance: the worst of all poses is to be within it, on other samples
_SOFT = 16  # coordinates whose stiffness is among the equations where frequencies are off
_LOAD = 40.0  # [m/s²]: four times the weight
_REACH = 0.35  # of the body's size: more than that no flesh moves


def train_pose_elements(
    spaces: PosedSpaces,
    tolerance: float,
    rng: np.random.Generator,
    *,
    reach: float | None = None,
    trainer: Trainer = train_pool,
) -> tuple[SharedRule, float, PoseErrors]:
    """A rule accepted by held-out samples and by the first rest frequencies in all poses, with both errors."""
    largest = expect_reach(spaces.examples) if reach is None else reach

    def draw(space: PosedSpace, count: int) -> Problem:
        return pose_problem(space, draw_coordinates(space.basis, largest, count, rng))

    def stiffen(space: PosedSpace) -> Problem:
        return StiffnessProblem(space.body, space.basis.truncated(_SOFT))

    def detune(rule: SharedRule) -> float:
        return max(pitch_excess(pitch, tolerance) for pitch in _frequencies(rule, spaces.everywhere))

    lessons = Lessons(spaces, draw, stiffen, detune, _AIM)
    rule, errors = train_lessons(lessons, tolerance, rng, "elements", trainer=trainer)
    return rule, float(np.abs(_frequencies(rule, spaces.everywhere)).max()), errors


def pose_problem(space: PosedSpace, coordinates: FloatArray) -> ElementProblem:
    """The elastic forces in a pose at modal coordinates (r, T)."""
    return ElementProblem(space.body, space.basis, Poses(space.body, space.basis, coordinates))


def expect_reach(spaces: list[PosedSpace]) -> float:
    """How far flesh would go that were as linear as at rest, loaded with four times its weight along any axis [m]."""
    largest = 0.0
    for space in spaces:
        basis = space.basis
        fields = basis.columns @ (basis.even() * (_LOAD / basis.importance)).T
        largest = max(largest, float(np.linalg.norm(fields.reshape(-1, 3, 3), axis=1).max()))
    return min(largest, _REACH * spaces[0].body.mesh.size())


def _frequencies(rule: SharedRule, spaces: list[PosedSpace]) -> list[FloatArray]:
    """Relative errors of the first frequencies in every pose."""
    return [frequency_errors(one.body, one.basis, Rule(rule.members, rule.blend(one.shares), 0.0)) for one in spaces]
