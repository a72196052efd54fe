"""Methods held against the full solver: errors, costs, the page and what it is refused for."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.errors import ConvergenceError, OutputError
from supple.scene import Built, FrameRow, SilentListener, build_scene, parse_scene
from supple.scene.compare import Comparison, Contestant, compare_methods, pick_full_solver, under_full
from supple.scene.compare_facts import tell_comparison
from supple.scene.compare_page import make_page
from supple.scene.compare_plots import make_plots
from supple.scene.compare_run import KeptFrames, run_track
from supple.scene.compare_words import say_kept, summarise, to_length, to_percent

SCENE: dict[str, Any] = {
    "time": {"frames": 6},
    "mesh": {"shape": "beam", "resolution": 6},
    "material": {"young": 3e4},
    "pin": [{"select": "min x"}],
    "method": {"tolerance": 1e-6},
}
FACTS = {
    "tolerance": 0.01,
    "rank": 12,
    "singular_values": [1.0, 0.1, 0.01],
    "error_by_rank": {"rank": [2, 4, 8], "error": [0.5, 0.1, 0.02]},
    "error_by_size": {"elements": [10, 20], "error": [0.3, 0.1]},
    "seconds": 8.0,
}


def build(**changes: Any) -> Built:
    return build_scene(parse_scene({**SCENE, **changes}))


class Failing:
    """A solver that gives up once a time is passed."""

    def __init__(self, solver: Any, time: float) -> None:
        self._solver, self._time = solver, time
        self.name = solver.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._solver, name)

    def step(self, state: Any, inputs: Any) -> Any:
        if inputs.end.time > self._time:
            raise ConvergenceError("it would not converge.")
        return self._solver.step(state, inputs)


@pytest.fixture(autouse=True)
def small_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stamps instead of pictures, which nobody looks at here."""
    for name, value in {"PANEL": 60, "HEAT": 100, "FILM": 60}.items():
        monkeypatch.setattr(f"supple.scene.compare_pictures.{name}_WIDTH", value)
        monkeypatch.setattr(f"supple.scene.compare_pictures.{name}_HEIGHT", value)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """A careless full solver in the place of a trained one, and the careful one against itself."""
    careful = under_full(build(), "direct")
    careless = replace(build(method={"tolerance": 0.1}), model=SimpleNamespace(facts=FACTS))  # type: ignore[arg-type]
    contestants = [Contestant("careless", careless), Contestant("itself", careful)]
    return compare_methods(Contestant("full (direct)", careful), contestants, trials={"direct": 2.0, "pcg": 3.0})


def test_a_solver_has_no_error_against_itself(comparison: Comparison) -> None:
    errors = comparison.entries[1].errors
    assert errors is not None
    assert errors.relative == 0.0
    assert not errors.greatest.any()


def test_a_careless_solver_is_seen_to_be_one(comparison: Comparison) -> None:
    errors = comparison.entries[0].errors
    assert errors is not None
    assert 1e-6 < errors.relative < 0.1
    assert len(errors.by_frame) == SCENE["time"]["frames"]
    assert 0.05 < errors.deformation < 1.0


def test_speed_counts_all_of_a_frame_and_the_break_even_follows(comparison: Comparison) -> None:
    entry = comparison.entries[0]
    spent = np.array([row.frame_ms for row in entry.track.rows])
    assert (spent > [row.ms for row in entry.track.rows] + entry.track.lift_ms).all()
    assert entry.track.ms_per_frame == pytest.approx(spent.mean())
    assert comparison.speedup(entry) == pytest.approx(comparison.track.ms_per_frame / spent.mean())
    fast, slow = (
        replace(
            comparison,
            track=replace(
                comparison.track, rows=tuple(replace(row, frame_ms=row.frame_ms + extra) for row in entry.track.rows)
            ),
        )
        for extra in (1e3, -1e3)
    )
    assert fast.break_even(entry) in (8, 9), "8 s offline, one second saved a frame"
    assert slow.break_even(entry) is None


def test_phases_add_up_to_the_frame(comparison: Comparison) -> None:
    track = comparison.track
    beside = track.lift_ms.mean() + track.rest_ms.mean()
    assert sum(track.phases.values()) + beside == pytest.approx(track.ms_per_frame, rel=1e-6)


