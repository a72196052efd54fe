"""Elements of a skinned body in a subspace: against the whole mesh, and trained."""

import numpy as np
import pytest
from skinned_helpers import MODES, pulled_back_force, random_pose, skinned_rod

from supple.cubature import Rule
from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.skinned_elements import SkinnedElements
from supple.cubature.skinned_problem import skinned_problem
from supple.cubature.skinned_samples import SkinnedSamples, draw_skinned
from supple.cubature.train_skinned import train_skinned_rule
from supple.elastic import Body
from supple.errors import SuppleWarning, TrainingError
from supple.rig import SkinnedRig
from supple.subspace import Basis, diagonalise, linear_modes

RANK = 6


def every_element(rig: SkinnedRig, body: Body, columns: np.ndarray) -> SkinnedElements:
    count = len(body.mesh.tets)
    return SkinnedElements.build(body, rig, columns, np.arange(count), np.ones(count))


def modes(body: Body, rank: int = RANK) -> Basis:
    return diagonalise(linear_modes(body, rank), body)


@pytest.mark.parametrize("mode", MODES)
def test_all_elements_give_the_pulled_back_force(mode: str) -> None:
    rig, body = skinned_rod(mode)
    rng = np.random.default_rng(0)
    columns = rng.standard_normal((3 * len(body.mass), RANK))
    skinned = every_element(rig, body, columns)
    for _ in range(4):
        pose, q = random_pose(rig, rng), rng.normal(0.0, 0.01, RANK)
        elements = skinned.pose(pose)
        expected = pulled_back_force(rig, body, columns, pose, q)
        np.testing.assert_allclose(elements.force(q), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        x = rig.push_forward(pose, rig.rest + (columns @ q).reshape(-1, 3))
        assert elements.energy(q) == pytest.approx(body.energy(x), rel=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_stiffness_is_the_derivative_of_the_force(mode: str) -> None:
    rig, body = skinned_rod(mode)
    rng = np.random.default_rng(1)
    elements = every_element(rig, body, modes(body).columns).pose(random_pose(rig, rng))
    q, step = rng.normal(0.0, 0.002, RANK), 1e-6
    K = elements.stiffness(q)
    for k, unit in enumerate(np.eye(RANK)):
        slope = (elements.force(q + step * unit) - elements.force(q - step * unit)) / (2.0 * step)
        np.testing.assert_allclose(K[k], slope, rtol=0, atol=1e-5 * np.abs(K).max())


def test_neutral_pose_gives_the_unskinned_elements() -> None:
    rig, body = skinned_rod()
    members, weights = np.array([3, 40, 41, 7]), np.array([1.0, 2.0, 0.5, 4.0])
    columns = modes(body).columns
    skinned = SkinnedElements.build(body, rig, columns, members, weights)
    skinned.pose(random_pose(rig, np.random.default_rng(2)))  # leaves nothing behind
    found, plain = skinned.pose(rig.neutral), ReducedElements.build(body, columns, members, weights)
    np.testing.assert_allclose(found.gradient, plain.gradient, rtol=0, atol=1e-12 * np.abs(plain.gradient).max())
    np.testing.assert_allclose(found.rest, plain.rest, atol=1e-13)
    np.testing.assert_array_equal(found.single[:, :, :RANK].reshape(-1, RANK), found.gradient.astype(np.float32))
    assert not found.single[:, :, RANK:].any()
    np.testing.assert_array_equal(found.table, plain.table)


def test_a_turn_of_the_root_costs_nothing() -> None:
    rig, body = skinned_rod()
    pose = rig.neutral
    pose[:6] = 0.3, -2.0, 5.0, 1.0, -0.7, 2.0
    q = np.random.default_rng(3).normal(0.0, 0.01, RANK)
    skinned = every_element(rig, body, modes(body).columns)
    turned, still = skinned.pose(pose).energy(q), skinned.pose(rig.neutral).energy(q)
    assert turned == pytest.approx(still, rel=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_the_training_problem_sums_the_pulled_back_forces(mode: str) -> None:
    rig, body = skinned_rod(mode)
    rng = np.random.default_rng(4)
    basis, poses = modes(body), np.array([random_pose(rig, rng, 0.3) for _ in range(3)])
    samples = SkinnedSamples(poses, np.array([2, 0, 1, 0, 2]), rng.normal(0.0, 0.004, (RANK, 5)))
    problem = skinned_problem(body, rig, basis, samples)
    scales = np.sqrt(basis.importance.min() / basis.importance)
    target = problem.target().reshape(5, RANK)
    for k in range(5):
        force = pulled_back_force(rig, body, basis.columns, poses[samples.which[k]], samples.coordinates[:, k]) * scales
        np.testing.assert_allclose(target[k], force / np.linalg.norm(force), atol=2e-5)
    everyone = np.arange(problem.candidates)
    columns = problem.columns(everyone)
    np.testing.assert_allclose(columns.sum(axis=0), problem.target(), atol=2e-5)
    np.testing.assert_allclose(problem.norms(), np.linalg.norm(columns, axis=1), rtol=1e-4)
    probe = rng.standard_normal(columns.shape[1])
    np.testing.assert_allclose(problem.gradient(probe), columns @ probe, atol=1e-4 * np.abs(columns @ probe).max())
    np.testing.assert_allclose(
        problem.columns(np.array([5, 2]), np.array([1, 3])).reshape(2, 2, RANK),
        columns.reshape(-1, 5, RANK)[[5, 2]][:, [1, 3]],
        atol=1e-6,
    )


def test_a_trained_rule_is_right_about_samples_it_has_not_seen() -> None:
    rig, body = skinned_rod(resolution=10)
    rng = np.random.default_rng(5)
    basis, poses = modes(body), np.array([random_pose(rig, rng, 0.3) for _ in range(6)])
    recorded = rng.normal(0.0, 0.002, (RANK, 6))
    rule = train_skinned_rule(body, rig, basis, poses, recorded, 0.05, rng)
    assert rule.size < len(body.mesh.tets) / 10
    assert (rule.heldout_error or 1.0) < 0.075
    assert (rule.frequency_error or 1.0) < 0.05
    pose, q = poses[2], 1.1 * recorded[:, 2]
    force = SkinnedElements.build(body, rig, basis.columns, rule.members, rule.weights).pose(pose).force(q)
    expected = pulled_back_force(rig, body, basis.columns, pose, q)
    scales = np.sqrt(1.0 / basis.importance)
    assert np.linalg.norm((force - expected) * scales) < 0.15 * np.linalg.norm(expected * scales)


def test_samples_are_about_what_was_recorded() -> None:
    rig, body = skinned_rod()
    rng = np.random.default_rng(6)
    basis, recorded = modes(body), rng.normal(0.0, 1.0, (RANK, 3))
    samples = draw_skinned(basis, np.zeros((3, len(rig.neutral))), recorded, 1e-9, 8, rng)
    whole = samples.which[::2]
    np.testing.assert_allclose(samples.coordinates[:, ::2], recorded[:, whole], atol=1e-6)
    share = samples.coordinates[0, 1::2] / recorded[0, samples.which[1::2]]
    assert ((share > 0.0) & (share < 1.0)).all()
    with pytest.raises(TrainingError, match="one pose for each"):
        draw_skinned(basis, np.zeros((2, len(rig.neutral))), recorded, 1.0, 8, rng)


def test_a_rule_that_misses_says_so() -> None:
    rig, body = skinned_rod()
    rng = np.random.default_rng(7)

    def lazy(problem, tolerance, rng, warm=None) -> Rule:
        return Rule(np.arange(3), np.ones(3), 0.9, trainer="lazy")

    with pytest.warns(SuppleWarning, match="held-out samples"):
        train_skinned_rule(
            body, rig, modes(body), rig.neutral[None], rng.normal(0.0, 0.002, (RANK, 1)), 0.01, rng, trainer=lazy
        )


def test_shapes_of_the_skinning_alone_are_refused() -> None:
    rig, body = skinned_rod()
    with pytest.raises(TrainingError, match="skinning alone"):
        train_skinned_rule(
            body, rig, modes(body), rig.neutral[None], np.zeros((RANK, 1)), 0.01, np.random.default_rng(8)
        )
