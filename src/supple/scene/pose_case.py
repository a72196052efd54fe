"""A training case that goes through poses nobody moves to in the scene: listed ones, and ones drawn within ranges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.rig import Motion
from supple.scene.cases import Case, make_case
from supple.scene.rigging import Rigging
from supple.scene.stage import Stage

__all__ = ["draw_pose_case", "find_poses"]

FloatArray = NDArray[np.float64]
_ROLE = 2  # of the seed, beside those of cases and of held-out ones
_STATIC, _MOVING = 3, 12  # steps from a pose to the next


def draw_pose_case(stage: Stage) -> Case | None:
    """The case; None where the scene asks for no poses."""
    rigging = stage.drive.rigging
    if rigging is None:
        return None
    poses = find_poses(stage, rigging)
    if not len(poses):
        return None
    time, is_static = stage.scene.time, stage.scene.time.integrator == "static"
    steps = (_STATIC if is_static else _MOVING) * len(poses)
    end = time.frames / time.fps if is_static else steps / (time.fps * time.substeps)
    keys = np.concatenate([rigging.course.pose(0.0)[None], poses])
    motion = Motion.of(rigging.rig, np.linspace(0.0, end, len(keys)), keys, "linear")
    moved = replace(rigging, course=replace(rigging.course, motion=motion))
    return make_case(stage, "poses-0000", replace(stage.drive, rigging=moved), 0.0 * stage.velocity, steps)


def find_poses(stage: Stage, rigging: Rigging) -> FloatArray:
    """Poses of `training.poses`, then those drawn within the joints' ranges, (k, p)."""
    table = stage.scene.training
    listed = [rigging.posing.pose(one) for one in table.poses]
    if table.range_poses and not rigging.ranges.names:
        raise SceneError(
            f"training.range_poses = {table.range_poses}, and the rig knows no ranges of its joints: list poses in "
            "training.poses."
        )
    rng = np.random.default_rng([table.seed, _ROLE])
    drawn = [rigging.ranges.draw(rigging.rig.neutral, rng) for _ in range(table.range_poses)]
    return np.array([*listed, *drawn]).reshape(-1, len(rigging.rig.controls))
