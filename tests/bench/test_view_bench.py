"""The benchmark of the viewer."""

import pytest

from supple.bench.view import RATE, _measure


def test_updates_reach_a_reader_and_are_counted() -> None:
    pytest.importorskip("viser")
    row = _measure(12, 0.3)
    assert row["vertices"] == 144
    assert 0.0 < row["received_per_s"] <= RATE + 10.0
    assert row["kilobytes_per_update"] > 12 * 144 / 1e3
    assert row["core_share"] > 0.0
