"""Poses are put where the basis between them is worst, and no more of them than it takes."""

import numpy as np
import pytest
from pose_beams import bent_beam, fan

from supple.errors import SuppleWarning, TrainingError
from supple.subspace import choose_poses
from supple.subspace.alignment import ALIGNMENTS


def degrees(poses: np.ndarray) -> list[float]:
    return np.rad2deg(poses[:, 0]).round(1).tolist()


def test_poses_are_added_until_the_first_frequencies_are_right() -> None:
    bases = choose_poses(*bent_beam("cantilever"), fan(135, 49), 24)
    assert degrees(bases.poses) == [0.0, -135.0, 135.0, -67.5, 67.5]
    assert bases.between is not None
    assert len(bases.between.poses) == 10
    assert max(bases.frequencies[bases.alignment]) < 0.03


def test_poses_that_are_not_needed_are_not_added() -> None:
    bases = choose_poses(*bent_beam("core"), fan(135, 49), 24, alignments=ALIGNMENTS)
    assert degrees(bases.poses) == [0.0, -135.0, 135.0]


def test_given_poses_come_first_and_only_once() -> None:
    given = np.deg2rad([[30.0], [0.0], [30.0]])
    bases = choose_poses(*bent_beam("core"), fan(90, 9), 6, given=given, alignments=("rotframe",))
    assert degrees(bases.poses)[:2] == [0.0, 30.0]
    assert len(bases.poses) == 4


def test_too_few_poses_are_told() -> None:
    with pytest.warns(SuppleWarning, match="between the 3 poses"):
        bases = choose_poses(*bent_beam("cantilever"), fan(135, 9), 12, most=3, alignments=("paper",))
    assert len(bases.poses) == 3


def test_a_motion_that_stands_still_needs_its_one_pose() -> None:
    bases = choose_poses(*bent_beam("core"), np.zeros((5, 1)), 6)
    assert degrees(bases.poses) == [0.0]


def test_poses_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TrainingError, match="rig of 1 controls"):
        choose_poses(*bent_beam("core"), np.zeros((5, 2)), 6)
    with pytest.raises(TrainingError, match="allow more"):
        choose_poses(*bent_beam("core"), fan(90, 9), 6, given=fan(60, 4), most=3)
