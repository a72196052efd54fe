"""Non-negative least squares: the same answer as SciPy's, sparse when stopped early."""

import numpy as np
import pytest
from scipy.optimize import nnls as scipy_nnls

from supple.linalg.nnls import nnls


def make_system(seed: int, rows: int = 80, columns: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, columns))
    return A, A @ np.maximum(rng.standard_normal(columns), 0.0) + rng.standard_normal(rows)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("columns", [5, 50, 120])
def test_weights_equal_those_of_scipy(seed: int, columns: int) -> None:
    A, b = make_system(seed, columns=columns)
    exact, length = scipy_nnls(A, b)
    fit = nnls(A.T @ A, A.T @ b, float(b @ b))
    assert np.allclose(fit.weights, exact, atol=1e-10)
    assert np.sqrt(fit.residual) == pytest.approx(length, abs=1e-5)
    assert (fit.weights >= 0.0).all()


def test_optimality_holds_where_columns_repeat_or_vanish() -> None:
    A, b = make_system(1, columns=120)
    A[:, 10], A[:, 20], A[:, 30] = A[:, 3], 0.0, 2.0 * A[:, 4] + 1e-7 * A[:, 5]
    fit = nnls(A.T @ A, A.T @ b, float(b @ b))
    slope = A.T @ (b - A @ fit.weights)
    assert slope.max() < 1e-5 * np.abs(A.T @ b).max()
    assert np.linalg.norm(A @ fit.weights - b) == pytest.approx(scipy_nnls(A, b)[1], abs=1e-6)


def test_early_stop_leaves_the_residual_asked_for_and_few_weights() -> None:
    A, b = make_system(2, rows=200, columns=100)
    square = float(b @ b)
    whole, early = nnls(A.T @ A, A.T @ b, square), nnls(A.T @ A, A.T @ b, square, enough=0.3 * square)
    assert early.residual <= 0.3 * square
    assert early.residual == pytest.approx(np.sum((A @ early.weights - b) ** 2))
    assert 0 < np.count_nonzero(early.weights) < np.count_nonzero(whole.weights)


def test_no_more_weights_than_allowed() -> None:
    A, b = make_system(3)
    assert np.count_nonzero(nnls(A.T @ A, A.T @ b, float(b @ b), most=7).weights) == 7


def test_first_columns_are_tried_first() -> None:
    A, b = make_system(4)
    right = A.T @ b
    first = np.flatnonzero(right > 0.0)[:1]
    fit = nnls(A.T @ A, right, float(b @ b), most=1, first=first)
    assert np.flatnonzero(fit.weights) == first
