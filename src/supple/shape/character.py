"""What makes a shape a character: bones, named poses, a motion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from supple.rig import Skeleton
from supple.rig.motion import Motion
from supple.shape.arc import Arc
from supple.shape.bone import Bone, Vector
from supple.shape.curve import Curve

__all__ = ["SHIFT", "Character", "Turns", "pose_bones"]

FloatArray = NDArray[np.float64]

#: Angles [degrees] by the name of a bone; under `SHIFT`, where the root goes [m].
Turns = Mapping[str, Vector]
SHIFT = "shift"


@dataclass(frozen=True, eq=False)
class Character:
    """A skeleton that fits a shape, with poses and a motion to try it on."""

    skeleton: Skeleton
    bones: tuple[Bone, ...]
    """What the skeleton was made of, in its order."""
    poses: Mapping[str, FloatArray]
    """Poses by name, (p,) each; "rest" comes first."""
    motion: Motion
    """A loop through some of the poses."""
    curves: Mapping[str, Curve]
    """Control points of a wire deformer, by the name of the wire; most shapes have none."""
    arcs: Mapping[str, Arc] = field(default_factory=dict)
    """Stretches for bend deformers, by name; most shapes have none."""

    @property
    def ranges(self) -> FloatArray:
        """Lowest and highest angle of every bone about each of its axes [degrees], (j, 3, 2)."""
        return np.array([bone.ranges for bone in self.bones])

    @property
    def limits(self) -> dict[str, FloatArray]:
        """The ranges as inverse kinematics takes them: lowest and highest rotation vector [rad], (2, 3), by bone.

        Bones with a slanting hinge may leave their range within this box.
        """
        return {bone.name: bone.limits() for bone in self.bones}

    def pose(self, turns: Turns) -> FloatArray:
        """The pose in which the named bones are turned and all others are at rest, (p,)."""
        return pose_bones(self.skeleton, self.bones, turns)

    def angles(self, pose: FloatArray) -> FloatArray:
        """Angles of every bone about its axes in a pose [degrees], (j, 3)."""
        turns = self.skeleton.check(pose)[3:].reshape(-1, 3)
        return np.array([bone.angles(turn) for bone, turn in zip(self.bones, turns, strict=True)])

    def wire_pose(self, pose: FloatArray) -> FloatArray:
        """How far the control points of all curves go with their bones [m], (3 c,): the pose of a wire deformer."""
        moves = [curve.posed(self.skeleton, pose) - curve.points for curve in self.curves.values()]
        return np.concatenate([np.zeros(0), *(move.ravel() for move in moves)])


def pose_bones(skeleton: Skeleton, bones: tuple[Bone, ...], turns: Turns) -> FloatArray:
    """The pose of a skeleton in which the named ones of its bones are turned, (p,)."""
    pose = skeleton.neutral
    for name, values in turns.items():
        if name == SHIFT:
            pose[:3] = values
        else:
            number = skeleton.number(name)
            pose[3 + 3 * number : 6 + 3 * number] = bones[number].turn(values)
    return pose
