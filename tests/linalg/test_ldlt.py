"""Substitution through the panels of a sparse factor."""

import numpy as np
import pytest
import scipy.sparse as sp

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.ldlt import LDLT


def make_matrix(kind: str, count: int) -> sp.csr_array:
    rng = np.random.default_rng(3)
    if kind == "band":  # columns share their rows: all in panels
        wide = range(1, min(count, 7))
        near = sp.diags_array([rng.random(count - k) for k in wide], offsets=wide, shape=(count, count))
    elif kind == "tree":  # no two columns share a row: none
        near = sp.csr_array((np.ones(count - 1), (np.arange(1, count) // 2, np.arange(1, count))), shape=(count, count))
    else:
        near = sp.random_array((count, count), density=0.04, rng=rng)
    both = near + near.T
    return sp.csr_array(both + sp.diags_array(np.abs(both).sum(axis=1) + 0.1))


@pytest.mark.parametrize("kind", ["band", "tree", "scattered"])
@pytest.mark.parametrize("count", [3, 4, 61])
def test_three_columns_are_solved_at_once(kind: str, count: int) -> None:
    A = make_matrix(kind, count)
    b = np.random.default_rng(5).normal(size=(count, 3))
    exact = np.linalg.solve(A.toarray(), b)
    factor, number = LDLT.ordered(A)
    there = np.empty_like(b)
    there[number] = b
    np.testing.assert_allclose(factor.solve(there)[number], exact, atol=1e-12)
    order = np.argsort(number)
    same = LDLT(A[order][:, order])
    assert same.solve(there, there) is there  # in place
    np.testing.assert_allclose(there[number], exact, atol=1e-12)


def test_what_is_not_positive_is_refused() -> None:
    with pytest.raises(NotPositiveDefinite):
        LDLT(sp.diags_array([1.0, -1.0, 2.0]))
