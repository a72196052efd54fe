"""Trainers: all of them reach the tolerance with non-negative weights, the same for the same seed."""

import numpy as np
import pytest

from supple.cubature import (
    TRAINERS,
    DenseProblem,
    ElementProblem,
    Poses,
    Rule,
    Trainer,
    draw_coordinates,
    fit_error,
    train_pool,
    train_shared,
)
from supple.cubature.prune import prune
from supple.cubature.sketch import Sketch
from supple.cubature.support import Support
from supple.errors import SuppleWarning
from supple.linalg.nnls import nnls

TOLERANCE = 0.05
everyone = pytest.mark.parametrize("trainer", TRAINERS.values(), ids=TRAINERS)


def contact_pairs(seed: int = 0) -> DenseProblem:
    """Candidates that are no elements: pairs that push along few shared directions, some never touching."""
    rng = np.random.default_rng(seed)
    shapes = rng.standard_normal((3, 40, 5))
    forces = np.einsum("ck,ksw->csw", rng.uniform(0.2, 1.0, (300, 3)), shapes)
    forces += 0.02 * rng.standard_normal(forces.shape)
    forces[::7] = 0.0
    return DenseProblem(forces)


@pytest.mark.parametrize("count", [12, 6], ids=["all positive", "some would be negative"])
def test_fitted_weights_are_the_best_that_are_not_negative(count: int) -> None:
    forces = np.random.default_rng(0).standard_normal((12, 8, 3))
    support = Support(DenseProblem(forces), np.arange(count))
    best = nnls(support.gram, support.right, support.square).weights
    assert (np.linalg.solve(support.gram, support.right).min() > 0.0) == (count == 12)
    support.fit()
    assert np.array_equal(support.members, np.flatnonzero(best))
    assert np.allclose(support.weights, best[best > 0.0], rtol=1e-10)


@everyone
def test_rule_meets_the_tolerance_with_few_non_negative_weights(beam, trainer: Trainer) -> None:
    rule = trainer(beam.problem, TOLERANCE, np.random.default_rng(0))
    A = beam.problem.columns(rule.members)
    b = beam.problem.target()
    recomputed = np.linalg.norm(rule.weights @ A - b) / np.linalg.norm(b)
    assert rule.training_error == pytest.approx(recomputed, rel=1e-10)
    assert rule.training_error <= TOLERANCE
    assert (rule.weights > 0.0).all()
    assert (np.diff(rule.members) > 0).all()
    assert 5 <= rule.size <= 0.1 * beam.problem.candidates


def test_pruning_that_spoils_a_rule_is_undone(beam, monkeypatch) -> None:
    """Squares that it counts are round-off where columns nearly depend on each other."""

    def spoil(gram, right, square, enough):
        kept = np.zeros(len(right), bool)
        kept[:2] = True
        return kept

    monkeypatch.setattr("supple.cubature.pool.prune", spoil)
    rule = train_pool(beam.problem, TOLERANCE, np.random.default_rng(0))
    assert rule.training_error <= TOLERANCE
    assert rule.size > 2


