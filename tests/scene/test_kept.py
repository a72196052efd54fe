"""What a start keeps for the next: the same bits, found again, and never in the way."""

import os

import numpy as np
import pytest

from little_man import LittleMan
from supple.scene.build import set_stage
from supple.scene.defaults import open_scene
from supple.scene.kept import VARIABLE, cache_folder, recall
from supple.scene.prepare import default_model

SMALL = {"mesh": {"elements": 300}, "time": {"frames": 2, "preroll": 2}, "rig": {"rest": "posed", "fit": True}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def count_calls(calls, value):
    def make():
        calls.append(1)
        return {"a": value}

    return make


def test_a_second_start_reads_tetrahedra_weights_and_fits_and_is_the_same_to_the_bit(tmp_path, folder):
    scene = open_scene(LittleMan().save(tmp_path / "man.glb"), SMALL)
    first, second = set_stage(scene), set_stage(scene)
    assert {file.name.split("-")[0] for file in folder.iterdir()} == {"filled", "drawn", "weights", "fitted"}
    assert not any("as kept in" in line for line in first.describe())
    assert sum("as kept in" in line for line in second.describe()) == 2  # tetrahedra and fits
    assert first.mesh.notes == second.mesh.notes
    assert first.drive.rigging.digest() == second.drive.rigging.digest()
    assert first.body.hash() == second.body.hash()
    for one, other in zip(first.source.render.embedding.weights, second.source.render.embedding.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    pose = first.drive.rigging.course.pose(1 / 24)
    np.testing.assert_array_equal(*(stage.drive.rigging.rig.positions(pose) for stage in (first, second)))
    coarser = set_stage(open_scene(tmp_path / "man.glb", SMALL | {"mesh": {"elements": 200}}))
    assert len(coarser.mesh.tets) < len(first.mesh.tets)


def test_other_words_other_arrays_and_damaged_files_are_made_anew(folder):
    calls, value = [], np.arange(5)
    for words, array in (([1], value), ([1], value), ([2], value), ([1], value.astype(float))):
        found = recall("thing", words, [array, None], count_calls(calls, value))
        np.testing.assert_array_equal(found["a"], value)
    assert len(calls) == 3
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:50])
    again = recall("thing", [1], [value, None], count_calls(calls, value))
    assert (len(calls), again.file) == (4, None)
    assert recall("thing", [1], [value, None], count_calls(calls, value)).file is not None


def test_a_folder_that_takes_nothing_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    calls = []
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file"))
    assert recall("thing", [], [], count_calls(calls, np.ones(1)))["a"] == 1
    monkeypatch.setenv(VARIABLE, "off")
    assert cache_folder() is None
    assert recall("thing", [], [], count_calls(calls, np.ones(1)))["a"] == 1
    assert len(calls) == 2
    monkeypatch.delenv(VARIABLE)
    assert cache_folder().name in ("supple", "cache")


def test_what_was_not_used_for_longest_makes_room(folder, monkeypatch):
    monkeypatch.setattr("supple.scene.kept.MOST", 2500)
    for k in range(3):
        recall("thing", [k], [], lambda: {"a": np.zeros(100)})
        for age, file in enumerate(sorted(folder.iterdir(), key=lambda one: one.stat().st_mtime_ns)):
            os.utime(file, ns=(10**9 * age, 10**9 * age))
        recall("thing", [0], [], lambda: {"a": np.zeros(100)})  # stays, being used
    assert recall("thing", [0], [], lambda: {"a": np.zeros(100)}).file is not None
    assert recall("thing", [1], [], lambda: {"a": np.zeros(100)}).file is None


def test_a_model_goes_where_a_file_can_be_made(tmp_path, folder, monkeypatch):
    scene = tmp_path / "read only" / "scene.toml"
    scene.parent.mkdir()
    scene.write_text("")
    assert default_model(scene) == scene.with_name("scene.model.npz")
    monkeypatch.setattr("os.access", lambda place, mode: place != scene.parent)  # root may write anywhere
    assert default_model(scene).parent == folder
    assert default_model(scene).name.startswith("scene-")
    monkeypatch.setenv(VARIABLE, "off")
    assert default_model(scene) == scene.with_name("scene.model.npz")
