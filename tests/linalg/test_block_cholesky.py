import numpy as np
import pytest
import scipy.sparse as sp

from supple.linalg.block_cholesky import BlockCholesky, multiply_blocks
from supple.linalg.direct import NotPositiveDefinite


def chain(count: int, seed: int = 0) -> sp.csr_array:
    """A positive-definite matrix whose blocks follow a ring with a few chords."""
    rng = np.random.default_rng(seed)
    ends = np.concatenate(
        [np.stack([np.arange(count), np.roll(np.arange(count), 1)], 1), rng.integers(0, count, (5, 2))]
    )
    A = np.zeros((4 * count, 4 * count))
    for a, b in ends:
        rows = np.r_[4 * a : 4 * a + 4, 4 * b : 4 * b + 4]
        part = rng.normal(size=(8, 8))
        A[np.ix_(rows, rows)] += part @ part.T
    return sp.csr_array(A + 0.1 * np.eye(4 * count))


@pytest.mark.parametrize("shape", [(), (1,), (3,), (4,), (17,)])
def test_solutions_solve(shape: tuple[int, ...]) -> None:
    A = chain(30)
    x = np.random.default_rng(1).normal(size=(120, *shape))
    np.testing.assert_allclose(BlockCholesky(A).solve(A @ x), x, rtol=0, atol=1e-10)


@pytest.mark.parametrize(("precision", "digits"), [(np.float64, 1e-11), (np.float32, 1e-5)])
def test_squares_are_products_with_solutions(precision, digits: float) -> None:
    A, b = chain(30), np.random.default_rng(2).normal(size=(120, 7))
    expected = b.T @ np.linalg.solve(A.toarray(), b)
    found = BlockCholesky(A).square(b, precision)
    assert found.dtype == precision
    np.testing.assert_allclose(found, expected, rtol=0, atol=digits * np.abs(expected).max())


def test_the_order_fills_little() -> None:
    assert len(BlockCholesky(chain(200))._values) < 5 * 200


def test_what_is_not_definite_is_told() -> None:
    with pytest.raises(NotPositiveDefinite):
        BlockCholesky(chain(30) - 100.0 * sp.eye_array(120))
    with pytest.raises(NotPositiveDefinite):
        BlockCholesky(sp.csr_array(np.full((8, 8), np.nan)))


def test_products_of_blocks() -> None:
    A = sp.bsr_array(chain(20), blocksize=(4, 4))
    x = np.random.default_rng(3).normal(size=(80, 3))
    np.testing.assert_allclose(multiply_blocks(A.indptr, A.indices, A.data, x), A @ x, rtol=0, atol=1e-12)
