"""What contacts do to the vertices of a body."""

import numpy as np
import pytest

from supple.contact.contacts import SELF
from supple.contact.result import Touch


def test_forces_of_the_body_on_itself_are_spread_over_both_sides_and_sum_to_nothing() -> None:
    bearing = np.array([[0, 1, 2, 3], [4, 4, 4, 4]], np.int32)
    weights = np.array([[1.0, -0.5, -0.3, -0.2], [1.0, 0.0, 0.0, 0.0]])
    force = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    touch = Touch(
        bearing[:, 0], np.array([SELF, 0], np.int32), np.zeros((2, 3)), np.zeros((2, 3)), np.ones(2), force, bearing,
        weights,
    )  # fmt: skip
    field = touch.spread(6)
    assert np.array_equal(field[[0, 4]], force)
    assert field[1:4] == pytest.approx(np.outer([-0.5, -0.3, -0.2], force[0]))
    assert field[:4].sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-15)
    assert not field[5].any()
