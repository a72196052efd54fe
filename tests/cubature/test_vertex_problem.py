"""Vertices that stand for all in gravity and in the inertia of a moving frame."""

import numpy as np
import pytest
from skinned_helpers import MODES, random_pose, skinned_rod

from supple.cubature import TRAINERS, fit_error
from supple.cubature.skinned_samples import SkinnedSamples, draw_skinned
from supple.cubature.train_skinned import train_particles
from supple.cubature.vertex_problem import draw_accelerations, vertex_problem
from supple.errors import TrainingError
from supple.rig import SkinnedRig
from supple.subspace import Basis, diagonalise, linear_modes

RANK = 6


def rod(mode: str = "dual_quaternion") -> tuple[SkinnedRig, Basis]:
    rig, body = skinned_rod(mode)
    return rig, diagonalise(linear_modes(body, RANK), body)


def some_samples(rig: SkinnedRig, basis: Basis, count: int, rng: np.random.Generator) -> SkinnedSamples:
    poses = np.array([random_pose(rig, rng, 0.3) for _ in range(5)])
    return draw_skinned(basis, poses, rng.normal(0.0, 0.002, (RANK, 5)), 0.01, count, rng)


def test_columns_sum_to_the_reduced_field() -> None:
    _, basis = rod()
    rng = np.random.default_rng(0)
    fields = rng.standard_normal((len(basis.mass), 3, 4)).astype(np.float32)
    problem = vertex_problem(basis, fields)
    scales = np.sqrt(basis.importance.min() / basis.importance)
    for k, row in enumerate(problem.target().reshape(4, RANK)):
        exact = basis.project(fields[:, :, k].astype(float)) * scales
        np.testing.assert_allclose(row, exact / np.linalg.norm(exact), atol=1e-5)
    columns = problem.columns(np.arange(problem.candidates))
    np.testing.assert_allclose(columns.sum(axis=0), problem.target(), atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_of_few_vertices_is_right_about_other_samples(mode: str) -> None:
    rig, basis = rod(mode)
    rng = np.random.default_rng(1)
    samples = some_samples(rig, basis, 20, rng)
    rule = train_particles(rig, basis, samples.poses, samples.coordinates[:, :5], 0.03, rng)
    assert rule.size < len(basis.mass) / 4
    others = vertex_problem(basis, draw_accelerations(rig, basis, some_samples(rig, basis, 30, rng), rng))
    assert fit_error(others, rule.members, rule.weights) < 0.1  # poses it has not seen, too


@pytest.mark.parametrize("name", list(TRAINERS))
def test_every_trainer_serves(name: str) -> None:
    rig, basis = rod()
    rng = np.random.default_rng(2)
    problem = vertex_problem(basis, draw_accelerations(rig, basis, some_samples(rig, basis, 12, rng), rng))
    rule = TRAINERS[name](problem, 0.2, rng)
    assert fit_error(problem, rule.members, rule.weights) <= 0.2


def test_the_rule_has_nothing_to_do_for_gravity_where_all_turns_with_the_root() -> None:
    rig, basis = rod()
    pose = rig.neutral
    pose[3:6] = 0.5, 1.0, -0.3
    samples = SkinnedSamples(pose[None], np.zeros(3, np.intp), np.zeros((RANK, 3)))
    fields = draw_accelerations(rig, basis, samples, np.random.default_rng(3))
    assert np.abs(fields[:, :, 2]).max() < 1e-6  # every third is gravity
    assert np.abs(fields[:, :, 0]).max() > 1e-6


def test_fields_without_force_are_refused() -> None:
    _, basis = rod()
    with pytest.raises(TrainingError, match="force to fit"):
        vertex_problem(basis, np.zeros((len(basis.mass), 3, 2), np.float32))
