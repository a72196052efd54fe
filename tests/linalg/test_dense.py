"""Small dense systems and the symmetric product inside compiled loops, against NumPy."""

import numpy as np
import pytest
from numba import njit

from supple.linalg.blas import add_square, square_address
from supple.linalg.dense import cholesky, cholesky_solve


def definite(size: int, condition: float = 1e4) -> np.ndarray:
    """A symmetric matrix with eigenvalues from 1 to 1/condition."""
    turn = np.linalg.qr(np.random.default_rng(size).normal(size=(size, size)))[0]
    return (turn * np.logspace(0.0, -np.log10(condition), size)) @ turn.T


@pytest.mark.parametrize("size", [1, 2, 7, 40, 131])
def test_factor_is_that_of_numpy_and_reads_the_lower_triangle_only(size: int) -> None:
    A = definite(size)
    L = np.tril(A) + np.triu(np.full((size, size), np.nan), 1)
    assert cholesky(L)
    assert np.allclose(np.tril(L), np.linalg.cholesky(A), rtol=0, atol=1e-13)
    assert np.isnan(L[np.triu_indices(size, 1)]).all(), "the upper triangle is left alone"


@pytest.mark.parametrize("size", [1, 2, 7, 40, 131])
def test_solution_leaves_a_residual_of_round_off(size: int) -> None:
    A = definite(size)
    b = np.random.default_rng(0).normal(size=size)
    L, x = A.copy(), b.copy()
    assert cholesky(L)
    cholesky_solve(L, x)
    assert np.abs(A @ x - b).max() < 1e-14 * size * np.abs(x).max()
    assert np.allclose(x, np.linalg.solve(A, b), rtol=1e-9)


def shifted(size: int, shift: float) -> np.ndarray:
    """A definite matrix whose smallest eigenvalue, 1e-4, is moved by `shift`."""
    return definite(size) - shift * np.eye(size)


@pytest.mark.parametrize(
    "matrix",
    [
        shifted(12, 2e-4),
        shifted(12, 2.0),
        -np.eye(3),
        np.zeros((4, 4)),
        np.ones((3, 3)),
        np.full((3, 3), np.nan),
        np.where(np.arange(36).reshape(6, 6) == 32, np.nan, definite(6)),
        np.diag([1.0, np.nan]),
        np.diag([1.0, -np.inf]),
    ],
    ids=["one negative", "all negative", "minus one", "zero", "singular", "nan", "one nan below", "nan pivot", "-inf"],
)
def test_matrices_without_a_factor_are_refused(matrix: np.ndarray) -> None:
    assert not cholesky(matrix.copy())


def test_solver_can_be_called_from_a_compiled_loop() -> None:
    @njit
    def solve(A, b):
        found = cholesky(A)
        cholesky_solve(A, b)
        return found

    A = definite(9)
    x = A @ np.arange(9.0)
    assert solve(A.copy(), x)
    assert np.allclose(x, np.arange(9.0), atol=1e-10)


@pytest.mark.parametrize(("begin", "end"), [(0, 60), (9, 27), (45, 60), (18, 18)])
@pytest.mark.parametrize(("sign", "keep"), [(1.0, 0.0), (-1.0, 1.0), (1.0, 1.0), (-1.0, 0.0), (2.0, 0.5)])
def test_square_adds_chosen_rows_with_sign_to_what_is_kept(begin: int, end: int, sign: float, keep: float) -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(60, 13)).astype(np.float32)
    K = rng.normal(size=(13, 13)).astype(np.float32)
    rows = A[begin:end].astype(np.float64)
    expected = np.tril(keep * K.astype(np.float64) + sign * rows.T @ rows) + np.triu(K, 1)
    add_square(square_address(), A, begin, end, sign, keep, K)
    assert np.allclose(K, expected, rtol=0, atol=4e-7 * max(1.0, np.abs(rows.T @ rows).max(initial=0.0)))
    assert np.array_equal(np.triu(K, 1), np.triu(expected, 1).astype(np.float32)), "the upper triangle is left alone"


def test_square_that_keeps_nothing_forgets_a_failed_one() -> None:
    A = np.random.default_rng(2).normal(size=(20, 5)).astype(np.float32)
    K = np.full((5, 5), np.nan, np.float32)
    add_square(square_address(), A, 0, 20, 1.0, 0.0, K)
    assert np.allclose(np.tril(K), np.tril(A.T @ A), atol=1e-5)
    K[:] = np.nan
    add_square(square_address(), A, 20, 20, 1.0, 0.0, K)
    assert np.array_equal(np.tril(K), np.zeros((5, 5))), "no rows: nothing is left"


@pytest.mark.parametrize("rank", [1, 2, 17, 100])
def test_square_of_any_rank_is_the_same_every_time(rank: int) -> None:
    A = np.random.default_rng(rank).normal(size=(90, rank)).astype(np.float32)
    found = []
    for _ in range(2):
        K = np.zeros((rank, rank), np.float32)
        add_square(square_address(), A, 0, 90, 1.0, 0.0, K)
        found.append(K)
    exact = A.astype(np.float64).T @ A
    assert np.allclose(np.tril(found[0]), np.tril(exact), rtol=0, atol=1e-6 * np.abs(exact).max())
    assert found[0].tobytes() == found[1].tobytes()