@everyone
def test_same_seed_gives_the_same_rule(beam, trainer: Trainer) -> None:
    first, second = (trainer(beam.problem, TOLERANCE, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first.members, second.members)
    assert np.array_equal(first.weights, second.weights)


@everyone
def test_candidates_need_not_be_elements(trainer: Trainer) -> None:
    problem = contact_pairs()
    rule = trainer(problem, TOLERANCE, np.random.default_rng(0))
    assert rule.training_error <= TOLERANCE
    assert rule.size < 60
    assert problem.norms(rule.members).all()


@everyone
def test_warm_start_keeps_a_rule_that_still_serves(beam, trainer: Trainer) -> None:
    """Of ten elements, how many stay depends on the candidates that are drawn: most of them, over a few draws, and
    more than a rule that begins without the old one happens to share with it."""
    kept = np.zeros((5, 2))
    for seed, shares in enumerate(kept):
        old = train_pool(beam.problem, 0.8 * TOLERANCE, np.random.default_rng(seed))
        for k, begin in enumerate((old, None)):
            rule = trainer(beam.problem, TOLERANCE, np.random.default_rng(seed + 1), begin)
            assert rule.training_error <= TOLERANCE
            shares[k] = np.isin(rule.members, old.members).mean()
    warm, cold = kept.mean(axis=0)
    assert warm > max(0.5, cold)


@everyone
def test_tolerance_out_of_reach_is_said_with_the_figure(trainer: Trainer) -> None:
    problem = DenseProblem(np.random.default_rng(0).standard_normal((12, 8, 5)))
    with pytest.warns(SuppleWarning, match=r"leaves .* % of the 8 training samples"):
        rule = trainer(problem, 1e-18, np.random.default_rng(0))
    assert rule.training_error > 1e-18


def test_pool_is_no_larger_than_the_baselines(beam) -> None:
    sizes = {name: train(beam.problem, 0.02, np.random.default_rng(0)).size for name, train in TRAINERS.items()}
    assert sizes["pool"] == min(sizes.values())


def test_pool_asks_the_others_where_it_does_not_suffice(beam, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("supple.cubature.pool._CANDIDATES", (20, 0))
    rule = train_pool(beam.problem, 0.02, np.random.default_rng(0))
    assert rule.training_error <= 0.02


def test_pool_takes_no_more_than_it_may_and_the_best_of_them(beam) -> None:
    whole = train_pool(beam.problem, 0.02, np.random.default_rng(0))
    with pytest.warns(SuppleWarning, match="unexplained"):
        few = train_pool(beam.problem, 0.02, np.random.default_rng(0), most=whole.size // 2)
    assert few.size <= whole.size // 2
    assert (few.weights > 0.0).all()
    assert 0.02 < few.training_error < 0.3


def test_pruning_keeps_the_residual_and_the_signs() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 25)) + 1.0
    b = A @ rng.uniform(0.0, 1.0, 25)
    gram, right, square = A.T @ A, A.T @ b, float(b @ b)
    kept = prune(gram, right, square, 1e-3 * square)
    fit = nnls(gram[np.ix_(kept, kept)], right[kept], square)
    assert 0 < kept.sum() < 25
    assert fit.residual <= 1e-3 * square
    assert (fit.weights > 0.0).all()


def test_sketch_keeps_lengths_on_average() -> None:
    rng = np.random.default_rng(0)
    lines = rng.standard_normal((40, 5000))
    short = Sketch(5000, 1000, rng).apply(lines)
    assert short.shape == (40, 1000)
    assert np.linalg.norm(short) == pytest.approx(np.linalg.norm(lines), rel=0.05)
    assert Sketch(5000, 6000, rng).apply(lines) is lines


def test_poses_share_candidates_and_have_weights_of_their_own(beam) -> None:
    poses = [
        ElementProblem(beam.body, beam.basis, Poses(beam.body, beam.basis, q))
        for q in (draw_coordinates(beam.basis, reach, 30, np.random.default_rng(9)) for reach in (0.05, 0.5))
    ]
    shared = train_shared(poses, TOLERANCE, np.random.default_rng(0))
    assert shared.weights.shape == (2, shared.size)
    assert (shared.weights >= 0.0).all()
    together = np.sqrt(np.mean(shared.training_errors**2))
    assert together <= TOLERANCE  # weights of a pose's own fit no worse than common ones
    for k, problem in enumerate(poses):
        rule = shared.at_pose(k)
        assert isinstance(rule, Rule)
        assert rule.training_error == pytest.approx(fit_error(problem, rule.members, rule.weights))
    assert np.allclose(shared.blend(np.array([0.25, 0.75])), [0.25, 0.75] @ shared.weights)
    assert (shared.blend(np.array([2.0, -1.0])) >= 0.0).all()
