"""Bones without a body: a skeleton's file, or a motion's, as lines that move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supple.io.bone_file import BONE_SUFFIXES, load_bones
from supple.io.bvh import load_bvh
from supple.rig import Motion, Skeleton
from supple.view.figures import set_scene
from supple.view.room import Room

if TYPE_CHECKING:
    import viser

__all__ = ["BoneReel", "is_bone_file", "open_bones"]

FloatArray = NDArray[np.float64]
MOST = 30  #: frames a second that a motion is shown at, at most
COLOUR, JOINTS = (189, 108, 82), (60, 60, 60)


def is_bone_file(path: Path) -> bool:
    """Whether the name is that of bones or of their motion."""
    return path.suffix.lower() in (".bvh", *BONE_SUFFIXES)


def open_bones(path: Path) -> BoneReel:
    """The skeleton of a file, and its motion if there is one."""
    if path.suffix.lower() == ".bvh":
        return BoneReel(*load_bvh(path))
    bones = load_bones(path)
    return BoneReel(Skeleton.of(bones.names, bones.parents, bones.heads, bones.tails), None)


class BoneReel:
    """A skeleton's motion: a line for every bone, and one to every joint that does not begin where its parent ends."""

    def __init__(self, skeleton: Skeleton, motion: Motion | None) -> None:
        self._skeleton, self._motion = skeleton, motion
        self.times: tuple[float, ...] = (0.0,)
        self.indices: tuple[int, ...] = (0,)
        if motion is not None and len(motion.times) > 1:
            step = max(1, round(1.0 / (MOST * float(np.median(np.diff(motion.times))))))
            self.times = tuple((motion.times[::step] - motion.times[0]).tolist())
            self.indices = tuple(range(0, len(motion.times), step))

    def lines(self, place: int) -> FloatArray:
        """Ends of all lines at a place of the motion [m], (l, 2, 3)."""
        bones = self._skeleton
        R, t = bones.transforms(bones.neutral if self._motion is None else self._motion.poses[self.indices[place]])
        heads, tails = ((R @ points[:, :, None])[:, :, 0] + t for points in (bones.heads, bones.tails))
        apart = np.flatnonzero((bones.parents >= 0) & self._is_apart())
        return np.concatenate(
            [np.stack([heads, tails], axis=1), np.stack([tails[bones.parents[apart]], heads[apart]], axis=1)]
        )

    def describe(self) -> str:
        """What there is to see."""
        moved = "no motion" if self._motion is None else f"{len(self._motion.times)} frames of motion"
        return f"{len(self._skeleton)} joints, {moved}"

    def furnish(self, server: viser.ViserServer) -> None:
        """Put the lines into the page."""
        points = np.concatenate([self.lines(place).reshape(-1, 3) for place in (0, len(self.times) - 1)])
        self._room = Room.around(points, "y")
        set_scene(server, self._room)
        shown = self._room.enter(self.lines(0))
        self._lines = server.scene.add_line_segments("/bones", shown, COLOUR, thickness=4.0, thickness_units="screen")
        self._joints = server.scene.add_point_cloud(
            "/joints", shown[:, 0], JOINTS, point_size=0.012, point_shape="circle", precision="float32"
        )

    def show(self, place: int) -> None:
        """Move the lines."""
        shown = self._room.enter(self.lines(place))
        self._lines.points, self._joints.points = shown, shown[:, 0]

    def _is_apart(self) -> NDArray[np.bool_]:
        """Which joints do not begin where the bone of their parent ends, (j,)."""
        bones = self._skeleton
        gap = np.linalg.norm(bones.heads - bones.tails[bones.parents], axis=1)
        return np.asarray(gap > 1e-6 * np.ptp(bones.heads, axis=0).max(initial=1e-12))
