"""Scenes drawn from a seed: no fault of the program, no silent inversion, no figure that was not measured."""

from pathlib import Path

import pytest

from random_scenes import draw_scene, run_random
from supple.scene.load import parse_scene

SEED, COUNT = 0, 40


@pytest.mark.filterwarnings("default::supple.errors.SuppleWarning")
@pytest.mark.parametrize("number", range(COUNT))
def test_a_random_scene_runs_or_says_why_not(number: int, tmp_path: Path) -> None:
    assert run_random(SEED, number, tmp_path).fault is None


def test_random_scenes_cover_methods_integrators_and_what_acts() -> None:
    scenes = [parse_scene(draw_scene(SEED, number)) for number in range(COUNT)]
    assert {scene.method.name for scene in scenes} == {
        "full", "projective", "hyperreduced", "skipping", "reduced", "condensation", "posespace"
    }  # fmt: skip
    assert {scene.time.integrator for scene in scenes} == {"implicit_euler", "newmark", "static"}
    for table in ("pin", "collider", "rig"):
        assert 0 < sum(bool(getattr(scene, table)) for scene in scenes) < COUNT
