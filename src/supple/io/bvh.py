"""BVH: a skeleton and its motion, as motion capture hands them out."""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from supple.errors import FileFormatError, SceneError, SuppleWarning
from supple.io.bvh_hierarchy import CHANNELS, BvhJoint, damaged_at, read_hierarchy
from supple.io.source import Source, read_source
from supple.io.text import cut_lines, parse_floats, tokens_per_line
from supple.rig.motion import Motion
from supple.rig.skeleton import Skeleton

__all__ = ["load_bvh"]

FloatArray = NDArray[np.float64]

BEGIN_MOTION = re.compile(rb"^[ \t]*MOTION[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
#: How far a bone may be pulled from its place, as a share of the skeleton, before it is worth a word.
SLACK = 1e-3


def load_bvh(path: Path, scale: float = 1.0, absolute: bool | None = None) -> tuple[Skeleton, Motion]:
    """The skeleton of a BVH file at rest, `scale` metres a unit, and its motion relative to that rest.

    A bone ends at its first child or its End Site. Position channels add to a joint's OFFSET, or, when `absolute`,
    take its place; programs differ, and None asks the joints below the root: theirs show which it is. Bones keep
    their length: what moves a joint on its parent is left out, with a warning where that shows.
    """
    return parse_bvh(read_source(path), scale, absolute)


def parse_bvh(source: Source, scale: float = 1.0, absolute: bool | None = None) -> tuple[Skeleton, Motion]:
    """As `load_bvh`, from the content of a file."""
    if not (np.isfinite(scale) and scale > 0.0):
        raise SceneError(f"a scale of {scale} metres a unit makes no skeleton of {source.name}: give a number above 0.")
    with source.parsing("a BVH motion"):
        cut = BEGIN_MOTION.search(source.data)
        if cut is None:
            raise source.damaged("it has no line MOTION")
        joints = read_hierarchy(source, source.data[: cut.start()])
        first_line = source.data.count(b"\n", 0, cut.start()) + 1
        width = sum(len(joint.channels) for joint in joints)
        spacing, table = _read_frames(source, source.data[cut.end() :], first_line, width)
        skeleton = _build_skeleton(source, joints, scale)
        moves, turns = _split_channels(joints, table)
        if absolute is None:
            absolute = _are_absolute(joints, moves)
        if absolute:
            moves -= [joint.offset for joint in joints]
        moves *= scale
        _warn_of_pulls(source, skeleton, joints, moves)
        number = {name: place for place, name in enumerate(skeleton.names)}
        places = [number[joint.name] for joint in joints]
        poses = np.zeros((len(table), 3 + 3 * len(joints)))
        poses[:, :3] = moves[:, 0]
        poses[:, 3:].reshape(len(table), -1, 3)[:, places] = turns
        return skeleton, Motion.of(skeleton, spacing * np.arange(len(table)), poses)


def _read_frames(source: Source, text: bytes, line: int, width: int) -> tuple[float, FloatArray]:
    """Seconds from frame to frame, and the channels of every frame, (frames, width); `text` follows line `line`."""
    lines = tokens_per_line(text)
    used = np.flatnonzero(lines)
    if len(used) < 3:
        raise damaged_at(source, line, "no frames follow MOTION")
    head, body = cut_lines(text, int(used[2]))
    said = re.fullmatch(rb"\s*Frames:\s*(\d{1,9})\s+Frame\s+Time:\s*(\S+)\s*", head, re.IGNORECASE)
    if said is None:
        raise damaged_at(
            source, line + int(used[0]), "'Frames: <count>' and 'Frame Time: <seconds>' do not follow MOTION"
        )
    count, spacing = int(said[1]), float(parse_floats(source, said[2], "frame time")[0])
    if spacing <= 0.0:
        raise damaged_at(source, line + int(used[1]), f"a frame time of {spacing:g} s is not above 0")
    rows = used[2:]
    wrong = np.flatnonzero(lines[rows] != width)
    if len(wrong):
        row = int(rows[wrong[0]])
        raise damaged_at(source, line + row, f"a frame holds {lines[row]} numbers where the channels need {width}")
    if len(rows) != count:
        raise source.damaged(f"it has {len(rows):,} frames where it promises {count:,}", "correct the count of frames")
    try:
        return spacing, parse_floats(source, body, "frames").reshape(count, width)
    except FileFormatError:
        words = body.split()
        place = next(k for k, word in enumerate(words) if not _is_finite(word))
        frame, word = divmod(place, width)[0], words[place][:20].decode("utf-8", "replace")
        raise damaged_at(
            source, line + int(rows[frame]), f"frame {frame} holds '{word}', not a finite number"
        ) from None


def _is_finite(word: bytes) -> bool:
    try:
        return bool(np.isfinite(float(word))) and b"_" not in word
    except ValueError:
        return False


def _build_skeleton(source: Source, joints: list[BvhJoint], scale: float) -> Skeleton:
    """The joints at rest; a bone without a child or End Site ends where it begins."""
    heads = np.zeros((len(joints), 3))
    for k, joint in enumerate(joints):
        heads[k] = scale * joint.offset + (heads[joint.parent] if joint.parent >= 0 else 0.0)
    tails = heads + scale * np.array([joint.end for joint in joints])
    for k, joint in enumerate(joints):
        tails[k] = heads[joint.children[0]] if joint.children else tails[k]
    if not (np.isfinite(heads).all() and np.isfinite(tails).all()):
        raise source.damaged("its offsets are too large to add up")
    return Skeleton.of([joint.name for joint in joints], [joint.parent for joint in joints], heads, tails)


def _split_channels(joints: list[BvhJoint], table: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positions, in the file's unit, and rotation vectors [rad] of the joints, each (frames, j, 3)."""
    moves, turns = np.zeros((2, len(table), len(joints), 3))
    firsts = np.cumsum([0, *(len(joint.channels) for joint in joints)])
    alike: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)  # joints by their channels
    for k, joint in enumerate(joints):
        alike[tuple(joint.channels)].append(k)
    for channels, members in alike.items():
        values = table[:, firsts[members][:, None] + np.arange(len(channels))]
        axes = ""
        for place, channel in enumerate(channels):
            axis, kind = CHANNELS[channel]
            if kind == "position":
                moves[:, members, "xyz".index(axis)] = values[:, :, place]
            else:
                axes += axis
        if axes:  # the first channel turns last
            angles = values[:, :, [CHANNELS[channel][1] == "rotation" for channel in channels]]
            turned = Rotation.identity(len(table) * len(members))
            for place, axis in enumerate(axes):
                turned = turned * Rotation.from_euler(axis, angles[:, :, place].reshape(-1, 1), degrees=True)
            turns[:, members] = turned.as_rotvec().reshape(len(table), len(members), 3)
    return moves, turns


def _moves(joint: BvhJoint) -> bool:
    return joint.parent >= 0 and any(CHANNELS[channel][1] == "position" for channel in joint.channels)


def _are_absolute(joints: list[BvhJoint], moves: FloatArray) -> bool:
    """Whether the positions of joints on their parents are nearer to their offsets than to nothing."""
    moving = [k for k, joint in enumerate(joints) if _moves(joint)]
    offsets = np.array([joints[k].offset for k in moving]).reshape(-1, 3)
    return float(np.abs(moves[:, moving] - offsets).sum()) < float(np.abs(moves[:, moving]).sum())


def _warn_of_pulls(source: Source, skeleton: Skeleton, joints: list[BvhJoint], moves: FloatArray) -> None:
    """Say which joint leaves its place on its parent most, if that shows."""
    pulls = [
        float(np.linalg.norm(moves[:, k], axis=1).max()) if _moves(joint) else 0.0 for k, joint in enumerate(joints)
    ]
    most = int(np.argmax(pulls))
    if pulls[most] > SLACK * float(np.ptp(skeleton.tails, axis=0).max()):
        warnings.warn(
            f"{source.name} moves joint '{joints[most].name}' by up to {pulls[most]:.3g} m from its place on its "
            "parent, which is left out: bones keep their length.",
            SuppleWarning,
            stacklevel=4,
        )
