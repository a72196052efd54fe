"""Vectors turned by matrices of their own: the sums over indices that they stand for."""

import numpy as np
import pytest

from supple.linalg.turns import turn, turn_back


def test_turning_is_a_product_with_each_matrix_and_back_with_its_transpose():
    rng = np.random.default_rng(0)
    Q, v = rng.standard_normal((7, 3, 3)), rng.standard_normal((7, 3))
    assert turn(Q, v) == pytest.approx(np.einsum("nij,nj->ni", Q, v))
    assert turn_back(Q, v) == pytest.approx(np.einsum("nji,nj->ni", Q, v))
