"""Skeletons without a mesh: TGF, Pinocchio's joints, MakeHuman's .mhskel, and bones in JSON.

A bone is a joint of supple's: it begins at its head, ends at its tail, and hangs on the bone that ends where it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.raw import to_whole
from supple.io.source import Source, read_source
from supple.io.text import parse_floats, parse_ints, tokens_per_line
from supple.io.tree import parse_json

__all__ = ["BONE_SUFFIXES", "Bones", "load_bones", "read_json"]

FloatArray = NDArray[np.float64]
MOST = 100_000  #: bones that a file may have


@dataclass(frozen=True, eq=False)
class Bones:
    """Bones in the order of the file, lengths in its unit."""

    names: tuple[str, ...]
    parents: tuple[int, ...]
    heads: FloatArray
    """(j, 3)"""
    tails: FloatArray
    """(j, 3)"""
    places: FloatArray | None = None
    """Where poses of its own format have the bones at rest, (j, 3, 4), where they do not begin with nothing."""
    columns: tuple[int, ...] | None = None
    """Number of the bone that each column of weights is of; None: one for each, in order."""


def load_bones(path: Path, points: FloatArray | None = None) -> Bones:
    """The bones in a file; `points` (n, 3) are the vertices of the mesh, which MakeHuman's are measured by."""
    suffix = path.suffix.lower()
    if suffix not in PARSERS:
        raise FileFormatError(f"{path}: bones are read from {', '.join(BONE_SUFFIXES)}; convert it to one of these.")
    source = read_source(path)
    with source.parsing("a skeleton"):
        bones = PARSERS[suffix](source, points)
        if not 0 < len(bones.names) <= MOST:
            raise source.damaged(f"it has {len(bones.names):,} bones")
        count = len(bones.names)
        if not len(bones.parents) == len(bones.heads) == len(bones.tails) == count:
            raise source.damaged("its bones have not a parent, a head and a tail each")
        if not all(-1 <= parent < count for parent in bones.parents):
            wrong = next(k for k, parent in enumerate(bones.parents) if not -1 <= parent < count)
            raise source.damaged(f"bone '{bones.names[wrong][:40]}' hangs on bone {bones.parents[wrong]} of {count}")
        source.check_finite(np.concatenate([bones.heads, bones.tails]), "bones")
        return bones


def read_json(source: Source) -> dict[str, Any]:
    """The object that a JSON file holds."""
    try:
        tree = parse_json(source.data)
    except ValueError as error:
        raise source.damaged(f"it is no valid JSON ({error})") from None
    if not isinstance(tree, dict):
        raise source.damaged("it is no object in JSON")
    return tree


def _chain(source: Source, joints: FloatArray, edges: Sequence[Sequence[int]], names: Sequence[str]) -> Bones:
    """Bones along edges (begin, end) between joints (n, 3)."""
    flat = np.asarray(edges, np.int64).reshape(-1, 2)
    if not len(flat) or flat.min() < 0 or flat.max() >= len(joints):
        raise source.damaged("a bone begins or ends at a joint that is not there")
    ends = {int(end): bone for bone, (_, end) in enumerate(flat)}
    parents = tuple(ends.get(int(begin), -1) for begin, _ in flat)
    return Bones(tuple(names), parents, joints[flat[:, 0]], joints[flat[:, 1]])


def _parse_tgf(source: Source, _: FloatArray | None) -> Bones:
    """Points `number x y z ...`, a line `#`, edges `begin end`; each edge is a bone."""
    pieces = source.data.split(b"#")
    if len(pieces) < 2:
        raise source.damaged("no line with # parts its points from its bones")
    rows = [line.split()[:4] for line in pieces[0].splitlines() if line.strip()]
    table = parse_floats(source, b" ".join(word for row in rows for word in row), "points").reshape(-1, 4)
    if (table[:, 0] != np.arange(1, len(table) + 1)).any():
        raise source.damaged("its points are not numbered from 1")
    edges = parse_ints(source, pieces[1], "bones").reshape(-1, 2) - 1
    return _chain(source, table[:, 1:], edges.tolist(), [f"bone{k + 1}" for k in range(len(edges))])


