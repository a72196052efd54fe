"""Scenes in pose space from training to a comparison."""

from pathlib import Path

import numpy as np
import pytest

from supple.errors import SceneError, SuppleWarning, TrainingError
from supple.scene.build import build_scene, set_stage
from supple.scene.compare import Contestant, compare_methods, under_full
from supple.scene.info import describe_file
from supple.scene.load import parse_scene
from supple.scene.prepare import prepare_scene
from supple.scene.progress import SilentListener
from supple.scene.simulate import simulate

SCENE = {
    "mesh": {"shape": "beam", "resolution": 6},
    "material": {"young": 2e6, "damping_mass": 1.0},
    "rig": {
        "rest": "posed",
        "hold": "min x 5%",
        "bones": False,
        "deformer": [{"kind": "bend", "name": "curl", "start": [-0.3, 0, 0], "end": [0.4, 0, 0], "about": [0, 0, 1]}],
    },
    "motion": {"keys": [{"t": 0.0, "curl": 0.0}, {"t": 0.3, "curl": 40.0}]},
    "time": {"frames": 10, "fps": 30, "substeps": 1},
    "training": {"heldout": 1, "poses": [{"curl": 20.0}], "max_poses": 4},
    "method": {"name": "posespace", "rank": 10, "tolerance": 0.1},
}


def scene(**tables):
    return parse_scene({**SCENE, **tables}, "test")


class Hearing(SilentListener):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


def test_a_scene_is_trained_kept_found_again_and_compared(tmp_path: Path) -> None:
    source = tmp_path / "beam.toml"
    stage = set_stage(scene())
    built = prepare_scene(stage, source=source)
    model = built.model
    assert built.solver.name == "posespace"
    assert model.facts["met"]
    assert model.error == model.facts["error"] < 0.1
    assert 3 <= len(model.poses) <= 4
    assert np.isclose(model.poses, np.radians(20.0)).any()
    facts = describe_file(tmp_path / "beam.model.npz")
    assert (facts["method"], facts["rank"], facts["poses"]) == ("posespace", 10, len(model.poses))
    listener = Hearing()
    again = prepare_scene(stage, listener, source)
    assert again.model.hash() == model.hash()
    assert any("using" in line for line in listener.said)
    result = compare_methods(Contestant("full", under_full(stage, "direct")), [Contestant("posespace", again)])
    (entry,) = result.entries
    assert entry.of_flesh < 0.1
    # Relative to what flesh does beside its rig, a sterner figure than relative to all motion
    assert entry.of_flesh > entry.errors.relative
    assert len(list(simulate(again))) == 10
    other = prepare_scene(set_stage(scene(method={**SCENE["method"], "rank": 8})), listener, source)
    assert other.model.rank == 8
    assert any("has rank 10 instead of 8" in line for line in listener.said)


def test_corrected_poses_have_a_basis_and_their_shape(tmp_path: Path) -> None:
    mesh = set_stage(scene()).mesh
    bulge = 0.01 * np.cos(np.pi * mesh.vertices[:, :1]) * np.sign(mesh.vertices) * [0.0, 1.0, 1.0]
    np.savez(tmp_path / "bulge.npz", offsets=bulge)
    corrected = {**SCENE["rig"], "correction": [{"pose": {"curl": 30.0}, "file": str(tmp_path / "bulge.npz")}]}
    stage = set_stage(scene(rig=corrected, training={"heldout": 1}, method={**SCENE["method"], "tolerance": 0.15}))
    built = prepare_scene(stage)
    assert built.model.facts["met"]
    (there,) = np.flatnonzero(np.isclose(built.model.poses[:, 0], np.radians(30.0)))
    plain = set_stage(scene()).drive.rigging.rig
    pose = built.model.poses[there]
    assert np.allclose(stage.drive.rigging.rig.positions(pose) - plain.positions(pose), bulge, atol=1e-12)


def test_an_error_that_is_missed_is_told() -> None:
    table = {**SCENE["method"], "rank": 2, "tolerance": 0.001}
    with pytest.warns(SuppleWarning, match=r"where 0\.1 % was asked for: raise method\.rank \(now 2\)"):
        prepare_scene(set_stage(scene(method=table)))


def test_too_few_elements_are_refused() -> None:
    with pytest.raises(TrainingError, match=r"forces of rank 4 take \d+ elements and method.elements = 1: raise it"):
        prepare_scene(set_stage(scene(method={"name": "posespace", "rank": 4, "elements": 1})))


def test_what_pose_space_does_not_know_is_refused() -> None:
    with pytest.raises(SceneError, match=r"has no \[rig\]"):
        set_stage(parse_scene({"mesh": SCENE["mesh"], "method": SCENE["method"]}, "test"))
    with pytest.raises(SceneError, match='use rest = "posed"'):
        set_stage(
            parse_scene({"mesh": {"shape": "arm", "resolution": 8}, "rig": {}, "method": SCENE["method"]}, "test")
        )
    with pytest.raises(SceneError, match=r'or method\.name = "posespace"'):
        set_stage(scene(method={"name": "reduced"}))
    with pytest.raises(SceneError, match="newmark"):
        set_stage(scene(time={**SCENE["time"], "integrator": "newmark"}))
    with pytest.raises(SceneError, match="needs a trained model"):
        build_scene(scene())


def test_the_method_that_suits_a_scene() -> None:
    assert scene(method={}).subspace_method == "posespace"
    assert parse_scene({"mesh": SCENE["mesh"]}, "test").subspace_method == "reduced"
    assert scene(method={"name": "posespace"}).method.accuracy == 0.05
