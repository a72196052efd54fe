"""Training of rules spends counted work, ends when it is used up, and never holds all columns at once."""

import numpy as np
import pytest

from supple.cubature.blocks import column_blocks, sample_blocks
from supple.cubature.budget import Budget, is_spent, limit_work
from supple.cubature.dense_problem import DenseProblem
from supple.cubature.pool import train_pool
from supple.cubature.support import Fit, Support


@pytest.fixture(scope="module")
def problem() -> DenseProblem:
    rng = np.random.default_rng(0)
    return DenseProblem(rng.standard_normal((200, 30, 8)) + 1.0)


def test_fits_in_blocks_are_those_of_all_columns_at_once(problem, monkeypatch):
    monkeypatch.setattr("supple.cubature.blocks._BYTES", 8 * 8 * 20 * 3)  # three samples of twenty candidates
    who = np.arange(0, 60, 3)
    assert len(list(sample_blocks(problem, len(who)))) == 10
    assert len(list(column_blocks(problem, len(who)))) > 5
    pieces, whole = Fit(problem, who), Support(problem, who)
    np.testing.assert_allclose(pieces.gram, whole.gram, rtol=1e-12)
    np.testing.assert_allclose(pieces.right, whole.right, rtol=1e-12)
    for fit in (pieces, whole):
        fit.fit()
    assert np.array_equal(pieces.members, whole.members)
    np.testing.assert_allclose(pieces.residual(), whole.residual(), atol=1e-12)


def test_work_is_counted_alike_each_time_and_bounds_a_rule(problem):
    spent, sizes = [], []
    for _ in range(2):
        budget = Budget(1e12)
        with limit_work(budget):
            sizes.append(train_pool(problem, 0.05, np.random.default_rng(1)).size)
            assert not is_spent()
        spent.append(budget.spent)
    assert spent[0] == spent[1] > 0.0
    assert not is_spent()
    small = Budget(0.05 * spent[0])
    with limit_work(small), pytest.warns(match="unexplained"):
        rule = train_pool(problem, 0.05, np.random.default_rng(1))
    assert small.left == 0.0
    assert 0 < rule.size < sizes[0]


def test_no_columns_are_held_but_those_of_a_block(problem, monkeypatch):
    monkeypatch.setattr("supple.cubature.blocks._BYTES", 4000)
    largest, columns = [], DenseProblem.columns

    def watched(self, who, samples=None):
        out = columns(self, who, samples)
        largest.append(out.nbytes)
        return out

    monkeypatch.setattr(DenseProblem, "columns", watched)
    with pytest.warns(match="unexplained"):
        train_pool(problem, 1e-3, np.random.default_rng(0), most=40)
    assert max(largest) <= 4000  # all columns of the rule would take 77 kB
