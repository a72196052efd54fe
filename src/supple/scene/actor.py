"""Who plays a motion: a skeleton in the body, with the poses and the motion that came with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.errors import SceneError
from supple.io.bvh import load_bvh
from supple.rig import Motion, Skeleton
from supple.scene.rig_table import RigTable
from supple.scene.schema import MeshTable
from supple.scene.source import Y_UP_TO_Z_UP
from supple.shape import Character, make_character

__all__ = ["Actor", "make_actor", "naming"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Actor:
    """A skeleton, and what is known about it."""

    skeleton: Skeleton
    poses: Mapping[str, FloatArray]
    """Poses by name, (p,) each; "rest" is always there."""
    motion: Motion
    """Its own motion."""
    axes: Mapping[str, FloatArray]
    """By joint, in columns, the axes about which its angles turn it, (3, 3)."""

    def pose(self, name: str) -> FloatArray:
        """A pose by its name, (p,)."""
        if name not in self.poses:
            near = get_close_matches(name, self.poses, n=1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.poses)}."
            raise SceneError(f"there is no pose '{name}': {hint}")
        return self.poses[name]

    def turn(self, joint: str, degrees: tuple[float, float, float]) -> Rotation:
        """How angles about its axes, the first turning first, turn a joint."""
        return Rotation.from_rotvec(self.axes[joint] @ Rotation.from_euler("xyz", degrees, degrees=True).as_rotvec())


@contextmanager
def naming(table: str) -> Iterator[None]:
    """Errors of a scene that arise here begin with the name of the table they are about."""
    try:
        yield
    except SceneError as error:
        raise SceneError(f"{table}: {error}") from None


def make_actor(table: RigTable, mesh: MeshTable, metres: float, up_axis: str) -> Actor:
    """The skeleton of a file, in units of `metres`, or that of the built-in shape whose size is in metres."""
    with naming("rig"):
        if mesh.shape is None:
            if table.skeleton is None:
                raise SceneError(f"{mesh.file} brings no bones: name a BVH file as skeleton, or use a built-in shape.")
            skeleton, motion = load_bvh(Path(table.skeleton), scale=metres)
            return Actor(skeleton, {"rest": skeleton.neutral}, motion, dict.fromkeys(skeleton.names, np.eye(3)))
        if table.skeleton is not None:
            raise SceneError(f"the shape '{mesh.shape}' has bones of its own: remove skeleton, or give a mesh file.")
        character = make_character(mesh.shape, **mesh.size)
        return _play(character, np.array(Y_UP_TO_Z_UP) if up_axis == "z" else np.eye(3))


def _play(character: Character, stand: FloatArray) -> Actor:
    """A built-in shape's character, stood up by a rotation (3, 3)."""

    def turned(vectors: FloatArray) -> FloatArray:  # a pose is nothing but vectors
        return np.asarray((vectors.reshape(-1, 3) @ stand.T).reshape(vectors.shape))

    bones, motion = character.skeleton, character.motion
    gain = None if motion.gain is None else turned(motion.gain)
    return Actor(
        Skeleton.of(bones.names, bones.parents, turned(bones.heads), turned(bones.tails)),
        {name: turned(pose) for name, pose in character.poses.items()},
        replace(motion, poses=turned(motion.poses), gain=gain),
        {bone.name: stand @ bone.axes for bone in character.bones},
    )
