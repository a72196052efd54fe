"""Borders without their zeros."""

import numpy as np
import pytest

from supple.linalg.bordered_spans import border_product, find_spans


@pytest.fixture(params=[5, 8, 21, 64])
def rows(request) -> np.ndarray:
    """Rows of three with few filled columns, one of them empty and one full."""
    rng, rank = np.random.default_rng(0), request.param
    rows = rng.standard_normal((9, 3, rank)) * (rng.random((9, 1, rank)) < 0.1)
    rows[3], rows[4] = 0.0, 1.0
    rows[5, 1:] = 0.0  # filled along one axis only
    rows[6, :, -1] = np.nan
    return rows


def test_all_outside_spans_is_zero_and_spans_are_apart(rows: np.ndarray) -> None:
    start, first, last = find_spans(rows)
    assert start[0] == 0
    assert start[4] == start[3]
    assert list(zip(first[start[4] : start[5]], last[start[4] : start[5]], strict=True)) == [(0, rows.shape[2])]
    for k, row in enumerate(rows):
        outside = np.ones(rows.shape[2], bool)
        for span in range(start[k], start[k + 1]):
            outside[first[span] : last[span]] = False
            assert span == start[k] or first[span] > last[span - 1]
        assert not row[:, outside].any()
        assert outside.sum() >= rows.shape[2] - 8 * max(np.count_nonzero(row.any(axis=0)), 1)


def test_products_are_those_of_the_whole_border(rows: np.ndarray) -> None:
    rows = np.nan_to_num(rows)
    rng, rank = np.random.default_rng(1), rows.shape[2]
    B = rng.standard_normal((rank, rank))
    B[: rank // 2, rank // 2 :] = B[rank // 2 :, : rank // 2] = 0.0
    B = B + B.T
    edge, x, q = np.arange(1, 10, dtype=np.int32), rng.standard_normal((11, 3)), rng.standard_normal(rank)
    out, low = np.zeros((11, 3)), np.zeros(rank)
    total = border_product(edge, rows, B, find_spans(rows), find_spans(B.reshape(rank, 1, rank)), x, q, out, low)
    np.testing.assert_allclose(out[1:10], rows @ q, atol=1e-12)
    np.testing.assert_allclose(low, B @ q + np.einsum("kar,ka->r", rows, x[1:10]), atol=1e-12)
    assert total == pytest.approx(np.vdot(out, x) + low @ q)
