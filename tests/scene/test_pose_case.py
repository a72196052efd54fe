"""Poses that are learned from though the scene never takes them."""

from typing import Any

import numpy as np
import pytest

from supple.errors import SceneError
from supple.scene import Stage, parse_scene, set_stage
from supple.scene.pose_case import draw_pose_case, find_poses

POSES = [{"pose": "bent_back"}, {"second": [0, 0, 60]}]


def stage_of(integrator: str, **training: Any) -> Stage:
    tables = {
        "time": {"fps": 24, "frames": 12, "integrator": integrator},
        "mesh": {"shape": "capsule", "resolution": 6},
        "rig": {},
        "motion": {"keys": [{"t": 0.4, "pose": "bent"}]},
        "method": {"name": "reduced"},
        "training": training,
    }
    return set_stage(parse_scene(tables))


@pytest.mark.parametrize("integrator", ["static", "newmark"])
def test_a_case_goes_through_listed_poses(integrator: str) -> None:
    stage = stage_of(integrator, poses=POSES)
    case = draw_pose_case(stage)
    assert case is not None
    listed = find_poses(stage, stage.drive.rigging)
    every = case.steps // len(listed)
    np.testing.assert_allclose(case.poses()[every::every], listed, atol=1e-9)
    np.testing.assert_allclose(np.degrees(listed[1][-1]), 60.0)


def test_poses_drawn_keep_to_the_ranges_and_to_the_seed() -> None:
    stage = stage_of("static", range_poses=20)
    poses = find_poses(stage, stage.drive.rigging)
    np.testing.assert_array_equal(poses, find_poses(stage, stage.drive.rigging))
    assert np.ptp(poses, axis=0)[-3:].min() > 1.0  # rad: they are all about
    assert not any(stage.drive.rigging.ranges.beyond(pose, 1e-6) for pose in poses)
    other = stage_of("static", range_poses=20, seed=1)
    assert np.abs(find_poses(other, other.drive.rigging) - poses).max() > 0.1


def test_no_poses_no_case() -> None:
    assert draw_pose_case(stage_of("static")) is None


def test_ranges_that_nobody_knows_are_refused() -> None:
    stage = stage_of("static", range_poses=2)
    object.__setattr__(stage.drive.rigging.posing.actor, "ranges", {})
    with pytest.raises(SceneError, match=r"training\.range_poses = 2"):
        draw_pose_case(stage)
