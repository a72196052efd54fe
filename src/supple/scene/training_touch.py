"""What a character's subspace is to know of before it is made: where it touches itself, and its regions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.method.pose_contact import find_corrections, pick_touching
from supple.rig import PoseSpace, Rig
from supple.scene.stage import Stage
from supple.scene.units import to_metres
from supple.subspace.pose_columns import PoseColumns
from supple.subspace.regions import Regions, find_regions
from supple.subspace.self_touch import SelfTouch

__all__ = ["Touched", "find_touched", "scene_regions"]

FloatArray = NDArray[np.float64]

SHARE = 4  #: of the poses that may have a basis, one in so many is one that passes through itself


class Touched(NamedTuple):
    """A rig that keeps a body clear of itself, and how its subspaces are to be made."""

    rig: Rig
    given: FloatArray
    """Poses that have a basis in any case, (g, p)."""
    corrected: FloatArray
    """Poses in which the rig is corrected, (q, p)."""
    corrections: NDArray[np.float32]
    """[m], (q, n, 3)"""
    touch: SelfTouch | None
    maker: PoseColumns


def find_touched(stage: Stage, rig: Rig, among: FloatArray, given: FloatArray) -> Touched:
    """The rig of a scene, corrected in those poses of its motion (k, p) and of the given ones (g, p) that need it."""
    table, contact, regions = stage.scene.training, stage.contact, scene_regions(stage)
    nothing = np.zeros((0, rig.neutral.size)), np.zeros((0, *rig.rest.shape), np.float32)
    if contact is None or not contact.self_contact:
        return Touched(rig, given, *nothing, None, PoseColumns(None, regions))
    found = pick_touching(stage.body, rig, np.concatenate([given, among]), max(table.max_poses // SHARE, 1), contact)
    corrections = np.asarray(find_corrections(stage.body, rig, found, contact), np.float32)
    touch = SelfTouch(stage.mesh, table.contact, contact)
    maker = PoseColumns(touch, regions)
    if not len(corrections):
        return Touched(rig, given, *nothing, touch, maker)
    parted = PoseSpace(rig, found, corrections)
    return Touched(parted, np.concatenate([given, found]), found, corrections, touch, maker)


def scene_regions(stage: Stage) -> Regions | None:
    """The regions that a scene names; None where it names none."""
    table = to_metres(stage.scene.training, stage.scene.metres)
    return find_regions(stage.mesh, [one.region(k) for k, one in enumerate(table.region)]) if table.region else None
