"""Lists of poses as research codes leave them: Pinocchio's motions, and folders of posed bones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.errors import FileFormatError
from supple.io.source import Source, read_source
from supple.io.text import parse_floats, tokens_per_line
from supple.rig.motion import Motion
from supple.rig.skeleton import Skeleton

__all__ = ["BoneFrames", "load_bone_frames", "load_pinocchio_motion"]

FloatArray = NDArray[np.float64]

#: Joints of a Pinocchio motion and their parents; l is the side of smaller x, as Pinocchio names its skeletons.
HIERARCHY = (
    ("hips", -1),
    *(("rthigh", 0), ("rknee", 1), ("rankle", 2), ("rfoot", 3)),
    *(("lthigh", 0), ("lknee", 5), ("lankle", 6), ("lfoot", 7)),
    *(("back", 0), ("head", 9)),
    *(("rcollar", 9), ("rshoulder", 11), ("relbow", 12), ("rhand", 13)),
    *(("lcollar", 9), ("lshoulder", 15), ("lelbow", 16), ("lhand", 17)),
)
JOINTS, PARENTS = [name for name, _ in HIERARCHY], [parent for _, parent in HIERARCHY]
FPS = 120.0
Y_UP = [1, 2, 0]  #: the files have x forward and z up; here x is to the side, y up, z forward


def load_pinocchio_motion(path: Path, scale: float = 1e-3) -> tuple[Skeleton, Motion]:
    """The skeleton, `scale` metres a unit, y up, and the motion of a text file with 114 numbers a frame.

    They are a rotation vector [rad] and the place on the parent of 19 joints. At rest nothing is turned and the hips
    are in the origin.
    """
    source = read_source(path)
    with source.parsing("a Pinocchio motion"):
        table = _read_table(source, 6 * len(JOINTS)).reshape(-1, len(JOINTS), 2, 3)[..., Y_UP]
        turns, places = table[:, :, 0], scale * table[:, :, 1]
        if np.ptp(places[:, 1:], axis=0).max() > 1e-6 * np.abs(places[:, 1:]).max():
            raise source.damaged("its bones change their length", "give a motion of one skeleton")
        heads = np.zeros((len(JOINTS), 3))
        for k, parent in enumerate(PARENTS[1:], start=1):
            heads[k] = heads[parent] + places[0, k]
        tails = [heads[PARENTS.index(k)] if k in PARENTS else heads[k] for k in range(len(JOINTS))]
        skeleton = Skeleton.of(JOINTS, PARENTS, heads, tails)
        order = [JOINTS.index(name) for name in skeleton.names]
        poses = np.concatenate([places[:, 0], turns[:, order].reshape(len(table), -1)], axis=1)
        return skeleton, Motion.of(skeleton, np.arange(len(table)) / FPS, poses)


@dataclass(frozen=True, eq=False)
class BoneFrames:
    """Rigid bones placed one by one, frame after frame; not always hinged, so not a motion of a skeleton."""

    parents: NDArray[np.int32]
    """Number of each bone's parent, -1 for a root, (j,)."""
    lengths: FloatArray
    """Lengths of the bones [m], (j,), along their own z, halfway to both sides of their place."""
    rotations: FloatArray
    """Rotations of the bones in the world, (k, j, 3, 3)."""
    places: FloatArray
    """Places of their middles in the world [m], (k, j, 3)."""

    def ends(self, frame: int = 0) -> tuple[FloatArray, FloatArray]:
        """Where the bones begin and end in a frame [m], each (j, 3)."""
        half = 0.5 * self.lengths[:, None] * self.rotations[frame, :, :, 2]
        return self.places[frame] - half, self.places[frame] + half

    def transforms(self, frame: int, rest: int = 0) -> tuple[FloatArray, FloatArray]:
        """R (j, 3, 3) and t (j, 3) that take points of each bone from the rest frame to another: x = R X + t."""
        R = self.rotations[frame] @ self.rotations[rest].transpose(0, 2, 1)
        return R, self.places[frame] - np.einsum("jab,jb->ja", R, self.places[rest])


def load_bone_frames(folder: Path, scale: float = 1.0) -> BoneFrames:
    """The frames of a folder of .skeleton files in the order of their names, `scale` metres a unit.

    A bone is three lines: number, place, parent; a quaternion x y z w; length and radius.
    """
    paths = sorted(folder.glob("*.skeleton"))
    if not paths:
        raise FileFormatError(f"{folder} holds no .skeleton files; name the folder of the poses.")
    frames = [_read_bones(read_source(path)) for path in paths]
    for path, frame in zip(paths, frames, strict=True):
        if frame.shape != frames[0].shape or (frame[:, [4, 9]] != frames[0][:, [4, 9]]).any():
            raise FileFormatError(
                f"{path} has other bones than {paths[0]}; keep the frames of one skeleton in a folder."
            )
    table = np.array(frames)
    rotations = Rotation.from_quat(table[:, :, 5:9].reshape(-1, 4)).as_matrix().reshape(*table.shape[:2], 3, 3)
    parents, lengths = table[0, :, 4].astype(np.int32), scale * table[0, :, 9]
    return BoneFrames(parents, lengths, rotations, scale * table[:, :, 1:4])


def _read_bones(source: Source) -> FloatArray:
    """Number, place, parent, quaternion, length and radius of every bone, (j, 11)."""
    with source.parsing("posed bones"):
        words = tokens_per_line(source.data)
        words = words[words > 0]
        if not len(words) or len(words) % 3 or (words.reshape(-1, 3) != [5, 4, 2]).any():
            raise source.damaged("its bones are not three lines of 5, 4 and 2 numbers")
        bones = parse_floats(source, source.data, "bones").reshape(-1, 11)
        numbers = np.arange(len(bones))
        if (bones[:, 0] != numbers).any() or (bones[:, 4] >= numbers).any() or (bones[:, 4] < -1).any():
            raise source.damaged("its bones are not numbered from 0 with every parent before its children")
        if (np.abs(np.linalg.norm(bones[:, 5:9], axis=1) - 1.0) > 1e-3).any():
            raise source.damaged("one of its quaternions is not of length 1")
        return bones


def _read_table(source: Source, width: int) -> FloatArray:
    """Rows of `width` numbers, one a line, (k, width)."""
    words = tokens_per_line(source.data)
    wrong = np.flatnonzero((words != width) & (words > 0))
    if len(wrong) or not words.any():
        line = int(wrong[0]) if len(wrong) else 0
        raise source.damaged(f"line {line + 1}: a frame holds {words[line]} numbers, not {width}")
    return parse_floats(source, source.data, "frames").reshape(-1, width)
