"""A bone as it is written down: where it lies, and how far and about which axes it turns.

Its angles [degrees] turn it about the axes x, y, z of its parent, x first, as keyframes do; a bone that names its hinge
turns about the hinge, about itself (twist), and about the normal of both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

__all__ = ["LEFT", "RIGHT", "Bone", "Range", "Vector", "mirror_bones", "other_side"]

FloatArray = NDArray[np.float64]
Vector = tuple[float, float, float]
Range = tuple[float, float]

LEFT, RIGHT = "left_", "right_"  #: how names of bones at x > 0 and at x < 0 begin
STIFF: Range = (0.0, 0.0)


@dataclass(frozen=True)
class Bone:
    """A bone from its joint (`head`) to its end (`tail`) at rest [m]."""

    name: str
    parent: str | None
    head: Vector
    tail: Vector
    x: Range = STIFF  #: lowest and highest angle about each axis [degrees]
    y: Range = STIFF
    z: Range = STIFF
    hinge: Vector | None = None  #: direction of the first axis, made square to the bone

    @property
    def ranges(self) -> FloatArray:
        """Lowest and highest angle about each axis [degrees], (3, 2)."""
        return np.array([self.x, self.y, self.z], np.float64)

    @property
    def axes(self) -> FloatArray:
        """The axes of the three angles in columns, (3, 3)."""
        if self.hinge is None:
            return np.eye(3)
        along = np.subtract(self.tail, self.head)
        along = along / np.linalg.norm(along)
        across = np.array(self.hinge) - (along @ self.hinge) * along
        across = across / np.linalg.norm(across)
        return np.column_stack([across, along, np.cross(across, along)])

    def turn(self, angles: ArrayLike) -> FloatArray:
        """Rotation vector [rad] of three angles [degrees], (3,)."""
        return np.asarray(self.axes @ Rotation.from_euler("xyz", angles, degrees=True).as_rotvec())

    def angles(self, turn: FloatArray) -> FloatArray:
        """Three angles [degrees] of a rotation vector [rad], (3,)."""
        return np.asarray(Rotation.from_rotvec(self.axes.T @ turn).as_euler("xyz", degrees=True))

    def limits(self) -> FloatArray:
        """Box around the rotation vectors [rad] of the ranges, lowest and highest, (2, 3)."""
        ends = self.axes[:, :, None] * np.radians(self.ranges)
        return np.array([ends.min(axis=2).sum(axis=1), ends.max(axis=2).sum(axis=1)])

    def scaled(self, factor: float) -> "Bone":
        """The same bone of a body `factor` times as large."""
        return replace(self, head=_scale(self.head, factor), tail=_scale(self.tail, factor))


def mirror_bones(bones: Iterable[Bone]) -> tuple[Bone, ...]:
    """The bones, every left one followed by its mirror image at x < 0."""
    return tuple(one for bone in bones for one in ([bone, _mirror(bone)] if bone.name.startswith(LEFT) else [bone]))


def other_side(name: str) -> str:
    """The name of the bone's mirror image; a bone in the middle is its own."""
    for side, opposite in ((LEFT, RIGHT), (RIGHT, LEFT)):
        if name.startswith(side):
            return opposite + name.removeprefix(side)
    return name


def _mirror(bone: Bone) -> Bone:
    """A mirrored turn keeps its angle about x and reverses the others, and a hinge is reversed but for its x."""
    (head_x, *head), (tail_x, *tail) = bone.head, bone.tail
    hinge = bone.hinge and (bone.hinge[0], -bone.hinge[1], -bone.hinge[2])
    return Bone(
        other_side(bone.name),
        bone.parent and other_side(bone.parent),
        (-head_x, head[0], head[1]),
        (-tail_x, tail[0], tail[1]),
        bone.x,
        (-bone.y[1], -bone.y[0]),
        (-bone.z[1], -bone.z[0]),
        hinge,
    )


def _scale(point: Vector, factor: float) -> Vector:
    return (point[0] * factor, point[1] * factor, point[2] * factor)
