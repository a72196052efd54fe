import pytest

from supple.bench import mesh as bench


def test_every_row_has_the_documented_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench._COUNTS, "small", (2_000,))
    rows = bench.run("small")
    assert [(row["shape"], row["source"]) for row in rows] == [
        ("sphere", "distance"),
        ("creature", "distance"),
        ("beam", "grid"),
        ("creature", "surface"),
    ]
    keys = "shape source tets seconds tets_per_second min_dihedral_deg max_dihedral_deg"
    assert all(list(row) == keys.split() for row in rows)
    assert all(row["tets"] == pytest.approx(2_000, rel=0.1) for row in rows)
