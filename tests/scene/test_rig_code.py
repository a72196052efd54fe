"""Python files that a scene names run where somebody has allowed it, and nowhere else."""

from pathlib import Path

import pytest

from supple.cli import main
from supple.errors import SceneError
from supple.scene import load_scene, parse_scene, set_stage
from supple.scene.kept import VARIABLE
from supple.scene.toml import write_toml

TABLES = {
    "time": {"frames": 1, "integrator": "static"},
    "mesh": {"shape": "beam", "resolution": 4},
    "rig": {
        "rest": "posed",
        "hold": "min x 20%",
        "deformer": [{"kind": "function", "file": "lift.py", "function": "lift", "controls": ["slope"]}],
    },
    "motion": {"keys": [{"t": 0.04, "slope": 0.1}]},
}
CODE = """from pathlib import Path

with Path(__file__).with_name("ran").open("a") as stream:
    stream.write("x")


def lift(points, values):
    moved = points.copy()
    moved[:, 1] += values[0] * (points[:, 0] - points[:, 0].min())
    return moved
"""


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("supple.scene.rig_code._allowed", set())
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "lift.py").write_text(CODE, encoding="utf-8")
    (folder / "scene.toml").write_text(write_toml(TABLES), encoding="utf-8")
    return folder / "scene.toml"


def ran(scene: Path) -> bool:
    return scene.with_name("ran").exists()


def run(scene: Path, *more: str) -> int:
    return main(["run", str(scene), "-o", "out.npz", *more])


def test_info_doctor_and_check_run_nothing(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(scene, "--allow-code") == 0  # what is remembered makes no difference
    scene.with_name("ran").unlink()
    assert main(["info", str(scene)]) == 0
    assert "the function 'lift' of" in capsys.readouterr().out
    assert main(["doctor", str(scene)]) == 0
    assert f"note: the function 'lift' of {scene.with_name('lift.py')} was not run" in capsys.readouterr().out
    main(["check", str(scene)])
    assert not ran(scene)


@pytest.mark.parametrize("verb", ["run", "train", "compare", "view"])
def test_a_scene_of_somebody_else_runs_nothing_and_says_what_it_would(
    scene: Path, verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if verb == "view":
        pytest.importorskip("viser")
    assert main([verb, str(scene), *(["--method", "posespace"] if verb == "compare" else [])]) == 2
    said = capsys.readouterr().err
    assert f"would run the function 'lift' of {scene.with_name('lift.py')}: read that file, then give  --allow" in said
    assert not ran(scene)


def test_consent_is_remembered_for_the_file_as_it_is(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(scene, "--allow-code") == 0
    assert f"runs the function 'lift' of {scene.with_name('lift.py')}" in capsys.readouterr().out
    scene.with_name("ran").unlink()
    forget_this_process()
    assert run(scene) == 0
    assert ran(scene)
    assert "runs the function 'lift'" in capsys.readouterr().out
    scene.with_name("ran").unlink()
    scene.with_name("lift.py").write_text(CODE + "# changed\n", encoding="utf-8")
    forget_this_process()
    assert run(scene) == 2
    assert not ran(scene)


def forget_this_process() -> None:
    from supple.scene import rig_code

    rig_code._allowed.clear()


def test_nothing_is_remembered_where_nothing_is_kept(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "off")
    assert run(scene, "--allow-code") == 0
    forget_this_process()
    assert run(scene) == 2


def test_a_link_out_of_the_folder_is_named_and_refused(scene: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.py"
    scene.with_name("lift.py").rename(elsewhere)
    scene.with_name("lift.py").symlink_to(elsewhere)
    with pytest.raises(SceneError, match=rf"'lift' of {elsewhere}, outside the folder of .*lift\.py: read that file"):
        set_stage(load_scene(scene))
    assert not elsewhere.with_name("ran").exists()
    set_stage(load_scene(scene, allow_code=True))


def test_in_python_a_scene_is_loaded_with_consent_or_without(scene: Path) -> None:
    with pytest.raises(SceneError, match="allow_code=True"):
        set_stage(load_scene(scene))
    with pytest.raises(SceneError, match="allow_code=True"):
        set_stage(parse_scene(TABLES, folder=scene.parent))
    assert not ran(scene)
    set_stage(parse_scene(TABLES, folder=scene.parent, allow_code=True))
    assert ran(scene)
    scene.with_name("lift.py").write_text(CODE.replace("x", "y"), encoding="utf-8")
    with pytest.raises(SceneError, match="would run"):
        set_stage(load_scene(scene))