def _parse_pinocchio(source: Source, _: FloatArray | None) -> Bones:
    """Joints `number x y z parent`; the bone of a joint comes from its parent, and the root has none.

    A joint turns what hangs on it. Where several bones begin, each turns by itself, too: it is called after the joint
    that it ends at where that turns nothing, as a head does.
    """
    words = tokens_per_line(source.data)
    if not words.any() or (words[words > 0] != 5).any():
        raise source.damaged("its joints are not five numbers a line")
    table = parse_floats(source, source.data, "joints").reshape(-1, 5)
    parents = to_whole(source, table[:, 4], "parents")
    if (
        (table[:, 0] != np.arange(len(table))).any()
        or (parents[1:] >= np.arange(1, len(table))).any()
        or parents[0] != -1
    ):
        raise source.damaged("its joints are not numbered from 0 with every parent before its children")
    labels, places = _names_beside(source, len(table)), table[:, 1:4]
    names, above, heads, tails = [], [], [], []
    turning, columns = [-1] * len(table), [0] * (len(table) - 1)  # the joint that turns what hangs on each; of columns

    def add(name: str, parent: int, head: int, tail: int) -> int:
        names.append(name)
        above.append(parent)
        heads.append(places[head])
        tails.append(places[tail])
        return len(names) - 1

    for joint in range(len(table)):
        below = np.flatnonzero(parents == joint)
        if not len(below):
            continue
        own = add(labels[joint], turning[joint], joint, int(below[0]) if len(below) == 1 else joint)
        for end in below:
            leaf = not (parents == end).any()
            one = own if len(below) == 1 else add(labels[end] if leaf else f"{labels[end]}-bone", own, joint, int(end))
            columns[end - 1] = turning[end] = one
    return Bones(tuple(names), tuple(above), np.array(heads), np.array(tails), None, tuple(columns))


def _names_beside(source: Source, count: int) -> list[str]:
    """Names of joints from the file `..._joint_names.txt` beside `..._skeleton.out`, where there is one."""
    names = [f"joint{k}" for k in range(count)]
    path = Path(source.name)
    beside = path.with_name(path.stem.removesuffix("_skeleton") + "_joint_names.txt")
    if beside.is_file():
        for line in read_source(beside).data.decode("utf-8", "replace").splitlines():
            words = line.split()
            if len(words) == 2 and words[0].isdigit() and int(words[0]) < count:
                names[int(words[0])] = words[1]
    return names


def _parse_makehuman(source: Source, points: FloatArray | None) -> Bones:
    """Bones whose ends are the means of vertices of MakeHuman's mesh."""
    tree = read_json(source)
    if points is None:
        raise source.damaged("its bones are measured by a mesh", "name MakeHuman's base mesh with it")
    where = {}
    for name, vertices in tree["joints"].items():
        who = to_whole(source, np.asarray(vertices, np.float64), "joints")
        if not len(who) or who.min() < 0 or who.max() >= len(points):
            raise source.damaged(f"joint '{str(name)[:40]}' is measured by vertices that the mesh has not")
        where[name] = points[who].mean(axis=0)
    names = tuple(tree["bones"])
    bones = list(tree["bones"].values())
    parents = tuple(names.index(bone["parent"]) if bone["parent"] else -1 for bone in bones)
    heads, tails = (np.array([where[bone[end]] for bone in bones]) for end in ("head", "tail"))
    return Bones(names, parents, heads, tails)


def _parse_json(source: Source, _: FloatArray | None) -> Bones:
    """Bones with ends ("bones": segment_start, segment_end), or with places at rest (p0, pI, lengths)."""
    tree = read_json(source)
    if "bones" in tree:
        bones = tree["bones"]
        names = tuple(str(bone.get("name", f"bone{k}")) for k, bone in enumerate(bones))
        heads, tails = (
            np.array([bone[end] for bone in bones], np.float64).reshape(-1, 3)
            for end in ("segment_start", "segment_end")
        )
        return Bones(names, tuple(int(bone["parent"]) for bone in bones), heads, tails)
    if "p0" not in tree:
        raise source.damaged("it has neither bones nor p0", "store bones, or p0, pI and lengths")
    places = np.array(tree["p0"], np.float64).reshape(-1, 3, 4)
    lengths = np.array(tree["lengths"], np.float64).reshape(-1, 1)
    heads = places[:, :, 3]
    tails = heads + lengths * places[:, :, 1]  # bones lie along their own y
    parents = tuple(int(parent) for parent in tree["pI"])
    return Bones(tuple(f"bone{k}" for k in range(len(places))), parents, heads, tails, places)


PARSERS: dict[str, Callable[[Source, FloatArray | None], Bones]] = {
    ".tgf": _parse_tgf,
    ".out": _parse_pinocchio,
    ".mhskel": _parse_makehuman,
    ".json": _parse_json,
}
BONE_SUFFIXES = tuple(PARSERS)  #: suffixes that bones are read from
