"""Shapes that fold stop at themselves, and pass through themselves where contact is off."""

from pathlib import Path

import pytest

from supple.bench import contact_folds as bench
from supple.bench import pick_benchmark


def test_folded_shapes_stop_at_themselves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(bench._RESOLUTION, "small", (9, 9, 14))
    monkeypatch.setattr(bench, "_FRAMES", 18)
    monkeypatch.setattr(bench, "_WIDTH", 120)
    monkeypatch.setattr(bench, "_HEIGHT", 100)
    rows = pick_benchmark("contact-folds").run("small", plot=tmp_path / "new")
    assert [row["case"] for row in rows] == ["capsule", "capsule", "C", "C", "finger", "finger"]
    for through, stopped in zip(rows[::2], rows[1::2], strict=True):
        assert through["depth"] > 0.5
        assert stopped["depth"] < 0.1
        assert through["contacts"] == 0 < stopped["contacts"]
        assert stopped["settled"] > 0.8
        assert stopped["speed"] < 0.1
    assert (tmp_path / "new" / "contact-folds.png").stat().st_size > 1_000
