"""A scene asks for skipping as [KJ09] prints it, with the paper's parameters where none are given."""

from pathlib import Path
from typing import Any

import pytest

from supple.errors import SceneError
from supple.method import PaperSkippingSolver
from supple.scene import build_scene, parse_scene, run_scene

SCENE: dict[str, Any] = {
    "time": {"fps": 50, "frames": 12, "integrator": "newmark"},
    "mesh": {"shape": "beam", "size": {"length": 1.0, "width": 0.1, "height": 0.1}, "resolution": 8},
    "material": {"model": "stvk", "young": 2e5, "poisson": 0.1, "density": 100.0},
    "pin": [{"select": "min x"}],
}


def solver(integrator: str = "newmark", **method: Any) -> Any:
    time = {**SCENE["time"], "integrator": integrator}
    chosen = {"name": "skipping", "estimator": "paper", **method}
    return build_scene(parse_scene({**SCENE, "time": time, "method": chosen})).solver


def test_the_parameters_are_those_of_the_paper_or_of_the_scene():
    moving, still = solver(), solver("static")
    assert isinstance(moving, PaperSkippingSolver)
    for made, error, discard in ((moving, 1e-2, 1e-2), (still, 5e-3, 1e-3)):
        s = made.settings
        assert (s.error, s.discard, s.max_rank, s.throttle) == (error, discard, 20, 1.0)
    asked = solver(tolerance=2e-3, discard=4e-3, max_rank=7, throttle=2.0).settings
    assert (asked.error, asked.discard, asked.max_rank, asked.throttle) == (2e-3, 4e-3, 7, 2.0)


def test_discard_is_the_papers_alone():
    with pytest.raises(SceneError, match="discard"):
        solver(estimator="checks", discard=1e-3)


def test_a_run_tells_its_timeline(tmp_path: Path):
    method = {"name": "skipping", "estimator": "paper", "tolerance": 0.05, "discard": 0.03, "max_rank": 6}
    result = run_scene(build_scene(parse_scene({**SCENE, "method": method})), [tmp_path / "swing.npz"])
    steps = [step for row in result.rows for step in row.steps]
    assert len(steps) == 24
    assert {step.kind for step in steps} == {"full", "reduced"}
    assert steps[0].learned
    assert all(0 < step.rank <= 6 for step in steps)
