"""Poses of a neighbour beside a bone as coordinates: their distances are those of its surface."""

import numpy as np
import pytest

from supple.rig.relative_poses import RelativePoses
from supple.rig.skeleton import Skeleton

BONES = Skeleton.of(["upper", "lower"], [-1, 0], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]])
POINTS = np.array([1.5, 0.0, 0.0]) + np.random.default_rng(0).normal(0.0, 0.2, (40, 3))


def poses(count: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0.0, 0.5, (count, 9))


def seen_from_upper(pose: np.ndarray) -> np.ndarray:
    R, t = BONES.transforms(pose)
    return (POINTS @ R[1].T + t[1] - t[0]) @ R[0]


def test_distances_are_those_of_the_surface() -> None:
    """Four poses span three directions at most, so six components hold them all."""
    given = poses(4)
    seen = RelativePoses.of(BONES, 0, 1, POINTS, given)
    at = [seen.locate(*BONES.transforms(pose)) for pose in given]
    assert max(beside for _, beside in at) < 1e-7
    for i in range(4):
        for j in range(i):
            away = np.linalg.norm(seen_from_upper(given[i]) - seen_from_upper(given[j]), axis=1)
            assert np.linalg.norm(at[i][0] - at[j][0]) == pytest.approx(np.sqrt((away**2).mean()), rel=1e-9)


def test_what_components_cannot_say_is_told_apart() -> None:
    given = poses(2)
    seen = RelativePoses.of(BONES, 0, 1, POINTS, given)
    other = poses(3)[2]
    at, beside = seen.locate(*BONES.transforms(other))
    mean = np.mean([seen_from_upper(pose) for pose in given], axis=0)
    whole = np.linalg.norm(seen_from_upper(other) - mean, axis=1)
    assert np.hypot(np.linalg.norm(at), beside) == pytest.approx(np.sqrt((whole**2).mean()), rel=1e-9)
    assert beside > 0.1


def test_where_the_whole_body_is_does_not_matter() -> None:
    given = poses(3)
    seen = RelativePoses.of(BONES, 0, 1, POINTS, given)
    moved = given[0].copy()
    moved[:6] = [3.0, -2.0, 1.0, 0.4, 1.2, -0.7]
    np.testing.assert_allclose(
        seen.locate(*BONES.transforms(moved))[0], seen.locate(*BONES.transforms(given[0]))[0], atol=1e-9
    )
