import pytest

from supple.bench import rig as bench


def test_every_row_has_the_documented_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = (bench._Case(500, 4, is_small=True), bench._Case(600, 5), bench._Case(700, 5, finds_weights=False))
    monkeypatch.setitem(bench._CASES, "small", cases)
    monkeypatch.setattr(bench, "_EVICTED", 1000)
    rows = bench.run("small")
    keys = "vertices influences bones lbs_ms dqs_ms memory_pass_ms heat_weights_s bbw_s fit_ms"
    assert all(list(row) == keys.split() for row in rows)
    assert [row["bones"] for row in rows] == [4, 5, 5]
    assert all(row["influences"] == 4 for row in rows)
    assert [[key for key, value in row.items() if value is None] for row in rows] == [
        [],
        ["bbw_s", "fit_ms"],
        ["heat_weights_s", "bbw_s", "fit_ms"],
    ]
