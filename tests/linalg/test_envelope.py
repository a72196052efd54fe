"""Factors of matrices whose rows end early: the same solution as any other, and nothing outside the rows."""

import numpy as np
import pytest

from supple.linalg.envelope import envelope_factor, envelope_solve

CHAIN, STAR = [-1, 0, 1, 2], [-1, 0, 0, 0]


def tree_matrix(parents: list[int], width: int) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix with blocks between parents and children, and where its rows end."""
    rng, count = np.random.default_rng(5), len(parents)
    A = np.zeros((count * width, count * width))
    for child, parent in enumerate(parents):
        for other in {child, parent} - {-1}:
            A[child * width : (child + 1) * width, other * width : (other + 1) * width] = rng.normal(
                size=(width, width)
            )
    A = np.tril(A) + np.tril(A, -1).T
    A += 1.1 * np.abs(np.linalg.eigvalsh(A)).max() * np.eye(len(A))
    last = [max([k, *(child for child in range(count) if parents[child] == k)]) + 1 for k in range(count)]
    return A, width * np.repeat(last, width)


@pytest.mark.parametrize("parents", [CHAIN, STAR, [-1]])
def test_solution_is_that_of_any_solver_and_the_matrix_is_kept(parents: list[int]) -> None:
    A, last = tree_matrix(parents, 5)
    b = np.random.default_rng(6).normal(size=len(A))
    work, root, x = A.copy(), np.empty(len(A)), b.copy()
    assert envelope_factor(work, last, 0.3, root)
    envelope_solve(work, last, root, x)
    np.testing.assert_allclose(x, np.linalg.solve(A + 0.3 * np.eye(len(A)), b), rtol=1e-12, atol=0)
    np.testing.assert_array_equal(np.tril(work), np.tril(A))


def test_what_is_outside_the_rows_is_never_read() -> None:
    A, last = tree_matrix(CHAIN, 4)
    outside = np.triu(np.arange(len(A)) >= last[:, None])
    A[outside] = np.nan
    A.T[outside] = np.nan
    root, x = np.empty(len(A)), np.ones(len(A))
    assert envelope_factor(A, last, 0.0, root)
    envelope_solve(A, last, root, x)
    assert np.isfinite(x).all()


def test_a_matrix_without_a_factor_is_told() -> None:
    A, last = tree_matrix(STAR, 3)
    root = np.empty(len(A))
    assert not envelope_factor(A - 2.0 * np.diag(np.diag(A)), last, 0.0, root)
    A[7, 7] = np.nan
    assert not envelope_factor(A, last, 0.0, root)
