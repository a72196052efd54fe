"""Inverse kinematics of chains."""

import numpy as np
import pytest

from supple.errors import ArgumentError, SceneError
from supple.rig.inverse_kinematics import Chain
from supple.rig.skeleton import Skeleton

LINK = 0.3
HINGE = [[0.0, 0.0, -0.1], [0.0, 0.0, 2.5]]


def _arm() -> Skeleton:
    """A root bone with an arm of three links along x, and a second limb."""
    heads = [(0, -0.5, 0), (0, 0, 0), (0, 0, 0), (LINK, 0, 0), (2 * LINK, 0, 0)]
    tails = [(0, 0, 0), (-1, 0, 0), (LINK, 0, 0), (2 * LINK, 0, 0), (3 * LINK, 0, 0)]
    return Skeleton.of(["root", "other", "upper", "lower", "hand"], [-1, 0, 0, 2, 3], heads, tails)


def test_derivative_of_the_end_is_that_of_its_position():
    chain = Chain(_arm(), "root", "hand")
    pose = np.random.default_rng(1).standard_normal(18)
    slopes = chain._look(pose, np.zeros(3))[1]
    for h in (1e-3, 1e-4):
        steps = h * np.eye(18)[[3, 4, 5, *range(9, 18)]]
        differences = np.array([(chain.end(pose + s) - chain.end(pose - s)) / (2 * h) for s in steps]).T
        assert np.abs(slopes - differences).max() < 2.0 * h**2


@pytest.mark.parametrize("limits", [None, {"lower": HINGE, "hand": HINGE}], ids=["free", "hinges"])
def test_reachable_targets_are_reached_within_the_limits(limits):
    arm, rng = _arm(), np.random.default_rng(2)
    chain = Chain(arm, "upper", "hand", limits)
    for _ in range(12):
        pose = arm.neutral
        pose[9:12] = rng.standard_normal(3)
        if limits is None:
            pose[12:18] = rng.standard_normal(6)
        else:
            pose[[14, 17]] = rng.uniform(-0.1, 2.5, 2)
        found = chain.reach(chain.end(pose))
        assert found.reached
        assert found.distance < 1e-6
        np.testing.assert_allclose(chain.end(found.pose), chain.end(pose), atol=1e-6)
        if limits is not None:
            hinges = found.pose[[14, 17]]
            assert ((hinges >= -0.1) & (hinges <= 2.5)).all()
            assert not found.pose[[12, 13, 15, 16]].any()


def test_joints_off_the_chain_stay_as_they_were():
    arm = _arm()
    pose = arm.neutral
    pose[[0, 5, 7]] = 0.2, 0.3, -0.4
    chain = Chain(arm, "upper", "hand")
    found = chain.reach(chain.end(pose) + [-0.1, 0.05, 0.0], pose)
    assert found.reached
    np.testing.assert_array_equal(found.pose[:9], pose[:9])


def test_where_the_end_is_already_nothing_moves():
    arm = _arm()
    pose = 0.3 * np.random.default_rng(3).standard_normal(18)
    chain = Chain(arm, "upper", "hand")
    np.testing.assert_allclose(chain.reach(chain.end(pose), pose).pose, pose, atol=1e-12)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0, 1, 0), (-0.6, 0.0, 0.8)])
def test_out_of_reach_the_chain_stretches_towards_the_target(direction):
    target = 2.0 * np.array(direction)
    found = Chain(_arm(), "upper", "hand").reach(target)
    assert not found.reached
    assert found.distance == pytest.approx(2.0 - 3 * LINK, abs=1e-6)


def test_straight_chain_shortens():
    """A target on the line of a straight arm: every angle moves its end across, none along."""
    assert Chain(_arm(), "upper", "hand").reach((0.5, 0.0, 0.0)).reached


def test_nearest_pose_within_limits_is_found():
    """One hinge from 0 to 45 degrees, the target behind it: the nearest is the end of its range."""
    arm = _arm()
    chain = Chain(arm, "hand", "hand", {"hand": [[0, 0, 0], [0, 0, np.pi / 4]]})
    found = chain.reach((2 * LINK, 1.0, 0.0))
    assert not found.reached
    assert found.pose[17] == pytest.approx(np.pi / 4, abs=1e-9)
    tip = np.array([2 * LINK + LINK * np.sqrt(0.5), LINK * np.sqrt(0.5), 0.0])
    assert found.distance == pytest.approx(float(np.linalg.norm(tip - [2 * LINK, 1.0, 0.0])))


def test_same_question_gives_the_same_answer():
    chain = Chain(_arm(), "upper", "hand", {"lower": HINGE})
    poses = [chain.reach((0.1, 0.4, -0.2)).pose for _ in range(2)]
    np.testing.assert_array_equal(poses[0], poses[1])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: Chain(_arm(), "other", "hand"), "'hand' does not hang from 'other'"),
        (lambda: Chain(_arm(), "upper", "foot"), "no joint 'foot'"),
        (lambda: Chain(Skeleton.of(["a"], [-1], [[0, 0, 0]], [[0, 0, 0]]), "a", "a"), "no length"),
        (lambda: Chain(_arm(), "upper", "hand", {"lower": [[1, 0, 0], [0, 0, 0]]}), r"Chain\(limits\['lower'\]\)"),
        (lambda: Chain(_arm(), "upper", "hand", {"knee": HINGE}), "no joint 'knee'"),
        (lambda: Chain(_arm(), "upper", "hand").reach((0.0, np.nan, 0.0)), "not finite"),
        (lambda: Chain(_arm(), "upper", "hand").reach((0, 0, 0), np.full(18, np.nan)), "not a finite number"),
    ],
)
def test_questions_without_sense_are_refused(ask, message):
    with pytest.raises((ArgumentError, SceneError), match=message):
        ask()