def test_facts_are_plain_and_whole(comparison: Comparison) -> None:
    facts = json.loads(json.dumps(tell_comparison(comparison)))
    assert {"frames", "tetrahedra", "unknowns", "newton_tolerance", "motion", "full", "methods"} <= facts.keys()
    assert {"kinetic_at_half", "lively", "deformation"} <= facts["motion"].keys()
    assert facts["full"]["trials_ms_per_frame"] == {"direct": 2.0, "pcg": 3.0}
    method = facts["methods"][0]
    assert {"ms_per_frame", "lift_ms_per_frame", "phases_ms_per_frame", "frame_ms", "speedup"} <= method.keys()
    assert (method["offline_s"], method["tolerance"]) == (8.0, 0.01)
    assert method["within_tolerance"] == (method["error"]["relative"] <= 0.01)
    worst = method["error"]
    assert worst["worst_relative"] == max(worst["frame_relative"])
    assert worst["max_m"] == max(worst["frame_max_m"])
    assert worst["frame_max_m"][worst["max_frame"] - 1] == worst["max_m"]


def test_travel_does_not_flatter_a_body_that_nothing_holds() -> None:
    free = {"pin": [], "start": {"velocity": [9.0, 0.0, 0.0], "spin": [0.0, 0.0, 9.0]}}
    careful = under_full(build(**free), "direct")
    careless = build(**free, method={"tolerance": 0.3})
    careless = replace(careless, model=SimpleNamespace(facts=FACTS))  # type: ignore[arg-type]
    facts = tell_comparison(compare_methods(Contestant("full", careful), [Contestant("careless", careless)]))
    (method,) = facts["methods"]
    error = method["error"]
    assert error["relative"] < error["relative_to_deformation"]
    assert method["judged_by"] == error["sternest"] == "relative_to_deformation"
    assert f"error {to_percent(error['relative_to_deformation'])} of the deformation" in summarise(facts)[0]
    assert method["within_tolerance"] == (error["relative_to_deformation"] <= 0.01)
    missed = {**method, "within_tolerance": False}
    assert say_kept(missed) == "no, relative to the deformation"
    assert "relative to the deformation counts" in "".join(summarise({**facts, "methods": [missed]}))


def test_the_page_holds_strip_heat_map_tables_and_plots(comparison: Comparison) -> None:
    plots = make_plots(comparison)
    assert set(plots) == {"error", "distance", "time", "pareto", "singular_values", "rank", "cubature"}
    page = make_page("beam", comparison, tell_comparison(comparison), plots, film=True).to_html()
    pictures = re.findall(r'<img[^>]* src="data:image/(png|svg\+xml);', page)
    assert pictures.count("png") == 2, "the strip and the heat map"
    assert 'class="film"' in page
    assert pictures.count("svg+xml") == len(plots)
    assert "Heat map of the error per vertex in metres" in page
    assert "frames to break even" in page
    assert not re.search(r'(src|href)="(?!data:)', page), "nothing comes from elsewhere"


def test_a_method_that_fails_is_a_result_too(comparison: Comparison) -> None:
    built = build()
    failing = replace(built, solver=Failing(built.solver, time=3.5 / 24))  # type: ignore[arg-type]
    found = compare_methods(comparison.reference, [Contestant("failing", failing)])
    facts = tell_comparison(found)
    assert facts["failed"]
    assert "frame 4: it would not converge" in facts["methods"][0]["failure"]
    assert len(facts["methods"][0]["error"]["frame_relative"]) == 3
    assert facts["methods"][0]["break_even_frames"] is None
    assert "failed" in make_page("beam", found, facts, make_plots(found)).to_html()
    assert any("failed" in line for line in summarise(facts))


def test_a_method_that_fails_at_once_has_no_error_but_a_page(comparison: Comparison) -> None:
    built = build()
    failing = replace(built, solver=Failing(built.solver, time=0.0))  # type: ignore[arg-type]
    found = compare_methods(comparison.reference, [Contestant("failing", failing)])
    facts = tell_comparison(found)
    assert facts["methods"][0]["error"] is None
    assert "failed after 0 of 6 frames" in make_page("beam", found, facts, make_plots(found)).to_html()


def test_a_full_solver_that_fails_leaves_nothing_to_compare(comparison: Comparison) -> None:
    built = build()
    failing = replace(built, solver=Failing(built.solver, time=0.0))  # type: ignore[arg-type]
    with pytest.raises(ConvergenceError, match="full solver has no result"):
        compare_methods(Contestant("full", failing), [])


