"""Files are written over only by what wrote them, and only where a scene may write."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.errors import OutputError
from supple.io import open_cache, save_surface
from supple.io.permit import Permit, stamp_path
from supple.scene import build_scene, parse_scene, run_scene, set_stage, train_scene
from supple.scene.kept import VARIABLE
from supple.scene.progress import SilentListener
from supple.scene.toml import write_toml
from supple.shape import make_shape

SCENE: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 1, "frames": 2},
    "mesh": {"shape": "beam", "resolution": 4},
    "material": {"young": 5e4},
    "pin": [{"select": "min x"}],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def write(folder: Path, name: str = "beam.toml", **tables: Any) -> str:
    (folder / name).write_text(write_toml({**SCENE, **tables}), encoding="utf-8")
    return name


def run(*words: str) -> int:
    return main(["run", *words])


@pytest.mark.parametrize("name", ["../x.npz", "absolute", "link/x.npz", "link.npz"])
def test_a_scene_writes_nothing_outside_its_folder(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    target = folder.parent / "x.npz"
    target.write_bytes(b"of somebody else")
    (folder / "link").symlink_to(folder.parent)
    (folder / "link.npz").symlink_to(target)
    named = str(target) if name == "absolute" else name
    scene = write(folder, output={"files": [named]})
    assert run(scene) == 1
    assert f"is named by {scene} and lies outside the scene's folder" in capsys.readouterr().err
    assert target.read_bytes() == b"of somebody else"
    assert main(["doctor", scene]) == 1
    assert "lies outside the scene's folder" in capsys.readouterr().out
    assert run(scene, "-o", str(target)) == 1  # named on the command line, but not supple's
    assert "no stamp says that supple wrote it" in capsys.readouterr().err
    assert target.read_bytes() == b"of somebody else"
    assert run(scene, "-o", str(target), "--overwrite") == 0
    assert open_cache(target).frames == 3


@pytest.mark.parametrize("key", ["save", "cache"])
def test_models_and_caches_stay_in_the_folder_too(folder: Path, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    outside = {"save": {"method": {"name": "skipping", "save": "../m.npz"}}, "cache": {"training": {"cache": "../c"}}}
    scene = write(folder, **outside[key])
    assert (run(scene) if key == "save" else main(["train", scene])) == 1
    assert "lies outside the scene's folder" in capsys.readouterr().err
    assert sorted(path.name for path in folder.parent.iterdir()) == ["here"]


@pytest.mark.parametrize("suffix", [".npz", ".usdc", ".pvd", ".obj", ".pc2", ".mdd", ".glb"])
def test_a_recording_is_replaced_by_its_own_scene_and_method_alone(
    folder: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scene, other, out = write(folder), write(folder, "other.toml"), f"out{suffix}"
    assert run(scene, "-o", out) == 0
    assert "replaces" not in capsys.readouterr().err
    before = {path: path.read_bytes() for path in folder.glob("out*") if path.is_file()}
    assert run(other, "-o", out) == 1
    assert "holds what supple wrote for beam.toml under full: name another, or give" in capsys.readouterr().err
    assert run(scene, "-o", out, "--method", "projective") == 1
    assert before == {path: path.read_bytes() for path in folder.glob("out*") if path.is_file()}
    capsys.readouterr()
    assert run(write(folder, material={"young": 6e4}), "-o", out) == 0  # the same scene, changed
    assert f"replaces {out if suffix != '.obj' else 'out.####.obj'}, which the same" in capsys.readouterr().err
    assert run(other, "-o", out, "--overwrite") == 0


def test_what_was_changed_since_is_not_replaced(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = write(folder)
    assert run(scene, "-o", "out.npz") == 0
    np.savez("out.npz", mine=np.zeros(3))
    assert run(scene, "-o", "out.npz") == 1
    assert "out.npz was changed after supple wrote it" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out_0001.vtu", "out.0001.obj", "out.pc2.obj", "out.npz.checkpoint.npz"])
def test_files_beside_a_recording_are_not_replaced_either(folder: Path, name: str) -> None:
    suffix = {"vtu": ".pvd", "npz": ".npz"}.get(name.rsplit(".", 1)[1], ".pc2" if "pc2" in name else ".obj")
    Path(name).write_text("of somebody else", encoding="utf-8")
    assert run(write(folder), "-o", f"out{suffix}") == 1
    assert Path(name).read_text(encoding="utf-8") == "of somebody else"


def test_a_surface_that_a_sequence_is_named_after_is_no_part_of_it(folder: Path) -> None:
    save_surface("out.obj", make_shape("beam", resolution=4).surface())
    before = Path("out.obj").read_bytes()
    assert run(write(folder), "-o", "out.obj") == 0
    assert Path("out.obj").read_bytes() == before


def test_scene_and_outputs_may_move_together(folder: Path) -> None:
    assert run(write(folder), "-o", "out.npz") == 0
    moved = folder.parent / "there"
    shutil.copytree(folder, moved)
    assert run(str(moved / "beam.toml"), "-o", str(moved / "out.npz")) == 0
    assert run(str(folder / "beam.toml"), "-o", str(moved / "out.npz")) == 1


def test_every_verb_asks_before_it_replaces(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scene = write(folder)
    save_surface("box.obj", make_shape("box", resolution=3).surface())
    assert run(scene, "-o", "out.npz") == 0
    verbs = {
        "t.msh": ["mesh", "box.obj", "--resolution", "3", "-o", "t.msh"],
        "c.ply": ["convert", "box.obj", "c.ply"],
        "r.pc2": ["convert", "out.npz", "r.pc2"],
        "f.obj": ["check", "box.obj", "--fix", "f.obj"],
        "p.png": ["render", "out.npz", "-o", "p.png", "--width", "32", "--height", "32"],
        "i.json": ["info", "box.obj", "--json", "i.json"],
        "s.toml": ["run", scene, "-o", "again.npz", "--write-scene", "s.toml"],
    }
    for name, words in verbs.items():
        Path(name).write_text("of somebody else", encoding="utf-8")
        assert main(words) == 1, name
        assert "no stamp says that supple wrote it" in capsys.readouterr().err, name
        assert Path(name).read_text(encoding="utf-8") == "of somebody else"
        assert main([*words, "--overwrite"]) == 0, name
        assert main(words) == 0, name  # its own
        Path(name).write_text("changed", encoding="utf-8")
        assert main(words) == 1, name
        assert Path(name).read_text(encoding="utf-8") == "changed"


def test_a_page_of_somebody_else_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("beam.compare.html").write_text("mine", encoding="utf-8")
    assert main(["compare", write(folder), "--method", "projective"]) == 1
    assert "beam.compare.html is there, and no stamp says" in capsys.readouterr().err
    assert Path("beam.compare.html").read_text(encoding="utf-8") == "mine"


def test_a_demonstration_leaves_a_changed_scene_alone(folder: Path) -> None:
    from supple.scene.demo import lay_out_demo

    scene = lay_out_demo(folder / "demo")
    assert lay_out_demo(folder / "demo") == scene
    scene.write_text(scene.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    with pytest.raises(OutputError, match="was changed after supple wrote it"):
        lay_out_demo(folder / "demo")
    assert lay_out_demo(folder / "demo", overwrite=True) == scene


def test_models_are_trained_again_in_their_own_place_only(folder: Path) -> None:
    small = {**SCENE, "training": {"cases": 1, "heldout": 1, "max_cases": 1}, "method": {"name": "reduced", "rank": 2}}
    stage = set_stage(parse_scene(small))
    mine = folder / "m.npz"
    mine.write_bytes(b"of somebody else")
    with pytest.raises(OutputError, match="no stamp says"):
        train_scene(stage, mine, SilentListener())
    assert mine.read_bytes() == b"of somebody else"
    (folder / "own").mkdir()
    np.savez(folder / "own" / "case-0000.npz", mine=np.zeros(3))
    cached = {**small, "training": {**small["training"], "cache": str(folder / "own")}}
    with pytest.raises(OutputError, match="own is there, and no stamp says"):
        train_scene(set_stage(parse_scene(cached)), None, SilentListener())


def test_in_python_overwrite_is_an_argument(folder: Path) -> None:
    one, other = (build_scene(parse_scene({**SCENE, "material": {"young": young}})) for young in (5e4, 6e4))
    run_scene(one, [Path("a.npz")])
    run_scene(one, [Path("a.npz")])
    with pytest.raises(OutputError, match="overwrite=True"):
        run_scene(other, [Path("a.npz")])
    run_scene(other, [Path("a.npz")], overwrite=True)


def test_a_stamp_names_scene_method_and_content(folder: Path) -> None:
    permit, file = Permit(folder / "scenes" / "beam.toml", "full"), folder / "out.npz"
    file.write_bytes(b"frames")
    permit.begin(file)
    assert permit.ask(file) is not None  # a killed run leaves what it has written
    permit.done(file)
    stamp = json.loads(stamp_path(file).read_text(encoding="utf-8"))
    assert stamp["for"] == {"source": "scenes/beam.toml", "method": "full"}
    assert permit.ask(file) is not None
    assert permit.ask(folder / "new.npz") is None
    for text in ("", "[]", "{}", '{"schema": "supple stamp 1"}'):
        stamp_path(file).write_text(text, encoding="utf-8")
        with pytest.raises(OutputError):
            permit.ask(file)
