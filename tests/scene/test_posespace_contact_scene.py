"""Scenes in pose space whose bodies touch themselves or have regions."""

from pathlib import Path

import numpy as np
import pytest

from supple.contact.self_contact import SelfContact
from supple.errors import SceneError
from supple.scene.build import set_stage
from supple.scene.load import parse_scene
from supple.scene.prepare import prepare_scene
from supple.scene.progress import SilentListener
from supple.scene.simulate import simulate

CURL = {
    "mesh": {"shape": "beam", "resolution": 10},
    "material": {"young": 2e6, "damping_mass": 2.0},
    "rig": {
        "rest": "posed",
        "hold": "min x 5%",
        "bones": False,
        "deformer": [{"kind": "bend", "name": "curl", "start": [-0.3, 0, 0], "end": [0.3, 0, 0], "about": [0, 0, 1]}],
    },
    "motion": {"keys": [{"t": 0.0, "curl": 0.0}, {"t": 0.5, "curl": 240.0}]},
    "time": {"frames": 18, "fps": 30, "substeps": 1},
    "training": {"heldout": 1, "max_poses": 8, "steps": 15},
    "method": {"name": "posespace", "rank": 12, "tolerance": 0.5},
}


def scene(**tables):
    return parse_scene({**CURL, **tables}, "test")


class Hearing(SilentListener):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


def test_a_scene_that_touches_itself_is_trained_and_keeps_clear_of_itself(tmp_path: Path) -> None:
    listener = Hearing()
    stage = set_stage(scene(contact={"self": True, "friction": 0.0}))
    built = prepare_scene(stage, listener, tmp_path / "curl.toml")
    model = built.model
    assert len(model.corrections) >= 2
    assert len(model.pairs) > 0
    assert any("pressed apart" in line for line in listener.said)
    finder, rig = SelfContact(stage.mesh), stage.drive.rigging.rig
    curled = np.radians([240.0])
    assert finder.find(rig.positions(curled)).depth.max() > 0.01
    depths = [finder.find(built.solver.positions(frame.state)).depth.max(initial=0.0) for frame in simulate(built)]
    assert max(depths) < 1e-4
    again = prepare_scene(stage, listener, tmp_path / "curl.toml")
    assert any("using" in line for line in listener.said)
    assert again.model.hash() == model.hash()


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A beam in three regions that bends down onto a ball; its file, its stage and what was built of it."""
    table = {
        **CURL["training"],
        "region": [{"whole": True, "rank": 5}, {"at": [-0.4, 0, 0]}, {"from": [0.2, 0, 0], "to": [0.4, 0, 0]}],
    }
    motion = {"keys": [{"t": 0.0, "curl": 0.0}, {"t": 0.5, "curl": -40.0}]}
    ball = [{"shape": "sphere", "size": {"radius": 0.2}, "at": [0.35, -0.35, 0.0], "friction": 0.1}]
    contact = {"self": False}
    file = tmp_path_factory.mktemp("parts") / "parts.toml"
    stage = set_stage(scene(training=table, motion=motion, collider=ball, contact=contact))
    return file, stage, prepare_scene(stage, source=file)


def test_regions_of_a_scene_have_coordinates_of_their_own(parts) -> None:
    file, stage, built = parts
    model = built.model
    assert model.owners.tolist() == [0] * 5 + [1] * 4 + [2] * 3
    assert model.tell()["regions"] == 3
    x = stage.mesh.vertices[:, 0]
    assert not model.columns[:, x < -0.4, :, 9:].any()
    assert len(list(simulate(prepare_scene(stage, source=file)))) == 18


def test_a_scene_in_pose_space_stops_at_a_collider(parts) -> None:
    _, stage, built = parts
    ball, deepest = np.array([0.35, -0.35, 0.0]), 0.0
    rows = []
    for frame in simulate(built):
        inside = 0.2 - np.linalg.norm(built.solver.positions(frame.state) - ball, axis=1)
        deepest = max(deepest, float(inside.max()))
        rows.append(frame.row)
    rig = stage.drive.rigging.rig
    through = 0.2 - np.linalg.norm(rig.positions(np.radians([-40.0])) - ball, axis=1).min()
    assert through > 0.02  # [m]: where the rig alone would be
    assert deepest < 0.002
    assert any(row.contacts > 0 and row.contact_forces[0][1] > 0.0 for row in rows)
    assert "contact with 1 collider" in "\n".join(built.describe())


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"training": {"region": [{}]}}, "must say where it is"),
        ({"training": {"region": [{"at": [0, 0, 0], "from": [0, 0, 0], "to": [1, 0, 0]}]}}, "must say where it is"),
        ({"training": {"contact": "glues"}}, "opens"),
    ],
)
def test_what_makes_no_sense_is_refused(tables, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        set_stage(scene(**tables))
