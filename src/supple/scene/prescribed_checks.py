"""Pins and bones that go through colliders."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from supple.contact.touch import Overlap, overlaps
from supple.scene.finding import Finding
from supple.scene.overlap import DEEP, point_text
from supple.scene.stage import Stage

__all__ = ["check_prescribed"]

MOST_FRAMES = 48  #: frames of a run at which colliders are compared with what is held
MOST_NAMED = 3  #: pins and bones that one finding names
THIN = 0.25  #: share of a collider's thickness at which a held vertex counts as going through it


def check_prescribed(stage: Stage) -> Iterator[Finding]:
    """Pins and bones that go through colliders, where contact cannot stop them.

    What a pin holds in a collider from the start is meant to be there.
    """
    drive, fps, first = stage.drive, stage.scene.time.fps, -stage.scene.time.preroll
    if stage.contact is None or not drive.obstacles or not len(drive.body.pins.vertices):
        return
    frames = range(first, stage.scene.time.frames + 1) if drive.moves else range(first, first + 1)
    names, bones = _list_owners(stage)
    for number, obstacle in enumerate(drive.obstacles):
        least, worst = _least_depth(stage, number), None
        meant = np.zeros(len(stage.mesh.vertices), np.bool_)
        found: set[int] = set()
        for frame in frames[:: 1 + len(frames) // MOST_FRAMES]:
            moment, owner = drive.moment(frame / fps), _own(stage, bones, frame / fps)
            x = stage.mesh.vertices.copy()
            x[drive.body.pins.vertices] = moment.targets
            where = [obstacle.solid], [moment.colliders[number]], x
            if frame == first:
                for inside in overlaps(*where, _numbers((owner >= 0) & (owner < len(drive.parts)))):
                    meant[inside.vertices] = True
            for inside in overlaps(*where, _numbers((owner >= 0) & ~meant), least):
                found.update(owner[inside.vertices].tolist())
                if worst is None or inside.depth > worst[1].depth:
                    worst = frame, inside
        if worst is not None:
            yield _tell([names[one] for one in sorted(found)], obstacle.key, *worst, stage.scene.metres)


def _list_owners(stage: Stage) -> tuple[list[str], NDArray[np.int64]]:
    """The pins, then the joints, by name; and the number of each vertex that the rig holds, -1 for others, (n,)."""
    drive, owner = stage.drive, np.full(len(stage.mesh.vertices), -1)
    pins = [part.pin.name for part in drive.parts]
    names = [f"pin[{number}]" + (f' "{name}"' if name else "") for number, name in enumerate(pins)]
    rigging = drive.rigging
    if rigging is None:
        return names, owner
    held = rigging.held.pins.vertices
    if rigging.bones is None:
        owner[held] = len(names)
        return [*names, "the rig"], owner
    owner[held] = len(names) + rigging.bones.influences.joints[held, 0]
    return [*names, *(f"joint '{name}'" for name in rigging.bones.skeleton.names)], owner


def _own(stage: Stage, bones: NDArray[np.int64], time: float) -> NDArray[np.int64]:
    """The number of what holds each vertex along all axes at `time` [s], -1 where nothing does, (n,)."""
    owner, pins = bones.copy(), stage.body.pins
    for number, part in enumerate(stage.drive.parts):
        if part.pin.from_ is None and part.pin.holds(time):
            owner[part.vertices] = number
    owner[pins.vertices[~pins.held.all(axis=1)]] = -1
    return owner


def _numbers(chosen: NDArray[np.bool_]) -> NDArray[np.int32]:
    return np.flatnonzero(chosen).astype(np.int32)


def _least_depth(stage: Stage, number: int) -> float:
    """Depth [m] from which a held vertex counts as inside a collider."""
    deep = DEEP * stage.mesh.surface().mean_edge()
    low, high = list(stage.collider_surfaces().values())[number].bounds()
    thickness = float(np.min(np.subtract(high, low)))
    return min(deep, THIN * thickness) if thickness > 0.0 else deep


def _tell(names: list[str], collider: str, frame: int, worst: Overlap, unit: float) -> Finding:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    what, verb = ", ".join(names[:MOST_NAMED]) + more, "goes" if len(names) == 1 else "go"
    return Finding(
        "warning",
        "overlap",
        f"{what} {verb} through {collider}: at frame {frame} the deepest held vertex is "
        f"{worst.depth / unit:.4g} deep at {point_text(worst.place / unit)} in scene units, where contact cannot stop "
        "it; change the motion, or move the collider.",
    )
