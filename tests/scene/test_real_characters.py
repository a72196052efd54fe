"""Ten real characters in and out: what is read, simulated and written belongs together; what was set right is said."""

import warnings

import numpy as np
import pytest

from supple.bench.character_files import find_characters
from supple.errors import SuppleWarning
from supple.io import open_cache
from supple.scene.build import set_stage
from supple.scene.defaults import open_scene
from supple.scene.load import override, parse_scene
from supple.scene.record import Recorder
from supple.scene.simulate import simulate, start_scene
from supple.scene.solvers import add_solver

SHORT = {"mesh": {"elements": 500}, "time": {"frames": 1, "preroll": 0, "substeps": 1}, "gravity": False}
SAID = {  # joints, and what was done
    "arm.tgf": (4, ""),
    "Fox.glb": (22, "clips: Survey"),
    "cheb_skeleton.out": (19, ""),
    "elephant.tgf": (24, "negative"),
    "Yeti.gltf": (65, "normalised the weights of 5,753 vertices, which summed to 0.7702 to 1"),
    "generic-hand-left.glb": (20, ""),
    "Alien.gltf": (7, "7 other meshes ride along"),
    "CesiumMan.glb": (19, ""),
    "default.mhskel": (152, "normalised the weights"),
    "RiggedSimple.glb": (2, ""),
}


@pytest.fixture(scope="module")
def characters(shared_data):
    found = {}
    for folder in ("arm", "bear", "cheb", "elephant", "gorilla", "hand", "head", "human", "simple"):
        found |= find_characters(shared_data / folder) if (shared_data / folder).is_dir() else {}
    return found


@pytest.mark.parametrize("name", SAID)
def test_a_real_character_goes_in_and_comes_out(characters, tmp_path, name):
    source = characters[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # of what a clip has and bones cannot do
        scene = parse_scene(override(source, SHORT)) if isinstance(source, dict) else open_scene(source, SHORT)
        stage = set_stage(scene)
    built = add_solver(stage)
    joints, words = SAID[name]
    said = "\n".join(stage.describe())
    assert (len(stage.drive.rigging.posing.actor.skeleton), words in said) == (joints, True), said
    start = start_scene(built)
    with Recorder(built, [tmp_path / "out.usdc"]) as recorder:
        recorder.write(start)
        (now,) = simulate(built, start)
        recorder.write(now)
    cache, drawn = open_cache(tmp_path / "out.usdc"), stage.source.render
    assert (cache.info.fps, cache.frames) == (scene.time.fps, 2)
    carried = drawn.embedding.apply(built.solver.positions(now.state))
    size = np.ptp(drawn.surface.vertices, axis=0).max()
    assert np.abs(cache.surface_positions(1) - carried).max() < 1e-5 * size
    rigging = stage.drive.rigging
    posed = rigging.rig.positions(rigging.course.pose(1.0 / scene.time.fps))
    assert np.linalg.norm(built.solver.positions(now.state) - posed, axis=1).max() < 0.15 * size  # near its skin
