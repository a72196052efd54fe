"""The benchmark of contact."""

import pytest

from supple.bench import contact as bench
from supple.bench import find_benchmarks

KEYS = (
    "case surface_vertices tets contacts friction refit_ms pass_ms detect_ms force_ms freeze_ms hessian_ms brute_ms "
    "step_ms_free step_ms_air step_ms_contact contact_share newton_free newton_contact linear_free linear_contact "
    "rounds step_contacts"
)


def test_every_row_has_the_documented_keys_and_touches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench._FLOOR, "small", (6,))
    monkeypatch.setitem(bench._STACK, "small", (6,))
    monkeypatch.setitem(bench._FOLD, "small", (2_000,))
    rows = bench.run("small")
    floor, _, stack, _, fold = rows
    assert all(list(row) == KEYS.split() for row in rows)
    assert [row["friction"] for row in rows] == [0.0, 0.5, 0.0, 0.5, 0.0]
    assert floor["contacts"] == 49
    assert 49 < stack["contacts"] <= 98  # type: ignore[operator]
    assert fold["contacts"] > 10  # type: ignore[operator]
    assert all(row["step_contacts"] > 30 for row in rows[:-1])  # type: ignore[operator]
    assert fold["step_ms_contact"] is None
    times = [value for row in rows for key, value in row.items() if key.endswith("_ms")]
    assert all(value > 0.0 for value in times)  # type: ignore[operator]


def test_the_benchmark_is_listed() -> None:
    assert "contact" in find_benchmarks()
