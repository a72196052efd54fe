"""Every method has a demonstration, and what one writes is there, readable and honest."""

from pathlib import Path
from typing import Any, get_args

import pytest

from supple.cli import main
from supple.errors import SceneError
from supple.io import open_cache
from supple.scene import diagnose, load_scene, set_stage
from supple.scene.demo import run_demo
from supple.scene.demo_table import DEMOS
from supple.scene.method_table import MethodName
from supple.scene.progress import SilentListener

SMALL: dict[str, dict[str, Any]] = {
    "full": {"mesh": {"elements": 600}, "time": {"frames": 3, "preroll": 0}},
    "hyperreduced": {"mesh": {"elements": 600}, "time": {"frames": 4}},
}


@pytest.fixture(autouse=True)
def _compile_nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process would have nothing to do but start."""
    monkeypatch.setattr("supple.scene.kernels.available_threads", lambda: 1)


def run_small(name: str, folder: Path) -> tuple[dict[str, Any], list[str], str]:
    said: list[str] = []
    facts = run_demo(folder, SilentListener(), said.append, name, SMALL[name])
    return facts, said, (folder / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SMALL)
def test_demo_writes_all_it_names(name: str, tmp_path: Path) -> None:
    facts, said, page = run_small(name, tmp_path / "demo")
    assert facts["frames"] == SMALL[name]["time"]["frames"]
    assert {Path(file).suffix for file in facts["files"]} == {".html", ".png", ".usdc", ".glb", ".toml"}
    for file in facts["files"]:
        assert Path(file).stat().st_size > 0
        assert any(file in line for line in said)
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "supple doctor" in page
    usd, gltf = (open_cache(facts["scene"].replace(".toml", suffix)) for suffix in (".usdc", ".glb"))
    assert usd.frames == gltf.frames == facts["frames"] + 1
    if name != "full":
        assert facts["speedup"] > 0.0
        assert 0.0 < facts["error"] < 1.0
        assert "times as fast" in page


def test_every_method_has_a_demo() -> None:
    assert set(get_args(MethodName)) <= set(DEMOS)


@pytest.mark.parametrize("name", DEMOS)
def test_scene_of_a_demo_is_for_its_method_and_plausible(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.toml"
    source.write_text(DEMOS[name].scene, encoding="utf-8")
    scene = load_scene(source)
    if name == "selfcontact":
        assert scene.contact is not None
        assert scene.contact.self_ == "rules"
    else:
        assert scene.method.name == name
    assert f"supple run {source.name}" in DEMOS[name].scene
    assert [finding for finding in diagnose(set_stage(scene)) if finding.severity == "error"] == []


def test_unknown_demo_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SceneError, match="no demonstration 'jelly': name one of posespace"):
        run_demo(tmp_path, SilentListener(), print, "jelly")
    assert main(["demo", "--list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{demo.name} " in listed and demo.about in listed for demo in DEMOS.values())
