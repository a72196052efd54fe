"""A character as it is written down beside its shape, for one size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from supple.rig import Skeleton
from supple.rig.key_curve import Between
from supple.rig.loop import looped
from supple.rig.motion import Motion
from supple.shape.bone import Bone, Vector, other_side
from supple.shape.character import SHIFT, Character, Turns, pose_bones
from supple.shape.curve import trace_curve

__all__ = ["Sketch", "mirror_turns"]


@dataclass(frozen=True)
class Sketch:
    """Bones by name, poses by the turns of their bones, a motion by the names of its poses."""

    bones: Sequence[Bone]
    poses: Mapping[str, Turns]
    motion: Sequence[tuple[float, str]]
    """Times [s] and the poses then; the last is the first."""
    between: Between = "ease"
    """How to go from pose to pose."""
    curves: Mapping[str, tuple[Sequence[str], int]] = field(default_factory=dict)
    """Chains of bones for wires to follow, and how many control points each has."""

    def build(self, scale: float = 1.0) -> Character:
        """The character of a shape `scale` times as large as it was drawn."""
        skeleton, bones = self._assemble(scale)
        named = {"rest": {}, **self.poses}
        poses = {name: pose_bones(skeleton, bones, _scale_shift(turns, scale)) for name, turns in named.items()}
        times, keys = zip(*self.motion, strict=True)
        motion = Motion.of(skeleton, times, [poses[key] for key in keys], self.between)
        curves = {name: trace_curve(skeleton, *course) for name, course in self.curves.items()}
        return Character(skeleton, bones, poses, looped(motion, blend=0.0), curves)

    def _assemble(self, scale: float) -> tuple[Skeleton, tuple[Bone, ...]]:
        """The skeleton, and the bones in its order."""
        sized = {bone.name: bone.scaled(scale) for bone in self.bones}
        number = {name: k for k, name in enumerate(sized)}
        skeleton = Skeleton.of(
            list(sized),
            np.array([-1 if bone.parent is None else number[bone.parent] for bone in sized.values()]),
            np.array([bone.head for bone in sized.values()]),
            np.array([bone.tail for bone in sized.values()]),
        )
        return skeleton, tuple(sized[name] for name in skeleton.names)


def mirror_turns(turns: Turns) -> dict[str, Vector]:
    """The mirror image of turned bones: left and right exchanged."""
    return {other_side(name): (-x, y, z) if name == SHIFT else (x, -y, -z) for name, (x, y, z) in turns.items()}


def _scale_shift(turns: Turns, scale: float) -> Turns:
    if SHIFT not in turns:
        return turns
    x, y, z = turns[SHIFT]
    return {**turns, SHIFT: (x * scale, y * scale, z * scale)}
