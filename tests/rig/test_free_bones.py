"""Bones that go where they are put, each on its own."""

import numpy as np
import pytest

from supple.rig import Influences, SkinnedRig
from supple.rig.free_bones import FreeBones

BONES = FreeBones.of(["palm", "tip"], [-1, 0], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [1.5, 0, 0]])


def test_bones_turn_and_shift_alone() -> None:
    pose = BONES.neutral
    pose[6:] = [0.0, 0.0, np.pi / 2, 0.0, 0.0, 2.0]
    R, t = BONES.transforms(pose)
    np.testing.assert_allclose(R[0], np.eye(3))
    np.testing.assert_allclose(R[1] @ [1.0, 0.0, 0.0] + t[1], [0.0, 1.0, 2.0], atol=1e-12)
    assert len(BONES.controls) == len(pose) == 12


@pytest.mark.parametrize("mode", ["dual_quaternion", "linear"])
def test_skin_goes_with_its_bones(mode) -> None:
    rest = np.random.default_rng(0).normal(size=(6, 3))
    rig = SkinnedRig(BONES, Influences.from_dense(np.repeat(np.eye(2), 3, axis=0), None), rest, mode)
    pose = np.random.default_rng(1).uniform(-1.0, 1.0, 12)
    R, t = (np.repeat(part, 3, axis=0) for part in BONES.transforms(pose))
    x = np.einsum("nij,nj->ni", R, rest) + t
    np.testing.assert_allclose(rig.positions(pose), x, atol=1e-12)
    np.testing.assert_allclose(rig.positions(pose, np.array([4, 1])), x[[4, 1]], atol=1e-12)
    np.testing.assert_allclose(rig.place_and_turn(pose), np.hstack([x, R.reshape(-1, 9)]), atol=1e-12)


def test_a_turn_by_a_whole_circle_is_no_distance() -> None:
    one, other = BONES.neutral, BONES.neutral
    one[2], other[2] = 0.3, 0.3 - 2.0 * np.pi
    np.testing.assert_allclose(BONES.embed(one), BONES.embed(other), atol=1e-12)
    other[3] = 0.5
    assert np.isclose(np.linalg.norm(BONES.embed(one) - BONES.embed(other)), 0.5)


def test_no_point_is_farther_than_its_entries_by_their_spans() -> None:
    rng = np.random.default_rng(0)
    for one, other in rng.uniform(-2.0, 2.0, (50, 2, 12)):
        assert np.linalg.norm(BONES.embed(one) - BONES.embed(other)) <= np.linalg.norm(BONES.spans * (one - other))
