"""Scenes whose flesh is stiffer in some poses."""

from pathlib import Path

import numpy as np
import pytest

from supple.errors import SceneError
from supple.scene.build import set_stage
from supple.scene.load import parse_scene
from supple.scene.prepare import prepare_scene
from supple.scene.progress import SilentListener

BENT = {"curl": 40.0}
SCENE = {
    "mesh": {"shape": "beam", "resolution": 5},
    "material": {"young": 2e6, "damping_mass": 1.0},
    "rig": {
        "rest": "posed",
        "hold": "min x 5%",
        "bones": False,
        "deformer": [{"kind": "bend", "name": "curl", "start": [-0.3, 0, 0], "end": [0.4, 0, 0], "about": [0, 0, 1]}],
    },
    "motion": {"keys": [{"t": 0.0, "curl": 0.0}, {"t": 0.3, "curl": 40.0}]},
    "time": {"frames": 6, "fps": 30, "substeps": 1},
    "training": {"heldout": 1},
    "method": {"name": "posespace", "rank": 8, "tolerance": 0.1},
}


class Hearing(SilentListener):
    """Keeps what was said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)


def stage(*tables: dict, **changes):
    scene = {**SCENE, **changes}
    return set_stage(parse_scene({**scene, "material": {**scene["material"], "pose": list(tables)}}, "test"))


def factors(found) -> np.ndarray:
    return found.body.stiffening.at(np.array([np.radians(40.0)]))


def test_a_painted_pose_is_trained_checked_and_part_of_the_model(tmp_path: Path) -> None:
    table = {"pose": BENT, "stiffness": 5.0, "select": "max x 50%"}
    found = stage(table)
    x = found.mesh.vertices[found.mesh.tets].mean(axis=1)[:, 0]
    assert np.allclose(factors(found), np.where(x > 0.0, 5.0, 1.0))
    assert "material.pose: stiffness from 1 to 5 times the material's in 2 poses" in found.describe()
    model = prepare_scene(found, source=tmp_path / "beam.toml").model
    assert model.error < 0.1
    assert np.isclose(model.poses, np.radians(40.0)).any()
    assert np.isclose(model.stiffness.max(), 5.0)
    listener = Hearing()
    prepare_scene(stage({**table, "stiffness": 4.0}), listener, tmp_path / "beam.toml")
    assert any("another body" in line for line in listener.said)


def test_the_last_of_two_counts_and_edges_may_be_soft() -> None:
    hard = {"pose": BENT, "stiffness": 8.0}
    both = factors(stage(hard, {"pose": BENT, "stiffness": 2.0, "select": "max x 50%"}))
    assert set(np.round(both, 9)) == {2.0, 8.0}
    soft = factors(stage({**hard, "select": "max x 50%", "smooth": 0.05}))
    assert len(set(np.round(soft, 6))) > 10
    assert 1.0 < soft.min() < 1.5 < 6.0 < soft.max() < 8.0


def test_paint_on_the_surface_goes_below_it(tmp_path: Path) -> None:
    plain = stage()
    surface = plain.mesh.vertices[plain.mesh.surface_vertices()]
    np.savez(tmp_path / "paint.npz", stiffness=np.exp(surface[:, 0]))
    found = factors(stage({"pose": BENT, "paint": str(tmp_path / "paint.npz"), "smooth": 0.01}))
    x = plain.mesh.vertices[plain.mesh.tets].mean(axis=1)[:, 0]
    assert np.abs(np.log(found) - x).max() < 0.06  # corners on the surface lie beside the middle
    np.savez(tmp_path / "bad.npz", stiffness=np.ones(7))
    with pytest.raises(SceneError, match=r"paints 7 vertices where the mesh has \d+, its surface \d+"):
        stage({"pose": BENT, "paint": str(tmp_path / "bad.npz")})
    np.savez(tmp_path / "bad.npz", stiffness=-np.ones(len(surface)))
    with pytest.raises(SceneError, match="not one number above 0"):
        stage({"pose": BENT, "paint": str(tmp_path / "bad.npz")})


def test_a_bone_names_its_flesh() -> None:
    rod = {
        "mesh": {"shape": "capsule", "size": {"length": 0.4, "radius": 0.06}, "resolution": 12},
        "rig": {"rest": "posed"},
        "motion": {"keys": [{"t": 1.0, "second": [0, 0, 60]}]},
        "method": {"name": "full"},
    }
    bent = {"second": [0, 0, 60]}
    found = stage({"pose": bent, "stiffness": 3.0, "bone": "second"}, **rod)
    values = found.body.stiffening.at(found.body.stiffening.poses[1])
    far = found.mesh.vertices[found.mesh.tets].mean(axis=1)[:, 0] > 0.02
    assert (values[far] > 2.99).all()
    assert 0.4 < (values > 2.99).mean() < 0.6
    with pytest.raises(SceneError, match=r"material\.pose\[0\] names the bone 'knee', which .* it has first, second"):
        stage({"pose": bent, "stiffness": 3.0, "bone": "knee"}, **rod)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"pose": BENT, "stiffness": -2.0}, "greater than 0"),
        ({"pose": BENT}, "has no stiffness"),
        ({"pose": {"curly": 1.0}, "stiffness": 2.0}, r"material\.pose\[0\]: the rig has no joint or control 'curly'"),
        ({"pose": "flexed", "stiffness": 2.0}, "there is no pose 'flexed'"),
        ({"pose": BENT, "stiffness": 2.0, "select": {"region": "biceps"}}, "the region 'biceps', which the mesh"),
        ({"pose": BENT, "stiffness": 2.0, "select": "all", "bone": "b"}, "both select and bone"),
        ({"pose": BENT, "paint": "paint.npz", "smooth": 0.0}, "smooth above 0"),
        ({"pose": BENT, "stiffness": 2.0, "bone": "b"}, "the body has no bones"),
    ],
)
def test_bad_tables_are_refused(table: dict, words: str) -> None:
    with pytest.raises(SceneError, match=words):
        stage(table)


def test_only_posed_rest_shapes_in_two_methods_know_it() -> None:
    table = {"pose": BENT, "stiffness": 2.0}
    with pytest.raises(SceneError, match=r"add a \[rig\]"):
        stage(table, rig=None, motion=None, method={"name": "full"})
    with pytest.raises(SceneError, match=r"does not know material\.pose: use"):
        stage(table, method={"name": "hyperreduced"})
