"""The skipping benchmarks: their rows, the liveliness of their motions, and the options of the command."""

from pathlib import Path

import numpy as np
import pytest

from supple.bench import pick_benchmark, run_benchmark
from supple.bench.skip_case import make_beam, make_head, make_pendulum
from supple.bench.skip_figures import BEAM, HEAD, PENDULUM, RICH_HEAD, TABLE_1, TABLE_2
from supple.bench.skip_measure import KEYS, Asked, fill, measure
from supple.bench.skip_plots import save_plots
from supple.bench.skip_refine import _Study, list_runs
from supple.errors import SceneError

ASKED = (Asked("paper", tolerance=0.05), Asked("checks", tolerance=1e-2))


@pytest.fixture(scope="module")
def runs():
    return list(measure(make_beam(300, 60), ASKED))


def test_rows_have_the_keys_in_order_and_agree_with_their_steps(runs):
    assert [one.row["estimator"] for one in runs] == ["paper", "checks"]
    for one in runs:
        row = one.row
        assert tuple(row) == KEYS
        kinds = [report.kind for report in one.reports]
        assert row["skipped"] == kinds.count("reduced") / 60
        assert row["skipped"] > 0.0
        assert row["max_error"] == max(one.errors) >= row["rms_error"] > 0.0
        assert row["speedup"] == pytest.approx(row["full_s"] / row["total_s"])
        assert row["dt"] == pytest.approx(0.01)
        assert one.errors[: kinds.index("reduced")].max() < 1e-3
    assert runs[1].row["max_error"] < 5e-3


def test_rows_can_be_asked_for_by_estimator_and_throttle():
    asked = (*ASKED, Asked("checks", 0.0))
    found = [(one.row["estimator"], one.row["throttle"]) for one in measure(make_beam(300, 3), asked, "checks 0.0")]
    assert found == [("checks", 0.0)]
    assert not list(measure(make_beam(300, 3), asked, "paper 2.0"))


def test_a_long_run_is_compared_with_some_full_steps():
    beam, head = make_beam(300, 30), make_head(1_000, 30)
    found = next(measure(beam, ASKED[1:], reference=5))
    assert np.isfinite(found.errors).tolist() == [True] * 5 + [False] * 25
    assert found.row["max_error"] == np.nanmax(found.errors)
    assert found.row["liveliness"] is None  # about half time it was not looked at
    found = next(measure(head, ASKED[1:], reference=10))
    compared = np.flatnonzero(np.isfinite(found.errors)).tolist()
    assert compared == [*range(1, 6), *range(25, 30)]  # the first of a stretch is where it settles
    whole = next(measure(head, ASKED[1:]))
    assert found.errors[compared] == pytest.approx(whole.errors[compared], abs=1e-5)
    assert found.row["liveliness"] == pytest.approx(whole.row["liveliness"], rel=0.2)


def test_published_rows_are_those_of_the_paper():
    for row in (*BEAM, *HEAD, *PENDULUM, *RICH_HEAD):
        assert tuple(fill(row)) == KEYS
        assert row["full_s"] / row["total_s"] == pytest.approx(row["speedup"], rel=0.01)
    assert (len(TABLE_1), len(TABLE_2)) == (6, 5)


def test_the_beam_keeps_swinging_and_a_kick_moves_it_sideways():
    kicked = next(measure(make_beam(300, 60, kick=0.2), ASKED[:1]))
    assert kicked.row["liveliness"] > 0.2
    case = make_beam(300, 60, kick=0.2)
    pushed = [k for k in range(60) if case.stage.drive.forces((k + 1) / 100)[1].vector.any()]
    assert pushed == list(range(20, 35))


def test_the_pendulum_is_one_piece_as_high_as_four_bodies_and_the_head_is_held_inside():
    mesh = make_pendulum(2_000, 1).stage.body.mesh
    assert mesh.components().max() == 0
    assert 0.8 < np.ptp(mesh.vertices[:, 1]) <= 1.01
    head = make_head(2_000, 1).stage
    held = head.body.mesh.vertices[head.body.pins.vertices]
    assert (np.linalg.norm(held - (0.0, 0.232, -0.012), axis=1) < 0.068).sum() > 10
    assert held[:, 1].min() < 0.01


def test_plots_are_written(runs, tmp_path: Path):
    save_plots(None, "skip", runs)
    save_plots(tmp_path / "new", "skip", runs)
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "skip-error.png", "skip-estimate.png", "skip-steps.png",
    ]  # fmt: skip


def test_refinement_keeps_the_time_that_is_simulated():
    listed = list_runs(_Study((640, 1_104), 2, 300), None)
    assert [(tets, steps) for tets, _, steps in listed] == [(640, 300), (1_104, 300), (640, 600), (640, 1200)]
    assert all(dt * steps == pytest.approx(3.0) for _, dt, steps in listed)
    assert list_runs(_Study((640,), 1, 300), 10)[-1][2] == 20


@pytest.mark.parametrize(("name", "options"), [("full", {"steps": 3}), ("mesh", {"plot": Path()})])
def test_options_that_a_benchmark_does_not_know_are_refused(name, options):
    with pytest.raises(SceneError, match=f"--{next(iter(options))}: that is for .*skip-beam"):
        run_benchmark(pick_benchmark(name), "small", 1, **options)


def test_the_page_explains_every_column():
    text = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    section = text.split("\n## skip\n")[1].split("\n## ")[0]
    assert all(f"`{key}`" in section for key in KEYS)
