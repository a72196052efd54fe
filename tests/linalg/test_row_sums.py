import numpy as np
import pytest

from supple.linalg.row_sums import add_products, add_rows


@pytest.mark.parametrize("axes", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 6, 9])
def test_sums_and_products_are_those_of_the_matrices(axes: int, count: int) -> None:
    rng = np.random.default_rng(count)
    D, factors, base = rng.normal(size=(axes, 9, 13)), rng.normal(size=(3, 9)), rng.normal(size=(3, 13))
    rows, out = rng.permutation(9)[:count], np.empty((3, 13))
    add_rows(rows, factors, D, base, out)
    expected = [base[i] + factors[i, rows] @ D[min(i, axes - 1)][rows] for i in range(3)]
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-13)
    some, moved = np.ascontiguousarray(D[:, :count]), np.empty((3, count))
    add_products(some, base, factors[:, :count].copy(), moved)
    expected = [factors[i, :count] + some[min(i, axes - 1)] @ base[i] for i in range(3)]
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-13)


def test_a_sum_may_be_written_where_it_began() -> None:
    D, q = np.ones((1, 2, 5)), np.zeros((3, 5))
    add_rows(np.array([0, 1]), np.ones((3, 2)), D, q, q)
    np.testing.assert_array_equal(q, np.full((3, 5), 2.0))
