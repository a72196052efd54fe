"""What makes a model unfit for a scene: a change of what it learned from, method by method, and nothing else."""

from pathlib import Path
from typing import Any

import pytest

from supple.io import load_model
from supple.method.model import fingerprint
from supple.scene import Stage, parse_scene, prepare_scene, set_stage
from supple.scene.load import override
from supple.scene.prepare import _load, default_model, stamp_loads, train_scene

BEAM: dict[str, Any] = {
    "time": {"fps": 48, "substeps": 1, "frames": 20},
    "mesh": {"shape": "beam", "resolution": 8},
    "material": {"young": 1e6, "poisson": 0.4},
    "pin": [{"select": "min x"}],
    "force": [{"kind": "region", "select": "max x", "vector": [0.0, 0.0, 60.0], "until": 0.2}],
    "collider": [{"shape": "plane", "at": [0.0, 0.0, -0.5]}],
    "contact": {"friction": 0.3},
    "training": {"cases": 1, "max_cases": 1, "heldout": 1, "steps": 6},
    "output": {"files": []},
}
LIMB: dict[str, Any] = {
    **{name: table for name, table in BEAM.items() if name not in ("pin", "force")},
    "mesh": {"shape": "capsule", "resolution": 8},
    "rig": {},
}
SCENES: dict[str, dict[str, Any]] = {
    "reduced": {**BEAM, "method": {"name": "reduced", "tolerance": 0.2}},
    "condensation": {**BEAM, "method": {"name": "condensation", "tolerance": 0.2}},
    "skinned": {**LIMB, "method": {"name": "reduced", "tolerance": 0.2}},
    "pose space": {**LIMB, "rig": {"rest": "posed"}, "method": {"name": "posespace", "tolerance": 0.2}},
}
ALL = set(SCENES)
UNTOUCHED = {"condensation"}  # it learns while nothing touches it
HELD = {"reduced", "condensation"}  # the others are held by their bones


def stage_of(method: str, changes: dict[str, Any] | None = None) -> Stage:
    return set_stage(parse_scene(override(SCENES[method], changes or {})))


def serves(stage: Stage) -> tuple[Any, ...]:
    """What a model must find again in a scene."""
    return fingerprint(stage.body), stamp_loads(stage)


@pytest.mark.parametrize(
    ("changes", "survive"),
    [
        ({"output": {"files": ["beam.npz"]}}, ALL),
        ({"time": {"frames": 30}}, ALL - {"pose space"}),  # which learns the poses of its frames
        ({"method": {"tolerance": 0.3}}, ALL),
        ({"training": {"cache": "runs"}}, ALL),
        ({"collider": [{"shape": "plane", "at": [0.0, 0.0, -0.4]}]}, UNTOUCHED),
        ({"collider": [{"shape": "sphere", "size": {"radius": 0.1}, "at": [0.0, 0.0, -2.0]}]}, UNTOUCHED),
        ({"contact": {"friction": 0.5}}, UNTOUCHED),
        ({"gravity": [0.0, 0.0, -5.0]}, set()),
        ({"time": {"substeps": 2}}, set()),
        ({"time": {"fps": 60}}, set()),
        ({"time": {"preroll": 3}}, set()),
        ({"time": {"integrator": "static"}}, set()),
        ({"start": {"velocity": [0.0, 0.0, 0.1]}}, set()),
        ({"training": {"load": [{"kind": "gravity", "vector": [0.0, 1.0, 0.0]}]}}, set()),
        ({"material": {"young": 2e6}}, set()),
        ({"material": {"damping_mass": 0.3}}, set()),
        ({"mesh": {"resolution": 9}}, set()),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),  # processes agree on names
)
def test_models_survive_what_they_did_not_learn_from(changes: dict[str, Any], survive: set[str]) -> None:
    kept = {method for method in SCENES if serves(stage_of(method, changes)) == serves(stage_of(method))}
    assert kept == survive


@pytest.mark.parametrize("changes", [{"pin": [{"select": "max x"}]}, {"force": []}], ids=str)
def test_models_of_held_bodies_do_not_survive_other_pins_and_forces(changes: dict[str, Any]) -> None:
    assert not any(serves(stage_of(method, changes)) == serves(stage_of(method)) for method in HELD)


@pytest.mark.parametrize("method", sorted(ALL - HELD))
def test_models_of_limbs_do_not_survive_another_motion(method: str) -> None:
    assert serves(stage_of(method, {"motion": {"keys": [{"t": 0.5, "second": [0, 0, 30]}]}})) != serves(
        stage_of(method)
    )


def test_the_same_seed_gives_the_same_file_and_seconds_lie_beside_its_runs(tmp_path: Path) -> None:
    folders, alone = (
        [tmp_path / name for name in ("one", "other")],
        stage_of("reduced", {"collider": [], "contact": None}),
    )
    models = []
    for folder in folders:
        folder.mkdir()
        models.append(train_scene(alone, folder / "a.model.npz", _Quiet(), folder / "a.toml"))
    one, other = (folder / "a.model.npz" for folder in folders)
    assert one.read_bytes() == other.read_bytes()
    assert models[0].facts["seconds"] != models[1].facts["seconds"]
    assert "seconds" not in load_model(one).facts
    assert _load(alone, one).facts["seconds"] == models[0].facts["seconds"]
    (folders[0] / "a.training" / "seconds.json").write_text("[")
    assert "seconds" not in _load(alone, one).facts


def test_a_moved_collider_trains_no_condensation_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "beam.toml"
    made = prepare_scene(stage_of("condensation"), None, source)
    assert default_model(source).exists()
    monkeypatch.setattr("supple.scene.prepare.train_model", None)  # must not be called
    lower = {"collider": [{"shape": "plane", "at": [0.0, 0.0, -0.6]}]}
    moved = prepare_scene(stage_of("condensation", lower), None, source)
    assert moved.model is not None
    assert made.model is not None
    assert moved.model.hash() == made.model.hash()


class _Quiet:
    """Listens, and says nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_: None
