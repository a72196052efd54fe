"""The benchmark of characters: its columns, and what it says of folders without any."""

import subprocess
import sys
from pathlib import Path

import pytest

from little_man import LittleMan
from supple.bench.character import run
from supple.cli import main
from supple.errors import SceneError
from supple.io import open_cache

KEYS = ["file", "vertices", "joints", "load_s", "mesh_s", "train_s", "frame_ms", "write_s", "out_mb"]


@pytest.fixture
def started(monkeypatch):
    """Frames in the files that second starts wrote; they run in this process, which has imported all they need."""
    written = []

    def start(command, **_):
        assert command[:4] == [sys.executable, "-P", "-m", "supple"]
        code = main([*command[4:], "-q"])
        written.append(open_cache(command[-1]).frames)
        return subprocess.CompletedProcess(command, code, "", "")

    monkeypatch.setattr("supple.bench.character.subprocess.run", start)
    return written


def test_a_row_has_the_columns_of_the_page(tmp_path, monkeypatch, started):
    monkeypatch.setattr("supple.scene.character_scene.ELEMENTS", 500)
    man = LittleMan()
    man.tree["animations"] = []
    man.save(tmp_path / "man.glb")
    (row,) = run("small", mesh=tmp_path, steps=1)
    assert [key for key in row if key in KEYS] == KEYS
    assert (row["file"], row["joints"]) == ("man.glb", 3)
    assert row["load_s"] + row["mesh_s"] < row["first_s"]
    assert (started, row["again_s"] > 0) == ([2], True)
    assert row["out_mb"] > 0
    page = (Path(__file__).parents[2] / "docs" / "characters.md").read_text(encoding="utf-8")
    assert all(f"`{key}`" in page for key in row)


def test_folders_without_characters_are_refused_and_damaged_files_are_rows(tmp_path):
    with pytest.raises(SceneError, match="no rigged character"):
        run("small", mesh=tmp_path)
    with pytest.raises(SceneError, match="--mesh"):
        run("small")
    (tmp_path / "a.glb").write_bytes(b"glTF")
    (row,) = run("small", mesh=tmp_path / "a.glb")
    assert "a.glb" in row["failed"]
