"""Scenes that skip steps: their timeline in words and as a file, through stops and resumptions."""

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import FileFormatError, SceneError
from supple.io import open_cache
from supple.method import SkippingSolver
from supple.scene import build_scene, parse_scene, run_scene
from supple.scene.compare import Contestant, compare_methods, under_full
from supple.scene.compare_facts import tell_comparison
from supple.scene.compare_page import make_page
from supple.scene.progress import FrameRow, SilentListener, StepRow
from supple.scene.stage import Built
from supple.scene.timeline import tell_timeline

SCENE: dict[str, Any] = {
    "time": {"fps": 50, "frames": 30, "integrator": "newmark"},
    "mesh": {"shape": "beam", "size": {"length": 1.0, "width": 0.1, "height": 0.1}, "resolution": 10},
    "material": {"model": "stvk", "young": 2e5, "poisson": 0.1, "density": 100.0},
    "pin": [{"select": "min x"}],
    "method": {"name": "skipping", "tolerance": 5e-3},
    "output": {"checkpoint": 5},
}


def build(**changes: Any) -> Built:
    return build_scene(parse_scene({**SCENE, **changes}))


class StopAt(SilentListener):
    def __init__(self, frame: int) -> None:
        self._stop = frame

    def frame(self, row: FrameRow) -> None:
        if row.frame == self._stop:
            signal.raise_signal(signal.SIGINT)


def row(frame: int, *steps: StepRow) -> FrameRow:
    return FrameRow(frame, 0.0, 1.0, 1, 0.0, 0, 0.0, 0.0, "full", steps=steps)


def test_a_scene_chooses_the_method_and_its_settings():
    built = build(method={"name": "skipping", "tolerance": 2e-3, "throttle": 3.0, "max_rank": 7})
    solver = built.solver
    assert isinstance(solver, SkippingSolver)
    assert (solver.tolerance, solver.throttle) == (2e-3, 3.0)
    assert "at most 7 coordinates" in solver.describe()[-1]
    assert build(method={"name": "skipping"}).solver.tolerance == 1e-3


def test_a_rig_is_known_but_not_one_whose_poses_are_rest_shapes():
    arm = {"mesh": {"shape": "capsule", "resolution": 8}, "pin": []}
    with pytest.raises(SceneError, match="posed"):
        build(**arm, rig={"rest": "posed"})
    assert isinstance(build(**arm, rig={}).solver, SkippingSolver)


def test_a_stopped_and_resumed_run_and_its_timeline_equal_the_whole_one(tmp_path: Path):
    whole = run_scene(build(), [tmp_path / "whole.npz"])
    kinds = [step.kind for frame in whole.rows for step in frame.steps]
    assert 0.2 < kinds.count("reduced") / len(kinds) < 1.0
    stop = next(frame.frame for frame in whole.rows if frame.steps[-1].kind == "reduced") + 2
    stopped = run_scene(build(), [tmp_path / "a.npz"], listener=StopAt(stop))
    assert stopped.stopped
    again = run_scene(build(), [tmp_path / "a.npz"], resume=True)
    one, other = open_cache(tmp_path / "a.npz"), open_cache(tmp_path / "whole.npz")
    assert np.array_equal(one.surface_positions(30), other.surface_positions(30))
    assert whole.timeline is not None
    assert again.timeline is not None
    assert json.loads(again.timeline.read_text()) == json.loads(whole.timeline.read_text())


def test_the_timeline_of_another_run_is_replaced_and_a_broken_one_is_refused(tmp_path: Path):
    short = {"time": {**SCENE["time"], "frames": 3}}
    result = run_scene(build(**short), [tmp_path / "a.npz"])
    assert result.timeline is not None
    run_scene(build(**short), [tmp_path / "a.npz"])
    assert len(json.loads(result.timeline.read_text())["steps"]) == 6
    run_scene(build(), [tmp_path / "a.npz"], listener=StopAt(2))
    result.timeline.write_text("[]")
    with pytest.raises(FileFormatError, match="no timeline"):
        run_scene(build(), [tmp_path / "a.npz"], resume=True)


def test_methods_that_skip_nothing_leave_no_timeline(tmp_path: Path):
    full = {"time": {**SCENE["time"], "frames": 2}, "method": {"name": "full"}}
    result = run_scene(build(**full), [tmp_path / "a.npz"])
    assert result.timeline is None
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith(".")] == ["a.npz"]
    assert tell_timeline(result.rows) == []


def test_the_strip_shows_full_mixed_and_reduced_steps():
    full = StepRow("full", False, True, True, 5, 0, None)
    reduced = StepRow("reduced", True, False, False, 5, 9, 1e-4)
    words, strip = tell_timeline([row(1, full, full), row(2, full, reduced), row(3, reduced, reduced)])
    assert words.startswith("50.0 % of 6 steps skipped: 3 full (3 after a rejected one), 3 checked, 3 times trained")
    assert strip.startswith("###...")
    long = [row(k, full, reduced) for k in range(200)]
    assert tell_timeline(long)[1].startswith("+" * 72)


def test_the_compare_page_shows_the_strip(monkeypatch: pytest.MonkeyPatch):
    for name in ("PANEL", "HEAT", "FILM"):
        monkeypatch.setattr(f"supple.scene.compare_pictures.{name}_WIDTH", 60)
        monkeypatch.setattr(f"supple.scene.compare_pictures.{name}_HEIGHT", 60)
    short = build(time={**SCENE["time"], "frames": 4})
    found = compare_methods(Contestant("full", under_full(short, "direct")), [Contestant("skipping", short)])
    page = make_page("title", found, tell_comparison(found), {}).to_html()
    assert "steps skipped" in page
    assert "########" in page
