"""What readers of characters share: weights set right, bones that end somewhere, a clip's rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.io.character import Part
from supple.io.limits import check_count, current_limits
from supple.io.source import Source
from supple.mesh.checks import plural
from supple.rig import Influences, Skeleton

__all__ = ["bind_weights", "frame_times", "hang_parts", "name_apart"]

FloatArray = NDArray[np.float64]
RATES = (24.0, 25.0, 30.0, 50.0, 60.0, 100.0, 120.0)  #: frames a second that clips are made at
USUAL = 30.0  #: of a clip that tells none
NEARLY = 0.9  #: share of the keys that must be frames
MAIN = 0.5  #: weight above which a vertex belongs to a bone


def bind_weights(
    source: Source, name: str, joints: NDArray[np.integer], weights: FloatArray, count: int, points: FloatArray
) -> tuple[Influences | None, list[str]]:
    """Influences of `count` joints out of what a file has for the vertices of a part, and what was set right.

    A vertex without weight takes that of the nearest which has some; None when no vertex has any.
    """
    source.check_finite(weights, f"weights of '{name}'")
    notes = []
    if (weights < 0.0).any():
        below = int((weights < 0.0).any(axis=1).sum())
        least = f"down to {weights.min():.2g}"
        notes.append(f"'{name}': took negative weights of {plural(below, 'vertex', 'vertices')}, {least}, as 0")
        weights = np.maximum(weights, 0.0)
    outside = (weights > 0.0) & ((joints < 0) | (joints >= count))
    if outside.any():
        vertex, place = np.argwhere(outside)[0]
        raise source.damaged(
            f"vertex {vertex} of '{name[:40]}' follows joint {joints[vertex, place]} where it has {count}"
        )
    bare = weights.sum(axis=1) <= 0.0
    if bare.all():
        return None, [*notes, f"'{name}' has no weights and stands still"]
    if bare.any():
        near = np.flatnonzero(~bare)[cKDTree(points[~bare]).query(points[bare])[1]]
        joints, weights = joints.copy(), weights.copy()
        joints[bare], weights[bare] = joints[near], weights[near]
        lost = plural(int(bare.sum()), "vertex", "vertices")
        notes.append(f"'{name}': {lost} without weight took that of the nearest")
    found = Influences.of(joints, weights, count)
    return found, notes + [f"'{name}': {note}" for note in found.notes]


def hang_parts(
    names: Sequence[str],
    parents: Sequence[int],
    heads: FloatArray,
    parts: Sequence[Part],
    tails: FloatArray | None = None,
) -> tuple[Skeleton | None, NDArray[np.intp], list[Part]]:
    """The skeleton of those joints that move something, their numbers among the given, and the parts hung on it.

    Left out is what has no weight and nothing below it that has, and from the top what only carries one joint.
    """
    above = list(parents)
    used = np.zeros(len(names), np.bool_)
    for part in parts:
        if part.influences is not None:
            used[part.influences.joints[part.influences.weights > 0.0]] = True
    if not used.any():
        return None, np.empty(0, np.intp), [replace(part, influences=None) for part in parts]
    ends = _end_bones(heads, above, parts) if tails is None else tails
    busy = used.copy()
    for k in np.flatnonzero(used):
        at = above[k]
        while at >= 0 and not busy[at]:
            busy[at] = True
            at = above[at]
    roots = [k for k in np.flatnonzero(busy) if above[k] < 0]
    while len(roots) == 1 and not used[roots[0]]:
        below = [k for k in np.flatnonzero(busy) if above[k] == roots[0]]
        if len(below) > 1:
            break
        busy[roots[0]], above[below[0]], roots = False, -1, below
    kept = np.flatnonzero(busy)
    place = np.full(len(names), -1)
    place[kept] = np.arange(len(kept))
    labels = name_apart([names[int(k)] for k in kept])
    over = [place[above[k]] if above[k] >= 0 else -1 for k in kept]
    skeleton = Skeleton.of(labels, over, heads[kept], ends[kept])
    order = kept[[labels.index(name) for name in skeleton.names]]
    place[order] = np.arange(len(order))
    hung = [
        part if part.influences is None
        else replace(part, influences=replace(part.influences, joints=_renumber(part.influences, place)))
        for part in parts
    ]  # fmt: skip
    return skeleton, order, hung


def _renumber(influences: Influences, place: NDArray[np.intp]) -> NDArray[np.int32]:
    """The joints by their new numbers; those without weight repeat the first."""
    found = place[influences.joints]
    return np.where(influences.weights > 0.0, found, found[:, :1]).astype(np.int32)


def _end_bones(heads: FloatArray, parents: Sequence[int], parts: Sequence[Part]) -> FloatArray:
    """Where bones of which only the heads are known end [m], (j, 3).

    At the middle of the joints that hang on them, or else of the vertices that follow them most.
    """
    tails, count = heads.copy(), len(heads)
    sums, sizes = np.zeros((count, 3)), np.zeros(count)
    for part in parts:
        if part.influences is not None:
            main = part.influences.weights[:, 0] > MAIN
            np.add.at(sums, part.influences.joints[main, 0], part.vertices[main])
            np.add.at(sizes, part.influences.joints[main, 0], 1.0)
    above = np.asarray(parents)
    for k in range(count):
        below = np.flatnonzero((above == k) & (np.linalg.norm(heads - heads[k], axis=1) > 0.0))
        if len(below):
            tails[k] = heads[below].mean(axis=0)
        elif sizes[k]:
            tails[k] = sums[k] / sizes[k]
    return tails


def frame_times(source: Source, keys: FloatArray, joints: int, rate: float | None = None) -> tuple[float, FloatArray]:
    """Frames a second of a clip with these times of keys [s], where it has none of its own, and its frames' times [s].

    The lowest of the usual rates at which nearly every key is a frame; the highest where none is.
    """
    begin, end = float(keys.min()), float(keys.max())
    if rate is None:
        apart = (keys - begin)[keys > begin]
        fits = (one for one in RATES if (np.abs(apart * one - np.round(apart * one)) < 0.02).mean() > NEARLY)
        rate = (next(fits, RATES[-1]) if len(apart) else USUAL) if end > begin else USUAL
    count = (end - begin) * rate + 1.0
    check_count(source.name, int(min(count, 1e15)), "frames")
    if count * joints * 96.0 > current_limits().bytes:
        raise source.damaged(f"a clip of {count:,.0f} frames of {joints:,} joints is too large", "cut it into pieces")
    return rate, begin + np.arange(round(count)) / rate


def name_apart(names: Sequence[str]) -> list[str]:
    """The names with numbers behind those that come again."""
    found: list[str] = []
    taken = set(names)
    for name in names:
        number, apart = 1, name
        while apart in found or (number > 1 and apart in taken):
            number += 1
            apart = f"{name}.{number}"
        found.append(apart)
    return found
