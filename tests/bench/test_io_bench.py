import pytest

from supple.bench import io as bench

WITHIN = (".npz opening", ".usdc opening", ".glb opening")  # no mesh lies beside these


def test_every_row_has_the_documented_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bench._SIZES, "small", (500, 2, 10))
    rows = bench.run("small")
    keys = "format read_ms write_ms mb mb_per_s read_ratio write_ratio"
    assert all(list(row) == keys.split() for row in rows)
    names = [row["format"] for row in rows]
    assert names[0] == "numpy tets"
    assert {
        ".msh 2.2",
        ".msh 4.1-binary",
        ".vtu raw",
        ".ele text",
        "numpy frames",
        ".pc2 frames",
        ".pc2 opening",
        ".glb frames",
    } <= set(names)
    assert all(row["mb_per_s"] > 0 for row in rows if row["format"] not in WITHIN)
