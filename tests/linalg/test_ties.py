"""Choices that round-off does not make: equal candidates, equal eigenvalues, signs."""

import numpy as np
import pytest

from supple.linalg.ties import (
    MARGIN,
    TIED,
    first_largest,
    first_smallest,
    in_single,
    is_within,
    largest_first,
    settled_turn,
)

NOISE = 1e-10


@pytest.mark.parametrize("seed", range(5))
def test_round_off_does_not_choose_among_equal_candidates(seed: int) -> None:
    values = np.array([3.0, 7.0, 7.0, 1.0, 7.0, -2.0])
    noisy = values * (1.0 + NOISE * np.random.default_rng(seed).standard_normal(6))
    assert first_largest(noisy) == 1
    assert first_smallest(-noisy) == 1
    assert largest_first(noisy).tolist() == [1, 2, 4, 0, 3, 5]
    assert largest_first(noisy, 2).tolist() == [1, 2]


def test_what_differs_by_more_than_the_margin_is_chosen() -> None:
    values = np.array([1.0, 1.0 + 3.0 * MARGIN, 1.0])
    assert first_largest(values) == 1
    assert first_largest(values, 10.0 * MARGIN) == 0
    assert largest_first(values).tolist() == [1, 0, 2]


def test_candidates_that_are_ruled_out_are_infinite() -> None:
    assert first_largest(np.array([-np.inf, 2.0, -np.inf])) == 1
    assert first_largest(np.array([1.0, np.inf, np.inf])) == 1
    assert first_smallest(np.array([np.inf, np.inf])) == 0
    assert largest_first(np.array([-np.inf, 2.0, -np.inf, 3.0])).tolist() == [3, 1, 0, 2]
    assert largest_first(np.zeros(0)).tolist() == []


def test_a_limit_is_met_up_to_the_margin() -> None:
    assert is_within(0.02 * (1.0 + NOISE), 0.02)
    assert not is_within(0.02 * (1.0 + 3.0 * MARGIN), 0.02)


def test_eigenvectors_of_equal_eigenvalues_are_those_of_their_space() -> None:
    rng = np.random.default_rng(1)
    metric = rng.uniform(0.5, 2.0, 40)
    vectors = np.linalg.qr(rng.standard_normal((40, 6)))[0] / np.sqrt(metric)[:, None]
    values = np.array([1.0, 2.0, 2.0 * (1.0 + 0.1 * TIED), 2.0, 5.0, 6.0])
    settled = vectors @ settled_turn(values, vectors, metric)
    assert np.abs(settled.T @ (metric[:, None] * settled) - np.eye(6)).max() < 1e-13
    turn = np.diag([-1.0, 1.0, 1.0, 1.0, 1.0, -1.0])
    turn[1:4, 1:4] = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned = vectors @ turn
    again = turned @ settled_turn(values * (1.0 + 0.1 * TIED * rng.uniform(-1, 1, 6)), turned, metric)
    assert np.abs(again - settled).max() < 1e-12


def test_vectors_of_different_eigenvalues_keep_their_directions() -> None:
    vectors = np.linalg.qr(np.random.default_rng(2).standard_normal((10, 4)))[0]
    turn = settled_turn(np.array([4.0, 3.0, 2.0, 1.0]), vectors)
    assert np.array_equal(np.abs(turn), np.eye(4))


def test_displacements_in_single_precision_forget_last_digits() -> None:
    u = np.random.default_rng(3).standard_normal((5, 4, 3))
    assert np.array_equal(in_single(u), in_single(u + 1e-15 * u))
    assert in_single(u).dtype == np.float64
    assert np.abs(in_single(u) - u).max() < 1e-6
