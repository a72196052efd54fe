"""Forward selection: positive weights, the residual it says, and fewer columns than the slope would take."""

import numpy as np
import pytest

from supple.cubature.forward import choose_forward
from supple.linalg.nnls import nnls


def make(seed: int, columns: int = 80, rows: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((rows, columns)) * rng.uniform(0.2, 5.0, columns) + 0.3
    return A, A[:, ::5] @ rng.uniform(0.5, 1.5, len(A[0, ::5])) + 0.1 * rng.standard_normal(rows)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_chosen_explains_what_it_says_with_positive_weights(seed: int) -> None:
    A, b = make(seed)
    choice = choose_forward(A.T @ A, A.T @ b, 0.95 * b @ b)
    chosen = A[:, choice.columns]
    weights, *_ = np.linalg.lstsq(chosen, b, rcond=None)
    assert (weights > 0.0).all()
    assert len(np.unique(choice.columns)) == len(choice.columns)
    assert choice.explained == pytest.approx(b @ b - np.sum((chosen @ weights - b) ** 2), rel=1e-9)
    assert choice.explained >= 0.95 * b @ b


def test_the_columns_a_vector_is_made_of_are_found() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200, 60))
    b = A[:, [7, 30, 41]] @ [1.0, 2.0, 0.5]
    choice = choose_forward(A.T @ A, A.T @ b, (1.0 - 1e-12) * b @ b)
    assert sorted(choice.columns) == [7, 30, 41]


def test_fewer_columns_than_by_the_slope() -> None:
    ours, theirs = 0, 0
    for seed in range(8):
        A, b = make(seed)
        gram, right, square = A.T @ A, A.T @ b, float(b @ b)
        ours += len(choose_forward(gram, right, 0.97 * square).columns)
        theirs += int(np.count_nonzero(nnls(gram, right, square, enough=0.03 * square).weights))
    assert ours < theirs


def test_first_columns_enter_first_and_useless_ones_never() -> None:
    A, b = make(1)
    A[:, 3] = 0.0
    A[:, 4] = A[:, 5]
    choice = choose_forward(A.T @ A, A.T @ b, 0.9 * b @ b, np.array([5, 4, 3]))
    assert 3 not in choice.columns
    assert not {4, 5} <= set(choice.columns.tolist())


def test_what_cannot_be_explained_ends_the_search() -> None:
    A = np.eye(4)
    b = np.array([1.0, 1.0, -1.0, -1.0])
    choice = choose_forward(A.T @ A, A.T @ b, float(b @ b))
    assert sorted(choice.columns) == [0, 1]
    assert choice.explained == pytest.approx(2.0)


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_enter_together_explain_as_much_with_few_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = np.abs(rng.standard_normal((300, 400))) + 0.2
    b = A @ rng.uniform(0.0, 1.0, 400)
    gram, right, square = A.T @ A, A.T @ b, float(b @ b)
    alone = choose_forward(gram, right, (1.0 - 1e-5) * square)
    many = choose_forward(gram, right, (1.0 - 1e-5) * square, together=0.1)
    assert many.explained >= (1.0 - 1e-5) * square
    assert len(np.unique(many.columns)) == len(many.columns) <= 1.25 * len(alone.columns)
    weights, *_ = np.linalg.lstsq(A[:, many.columns], b, rcond=None)
    assert (weights > 0.0).all()
    assert many.explained == pytest.approx(square - np.sum((A[:, many.columns] @ weights - b) ** 2), rel=1e-9)