def test_an_interruption_ends_the_progress_and_goes_on_up(comparison: Comparison) -> None:
    class Impatient(SilentListener):
        ended = False

        def frame(self, row: FrameRow) -> None:
            raise KeyboardInterrupt

        def end(self) -> None:
            self.ended = True

    listener = Impatient()
    with pytest.raises(KeyboardInterrupt):
        compare_methods(comparison.reference, [], listener=listener)
    assert listener.ended


def test_the_faster_full_solver_is_taken_and_a_named_one_is_respected() -> None:
    picked, trials = pick_full_solver(build(), SilentListener())
    assert trials.keys() == {"direct", "pcg"}
    assert picked.label == f"full ({min(trials, key=lambda name: trials[name])})"
    _, trials = pick_full_solver(build(method={"linear_solver": "pcg"}), SilentListener())
    assert trials.keys() == {"pcg"}
    _, trials = pick_full_solver(build(time={"frames": 1, "integrator": "static"}), SilentListener())
    assert trials.keys() == {"direct", "pcg"}


def test_the_preroll_counts_for_the_start_but_not_for_frames() -> None:
    built = build(time={"frames": 2, "preroll": 2})
    track = run_track(built, SilentListener())
    assert [row.frame for row in track.rows] == [1, 2]
    np.testing.assert_array_equal(track.start, built.mesh.vertices)
    assert np.abs(track.frames[0] - track.start).max() > 0.01


def test_kept_frames_come_back_as_they_were() -> None:
    kept, frames = KeptFrames(5), np.random.default_rng(0).standard_normal((3, 5, 3))
    for frame in frames:
        kept.append(frame)
    np.testing.assert_array_equal(kept[1], frames[1])
    np.testing.assert_array_equal(list(kept), frames)
    np.testing.assert_array_equal(kept[1:], frames[1:])


def test_frames_that_cannot_be_kept_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptFrames(5)
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(kept, "_file", full)
        with pytest.raises(OutputError, match="TMPDIR"):
            kept.append(np.zeros((5, 3)))


@pytest.mark.parametrize(("metres", "text"), [(0.0, "0 m"), (2.5, "2.5 m"), (0.031, "3.1 cm"), (4e-4, "400 µm")])
def test_lengths_are_said_in_the_unit_that_suits(metres: float, text: str) -> None:
    assert to_length(metres) == text


REDUCED = """\
[time]
frames = 3
[mesh]
shape = "beam"
resolution = 5
[[pin]]
select = "min x"
[method]
name = "reduced"
tolerance = 0.1
linear_solver = "direct"
[training]
cases = 2
heldout = 1
steps = 6
"""


def test_a_scene_is_trained_to_several_accuracies_and_compared_again_with_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("supple.scene.compare_launch.PARETO", (3.0,))
    Path("beam.toml").write_text(REDUCED)
    assert main(["compare", "beam.toml", "--json", "-", "--plots", "plots", "--pareto"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert result["page"] == "beam.compare.html"
    assert Path("beam.compare.html").stat().st_size > 10_000
    assert {path.stem for path in Path("plots").iterdir()} >= {"error", "time", "pareto", "singular_values", "rank"}
    method, looser = result["methods"]
    assert (method["method"], looser["label"]) == ("reduced", "reduced, 30 %")
    assert method["within_tolerance"]
    assert method["offline_s"] == pytest.approx(sum(method["training"]["seconds"].values()))
    assert "are read from" in captured.err, "one set of full-space runs serves all accuracies"

    monkeypatch.setattr("supple.scene.compare_launch.make_plots", lambda _: {})  # once is enough
    assert main(["compare", "beam.toml", "--json", "-", "--models", "beam.model.npz", "-o", "new/again.html"]) == 0
    (again,) = json.loads(capsys.readouterr().out)["methods"]
    assert Path("new/again.html").exists()
    assert again["label"] == "beam.model"
    assert again["error"] == method["error"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--method", "full"], 2, "says nothing"),
        (["--frames", "0"], 2, "frames"),
        (["-o", "page.txt"], 1, "end it in .html"),
        (["-o", "/proc/no/page.html"], 1, "cannot be written"),
        (["--models", "missing.npz"], 1, "missing.npz"),
        (["--method", "magic"], 2, "magic"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(
    options: list[str],
    code: int,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("beam.toml").write_text('[mesh]\nshape = "beam"\nresolution = 4\n[[pin]]\nselect = "min x"\n')
    assert main(["compare", "beam.toml", *options]) == code
    error = capsys.readouterr().err
    assert words in error
    assert "Traceback" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["beam.toml"]
