"""Shapes recorded in poses, seen at rest."""

import numpy as np
import pytest

from supple.errors import TrainingError
from supple.rig import Influences, Skeleton, SkinnedRig
from supple.subspace.pulled_back import pull_back_all, pulled_back_basis


def bar() -> SkinnedRig:
    """Points about two bones in a row, blended between them."""
    rest = np.random.default_rng(0).uniform((0.0, -0.2, -0.2), (2.0, 0.2, 0.2), (40, 3))
    skeleton = Skeleton.of(["one", "two"], [-1, 0], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]])
    second = np.clip(rest[:, 0] - 0.5, 0.0, 1.0)
    return SkinnedRig(skeleton, Influences.from_dense(np.column_stack([1.0 - second, second])), rest)


def test_snapshots_come_back_to_round_off_with_dual_quaternions() -> None:
    rig, rng = bar(), np.random.default_rng(1)
    poses = rng.normal(0.0, 1.0, (5, len(rig.neutral)))
    u = rng.normal(0.0, 0.1, (5, *rig.rest.shape))
    x = np.array([rig.push_forward(pose, rig.rest + field) for pose, field in zip(poses, u, strict=True)])
    np.testing.assert_allclose(pull_back_all(rig, poses, x), u, atol=1e-14)


def test_the_basis_holds_the_snapshots_and_their_mean() -> None:
    rig, rng = bar(), np.random.default_rng(2)
    mass = rng.uniform(1.0, 2.0, len(rig.rest))
    u = rng.normal(0.0, 0.1, (4, *rig.rest.shape)) + 1.0  # a large mean
    basis = pulled_back_basis(u, mass)
    assert basis.rank == 4
    assert "pulled-back" in basis.source
    np.testing.assert_allclose(basis.columns.T @ (basis.metric[:, None] * basis.columns), np.eye(4), atol=1e-12)
    for field in (*u, u.mean(axis=0)):
        np.testing.assert_allclose(basis.lift(basis.project(field)), field, atol=1e-12)


def test_shapes_that_do_not_fit_the_poses_are_refused() -> None:
    rig = bar()
    with pytest.raises(TrainingError, match="one shape of all vertices for each pose"):
        pull_back_all(rig, np.zeros((2, len(rig.neutral))), np.zeros((3, *rig.rest.shape)))
