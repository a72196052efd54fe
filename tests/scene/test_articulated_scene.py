"""Rigged scenes in domains: trained, stored, found again, run and compared as those in one subspace are."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.cli import main
from supple.errors import SceneError, SuppleError, TrainingError
from supple.io import load_articulated, load_model, load_skinned, save_articulated
from supple.method import ArticulatedModel
from supple.rig import SkinnedRig
from supple.scene import SilentListener, Stage, parse_scene, prepare, prepare_scene, set_stage
from supple.scene.info import describe_file
from supple.scene.launch import save_scene
from supple.scene.load import override
from supple.scene.prepare import default_model

TOLERANCE = 0.1
BENT: dict[str, Any] = {
    "time": {"fps": 24, "frames": 12, "substeps": 1},
    "mesh": {"shape": "capsule", "resolution": 10},
    "material": {"young": 2e4, "damping_stiffness": 0.003},
    "rig": {},
    "motion": {"between": "linear", "keys": [{"t": 0.4, "second": [0, 0, 60]}]},
    "method": {"name": "reduced", "tolerance": TOLERANCE},
    "training": {"cases": 2, "max_cases": 2, "steps": 12, "domains": "bones"},
}


class Heard(SilentListener):
    def __init__(self) -> None:
        self.text = ""

    def say(self, text: str) -> None:
        self.text += text + "\n"


def stage_of(**changes: Any) -> Stage:
    return set_stage(parse_scene(override(BENT, changes)))


def rig_of(stage: Stage) -> SkinnedRig:
    assert stage.drive.rigging is not None
    return stage.drive.rigging.rig


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene file whose model was trained by the command line."""
    file = tmp_path_factory.mktemp("domains") / "bent.toml"
    save_scene(file, parse_scene(BENT), "bent")
    assert main(["train", str(file), "--quiet"]) == 0
    return file


@pytest.fixture(scope="module")
def stage() -> Stage:
    return stage_of()


@pytest.fixture(scope="module")
def model(source: Path, stage: Stage) -> ArticulatedModel:
    return load_articulated(default_model(source), stage.body, rig_of(stage))


def test_the_model_meets_its_tolerance_and_is_found_again(source: Path, stage: Stage, model: ArticulatedModel) -> None:
    assert model.error is not None
    assert model.error <= TOLERANCE
    assert model.facts["domains"] == ["first", "second"]
    assert sum(model.facts["domain_ranks"]) == model.facts["coordinates"] == model.basis.rank
    assert max(model.facts["domain_ranks"]) <= model.facts["rank"]
    heard = Heard()
    built = prepare_scene(stage, heard, source)
    assert heard.text.startswith(f"using {default_model(source)}")
    assert built.solver.name == "articulated"
    assert built.model is not None
    assert built.model.hash() == model.hash()


def test_a_scene_that_asks_for_another_division_by_name_trains_again(
    source: Path, model: ArticulatedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, asked = Heard(), []
    monkeypatch.setattr(prepare, "train_scene", lambda stage, *_, **__: asked.append(stage) or model)
    prepare_scene(stage_of(training={"domains": "none"}), heard, source)
    assert "was trained with training.domains = bones instead of none: training again" in heard.text
    assert len(asked) == 1
    tables = {**BENT, "training": {key: value for key, value in BENT["training"].items() if key != "domains"}}
    prepare_scene(set_stage(parse_scene(tables)), heard, source)  # mere defaults ask for nothing
    assert len(asked) == 1


def test_compare_and_info_speak_of_it(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(source), "-o", str(source.with_suffix(".html")), "--json", "-", "--quiet"]) == 0
    method = json.loads(capsys.readouterr().out)["methods"][0]
    assert method["method"] == "articulated"
    assert method["within_tolerance"]
    assert "springs of" in method["solver"][-1]
    facts = describe_file(default_model(source))
    assert facts["serves"] == "a body with a rig"
    assert facts["domains"] == ["first", "second"]
    assert facts["drawn_at_borders"] == "mean of the copies by mass"
    assert facts["spring_stiffness"] > 0.0


def test_a_file_holds_a_model_bit_for_bit(source: Path, stage: Stage, model: ArticulatedModel, tmp_path: Path) -> None:
    rig = rig_of(stage)
    again = save_articulated(tmp_path / "again.npz", model, stage.body, rig)
    assert again.read_bytes() == default_model(source).read_bytes()
    assert load_articulated(again, stage.body, rig).hash() == model.hash()


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        ("vertices", lambda a: a + 100_000, r"its rule has vertices outside the \d+ of its mesh"),
        ("members", lambda a: a + 100_000, r"its rule has elements outside the \d+ of its mesh"),
        ("columns", lambda a: a[:-1], "its arrays do not fit each other"),
        ("ranks", lambda a: a[::-1] * 2, "its arrays do not fit each other"),
        ("owners", lambda a: a * 3, "its domains are not those it names"),
        ("importance", lambda a: -a, "stiffnesses that are not above zero"),
        ("weights", lambda a: a * np.nan, "does not hold what a model needs"),
        ("values", lambda a: np.array(str(a).replace('"names"', '"nomen"')), "its description is damaged"),
    ],
)
def test_a_damaged_file_is_refused(source: Path, stage: Stage, tmp_path: Path, name: str, spoil, said: str) -> None:
    with np.load(default_model(source)) as members:
        arrays = {**members, name: spoil(members[name])}
    np.savez(tmp_path / "damaged.npz", **arrays)
    with pytest.raises(SuppleError, match=f"{said}; train it again"):
        load_articulated(tmp_path / "damaged.npz", stage.body, rig_of(stage))


def test_another_body_rig_or_kind_is_refused_with_what_differs(source: Path, stage: Stage) -> None:
    rig, path = rig_of(stage), default_model(source)
    with pytest.raises(
        TrainingError, match="another rig, which is skinned by dual quaternion where this one is by lin"
    ):
        load_articulated(path, stage.body, replace(rig, mode="linear"))
    with pytest.raises(TrainingError, match="another body, which is made of other materials"):
        load_articulated(path, stage_of(material={"young": 3e4}).body, rig)
    with pytest.raises(TrainingError, match="for a body with a rig, in domains and not for a body with a rig: train"):
        load_skinned(path)
    with pytest.raises(TrainingError, match="for a body with a rig, in domains and not for a body without a rig"):
        load_model(path)


def test_domains_need_bones() -> None:
    with pytest.raises(SceneError, match=r'training.domains = "bones" but no bones: add \[rig\]'):
        parse_scene({"mesh": {"shape": "beam"}, "training": {"domains": "bones"}})
