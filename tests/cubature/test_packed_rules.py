"""Contact rules as one compiled loop reads them."""

import numpy as np
import pytest

from supple.cubature.packed_rules import sort_stably


@pytest.mark.parametrize("count", [0, 1, 2, 3, 64, 101])
def test_keys_are_sorted_as_numpy_sorts_them_equal_ones_in_their_order(count: int) -> None:
    keys = np.random.default_rng(count).integers(0, max(count // 3, 1), count) << 32

    order = sort_stably(keys)

    np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))
