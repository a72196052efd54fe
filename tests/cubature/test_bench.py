"""The benchmark of trainers has the rows it documents."""

import pytest

from supple.bench import cubature
from supple.cubature import TRAINERS


def test_every_trainer_has_a_row_at_the_same_held_out_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cubature._CASES, "small", (("beam", 500, 6),))
    monkeypatch.setattr(cubature, "_MODES", 3)
    rows = cubature.run("small")
    keys = "trainer tets rank samples tolerance elements train_error heldout_error seconds"
    assert [row["trainer"] for row in rows] == list(TRAINERS)
    for row in rows:
        assert " ".join(row) == keys
        assert row["train_error"] <= row["tolerance"]
        assert row["heldout_error"] <= 0.02
        assert 0 < row["elements"] < row["tets"]
