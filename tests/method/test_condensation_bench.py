"""The benchmarks of condensation have the rows they document, and draw what they say."""

from functools import partial

import numpy as np
import pytest

from supple.bench import (
    condense_capsule,
    condense_character,
    condense_cheb,
    condense_figure,
    condense_flesh,
    condense_pinch,
)
from supple.material import StableNeoHookean

KEYS = (
    "tets vertices rank elements weights radius full_ms subspace_ms avg_active avg_ms avg_speedup worst_active "
    "worst_ms worst_speedup best_speedup touching_ms touching_full_ms touching_speedup least_speedup newton_avg "
    "pcg_avg pcg_max detect_ms rms_error rms_error_subspace patch_error patch_error_subspace whole_error "
    "whole_error_subspace depth depth_full"
)


def check(rows, radii) -> None:
    assert [(row["weights"], row["radius"]) for row in rows] == [(w, r) for w in ("subtract", "paper") for r in radii]
    for row in rows:
        assert " ".join(row) == KEYS
        assert 0.0 < row["worst_active"] < 1.0
        assert row["rms_error"] < row["rms_error_subspace"]
        assert row["touching_speedup"] == row["touching_full_ms"] / row["touching_ms"]
        assert 0.0 < row["touching_ms"] <= row["worst_ms"]


def test_capsule_has_a_row_for_every_radius_and_weights(monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(condense_capsule._TETS, "small", 400)
    monkeypatch.setattr(condense_capsule, "_RADII", (0.15, 0.25))
    monkeypatch.setattr(condense_capsule, "Corotational", StableNeoHookean)  # whose kernels other tests compile
    rows = list(condense_capsule.run("small", tmp_path, 4))
    check(rows, (0.15, 0.25))
    assert rows[1]["patch_error"] < rows[1]["patch_error_subspace"]
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {f"condense-capsule{kind}.png" for kind in ("", "-error", "-share", "-time")}


@pytest.mark.filterwarnings("ignore::supple.errors.SuppleWarning")  # so coarse that bones stand out of it
def test_figure_between_walls_has_its_rows(monkeypatch, tmp_path) -> None:
    small = condense_character.CASES["figure"]._replace(radii=(0.12,), tets={"small": 600}, poses=4, frames=4)
    monkeypatch.setitem(condense_character.CASES, "figure", small)
    monkeypatch.setattr(condense_flesh, "MATERIAL", StableNeoHookean(young=2e4, poisson=0.3))
    run = condense_figure.run("small", tmp_path)
    first = next(run)
    assert not list(tmp_path.iterdir()), "each row is told as soon as it is there"
    check([first, *run], (0.12,))
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {f"condense-figure{kind}.png" for kind in ("", "-error", "-share", "-story", "-time")}


def test_words_keep_to_a_rule_of_weights_and_a_radius(monkeypatch) -> None:
    monkeypatch.setitem(condense_capsule._TETS, "small", 400)
    monkeypatch.setattr(condense_capsule, "Corotational", StableNeoHookean)
    (row,) = condense_capsule.run("small", steps=2, only="0.15 paper")
    assert (row["weights"], row["radius"]) == ("paper", 0.15)
    monkeypatch.setattr(condense_capsule, "make_case", None)
    assert not list(condense_capsule.run("small", only="0.16")), "no case is made where no row is asked for"


@pytest.mark.parametrize("name", sorted(condense_character.CASES))
def test_cases_name_poses_that_there_are(name: str) -> None:
    sketch = condense_character.CASES[name]
    poses = condense_character.make_character(sketch.shape).poses
    assert {*sketch.learned, *sketch.played} <= set(poses)
    assert set(sketch.tets) == {"small", "paper"}


def test_a_pinched_beam_has_a_row_for_nothing_each_share_and_everything(monkeypatch) -> None:
    monkeypatch.setitem(condense_pinch._TETS, "small", 2500)
    monkeypatch.setitem(condense_pinch._RULE, "small", 0.3)
    monkeypatch.setitem(condense_pinch._FLOORS, "small", ((0.1, 0.02, 2.7), (0.2, 0.05, 6.0)))
    monkeypatch.setattr(condense_pinch, "_RANK", 6)
    monkeypatch.setattr(condense_pinch, "_MODES", 4)
    # What the reduced solver compiles for contact other tests need not
    monkeypatch.setattr(condense_pinch, "ReducedSolver", partial(condense_pinch.CondensationSolver, radius=0.1))
    rows = list(condense_pinch.run("small", 5))
    assert [row["case"] for row in rows] == ["nothing full", "pinched", "pinched", "everything full"]
    assert rows[0]["active"] == 0.0 < rows[1]["active"] < rows[2]["active"] < rows[3]["active"] == 1.0
    assert rows[1]["floor_ms"] == 2.7
    assert all(row["beside_ms"] > 0.0 for row in (rows[0], rows[3]))


def test_cheb_between_walls_is_full_where_they_touch_and_returns(monkeypatch, shared_data) -> None:
    """Its head is crushed in the first third of a run, and goes back to the subspace before the last frame."""
    if not (shared_data / "cheb").is_dir():
        pytest.skip("Pinocchio's files are not here")
    monkeypatch.setitem(condense_cheb._SIZES, "small", (1_500, 4, 4, 60))
    monkeypatch.setattr(condense_cheb, "_SLOWED", 40.0)
    case = condense_cheb.make_cheb(shared_data / "cheb", "small")
    track = case.condense(0.12, "subtract")
    touching = [report.contacts > 0 for report in track.reports]
    assert not touching[0]
    assert any(touching[:20])
    assert not any(touching[21:])
    assert max(track.shares) > 0.1
    last = max(k for k, touches in enumerate(touching) if touches)
    assert track.shares[last + 2] > 0.0  # it is held until it has settled
    assert track.shares[-1] < 0.2 * max(track.shares)
    tops = case.body.mesh.vertices[track.full[int(track.shares.argmax())], 1]
    assert np.median(tops) > np.median(case.body.mesh.vertices[:, 1])  # the head, and what is near it
