"""What a run learned is kept as a model, and the next one begins with it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.errors import OutputError, SceneError, TrainingError
from supple.method import SkippingSolver
from supple.scene import build_scene, parse_scene, run_scene
from supple.scene.build import set_stage
from supple.scene.launch import Launch, launch
from supple.scene.prepare import prepare_scene
from supple.scene.progress import SilentListener
from supple.scene.run import RunResult
from supple.scene.simulate import simulate, start_scene
from supple.scene.stage import Built

SCENE: dict[str, Any] = {
    "time": {"fps": 50, "frames": 40, "integrator": "newmark"},
    "mesh": {"shape": "beam", "size": {"length": 1.0, "width": 0.1, "height": 0.1}, "resolution": 10},
    "material": {"model": "stvk", "young": 2e5, "poisson": 0.1, "density": 100.0},
    "pin": [{"select": "min x"}],
}


def prepare(changes: dict[str, Any] | None = None, **method: Any) -> Built:
    chosen = {"name": "skipping", "tolerance": 1e-3, **method}
    return prepare_scene(set_stage(parse_scene({**SCENE, "method": chosen, **(changes or {})})))


def count(result: RunResult, name: str) -> int:
    steps = [step for row in result.rows for step in row.steps]
    return sum(step.learned if name == "learned" else step.kind == name for step in steps)


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunResult]:
    """A model that a run has left, and the run."""
    path = tmp_path_factory.mktemp("kept") / "beam.npz"
    return path, run_scene(prepare(save=str(path)))


def test_a_run_that_begins_with_a_model_takes_few_full_steps_and_stays_right(first: tuple[Path, RunResult]):
    path, before = first
    assert before.model == path
    built = prepare(model=str(path))
    again = run_scene(built)
    assert count(before, "full") >= 15
    assert count(again, "full") < 0.5 * count(before, "full")
    full = build_scene(parse_scene({**SCENE, "method": {"name": "full", "tolerance": 1e-7}}))
    errors, moved = [], []
    for a, b in zip(simulate(built, start_scene(built)), simulate(full, start_scene(full)), strict=True):
        errors.append(np.abs(built.solver.positions(a.state) - b.state.x).max())
        moved.append(np.abs(b.state.x - full.mesh.vertices).max())
    assert max(errors) < 2e-3 * max(moved)


def test_a_run_from_a_checkpoint_still_knows_its_model(first: tuple[Path, RunResult]):
    built = prepare(model=str(first[0]))
    states = list(simulate(built, start_scene(built)))
    for k in (0, 10):  # before and after the model is used
        middle = states[k]._replace(state=built.solver.unpack(built.solver.pack(states[k].state)))
        *_, last = simulate(built, middle)
        assert np.array_equal(built.solver.positions(last.state), built.solver.positions(states[-1].state))


def test_a_model_that_does_not_serve_is_given_up(first: tuple[Path, RunResult]):
    sideways = {"gravity": [0.0, 0.0, 9.81]}  # nothing of that was seen
    built = prepare(sideways, model=str(first[0]))
    told = run_scene(built)
    assert count(told, "learned") > 0
    assert count(told, "reduced") > 0


def test_the_model_serves_the_reduced_method_and_no_other_body(first: tuple[Path, RunResult]):
    path, _ = first
    reduced = prepare(name="reduced", model=str(path))
    *_, end = simulate(reduced, start_scene(reduced))
    skipping = prepare()
    *_, same = simulate(skipping, start_scene(skipping))
    gap = np.abs(reduced.solver.positions(end.state) - skipping.solver.positions(same.state)).max()
    assert gap < 0.02 * np.ptp(reduced.solver.positions(end.state), axis=0).max()
    with pytest.raises(TrainingError, match="other pins"):
        prepare({"pin": [{"select": "max x"}]}, model=str(path))


def test_a_run_that_learned_nothing_says_so(tmp_path: Path):
    said: list[str] = []

    class Heard(SilentListener):
        def say(self, text: str) -> None:
            said.append(text)

    path = tmp_path / "none.npz"
    built = prepare({"time": {**SCENE["time"], "frames": 2}}, save=str(path))
    assert isinstance(built.solver, SkippingSolver)
    assert run_scene(built, listener=Heard()).model is None
    assert not path.exists()
    assert any("nothing was learned" in line for line in said)


@pytest.mark.parametrize("key", ["model", "save"])
def test_the_papers_estimator_keeps_nothing(key: str, first: tuple[Path, RunResult]):
    with pytest.raises(SceneError, match=f"method.{key}"):
        prepare(estimator="paper", **{key: str(first[0])})


def test_a_model_is_not_written_over_what_the_run_reads(tmp_path: Path):
    scene = tmp_path / "beam.toml"
    scene.write_text('mesh = { shape = "beam" }\npin = [{ select = "min x" }]\nmethod = { name = "skipping" }\n')
    for name, words in (("beam.toml", "end it in .npz"), ("out.npz", "both")):
        asked = Launch(scene, [tmp_path / "out.npz"], {"method": {"save": str(tmp_path / name)}})
        with pytest.raises(OutputError, match=words):
            launch(asked, SilentListener(), str, str)
