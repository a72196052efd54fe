"""Scenes with several bodies."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from supple.errors import SceneError
from supple.io import load_mesh, open_cache
from supple.scene import build_scene, diagnose, parse_scene, run_scene, set_stage, simulate, start_scene
from supple.scene.bodies import split_bodies

BOX = {"shape": "box", "size": {"length": 0.2, "width": 0.2, "height": 0.1}, "resolution": 3}
SLAB = {"shape": "box", "size": {"length": 0.4, "width": 0.4, "height": 0.1}, "resolution": 4}


def pile(**changes: Any) -> dict[str, Any]:
    """A box above a slab that is held."""
    slab = {"name": "slab", "mesh": SLAB, "pin": [{"select": "min y"}]}
    box = {"name": "box", "at": [0.0, 0.101, 0.0], "mesh": BOX, "material": {"young": 5e4}}
    tables = {
        "time": {"frames": 3, "fps": 24.0},
        "material": {"young": 2e4, "density": 800.0},
        "contact": {"friction": 0.4},
        "body": [slab, box],
    }
    return {**tables, **changes}


def test_a_body_has_from_the_top_what_it_does_not_say():
    scenes = split_bodies(parse_scene(pile(method={"newton_tolerance": 1e-5}, pin=[{"select": "max y"}])))
    assert list(scenes) == ["slab", "box"]
    assert (scenes["slab"].material.young, scenes["box"].material.young) == (2e4, 5e4)
    assert scenes["box"].material.density == 800.0
    assert all(one.time.frames == 3 and one.method.newton_tolerance == 1e-5 for one in scenes.values())
    assert scenes["box"].pin != scenes["slab"].pin  # a list of its own is instead of the one at the top


def test_a_mesh_or_method_of_its_own_takes_nothing_from_the_top():
    tables = pile(mesh={"file": "some.obj", "elements": 900}, method={"name": "full", "tolerance": 1e-6})
    tables["body"][1]["method"] = {"name": "hyperreduced"}
    scenes = split_bodies(parse_scene(tables))
    assert scenes["box"].mesh.file is None
    assert scenes["box"].mesh.elements is None
    assert scenes["box"].method.tolerance is None
    assert scenes["slab"].method.tolerance == 1e-6


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "slab"}, 'two bodies of the name "slab"'),
        ({"name": "a/b"}, r"body\[1\].name"),
        ({"time": {"fps": 30.0}}, "has time, which all bodies of a scene share"),
        ({"mesh": None}, r"no mesh for body\[1\]"),
        ({"materiel": {}}, "did you mean 'material'"),
        ({"motion": {"keys": [{"t": 0.5, "pose": "bent"}]}}, r'body "box".*add \[rig\]'),
    ],
)
def test_what_is_wrong_with_a_body_is_said(change, words):
    tables = pile()
    tables["body"][1] = {key: value for key, value in {**tables["body"][1], **change}.items() if value is not None}
    with pytest.raises(SceneError, match=words):
        set_stage(parse_scene(tables))


def test_a_list_of_no_bodies_is_refused():
    with pytest.raises(SceneError, match="body"):
        parse_scene({"mesh": BOX, "body": []})


def test_a_shell_cannot_stand_beside_others():
    tables = pile(shell={"thickness": 0.01}, method={"name": "projective"})
    with pytest.raises(SceneError, match=r'body "slab".*\[shell\]'):
        set_stage(parse_scene(tables))


def test_a_method_that_cannot_press_on_others_is_refused():
    tables = pile()
    tables["body"][1]["method"] = {"name": "projective"}
    with pytest.raises(SceneError, match=r'body "box" has the method projective.*hyperreduced'):
        build_scene(parse_scene(tables))


def test_bodies_that_start_in_each_other_are_told_where_and_how_deep():
    tables = pile()
    tables["body"][1] |= {"at": [0.01, 0.06, 0.0], "mesh": {**BOX, "resolution": 8}}
    found = [one for one in diagnose(set_stage(parse_scene(tables))) if one.check == "overlap"]
    assert [one.severity for one in found] == ["error"]
    assert 'bodies "slab" and "box" overlap' in found[0].text
    assert "0.04 deep" in found[0].text
    assert 'move "box" by (0, 0.04, 0)' in found[0].text
    tables["contact"] = {"bodies": False}
    assert not [one for one in diagnose(set_stage(parse_scene(tables))) if one.check == "overlap"]


def test_a_turned_body_falls_down_in_the_world_onto_the_floor_of_the_world():
    body = {"name": "box", "at": [1.0, 0.06, 2.0], "rotate": [0.0, 0.0, 90.0], "mesh": SLAB}
    floor = {"shape": "plane", "at": [0.0, -0.25, 0.0]}
    built = build_scene(parse_scene(pile(body=[body], collider=[floor], time={"frames": 8, "fps": 24.0})))
    start = start_scene(built)
    first = built.solver.positions(start.state)
    assert np.allclose(np.ptp(first, axis=0), [0.1, 0.4, 0.4])
    frames = list(simulate(built, start))
    x = built.solver.positions(frames[1].state)
    assert np.abs((x - first) - [0.0, -9.81 / 48**2 * 10, 0.0]).max() < 1e-9  # four steps, before it touches
    low = float(built.solver.positions(frames[-1].state)[:, 1].min())
    assert -0.255 < low < -0.249
    assert frames[-1].row is not None
    assert frames[-1].row.body_contacts["box"] > 0


def run(folder: Path, tables: dict[str, Any], **options: Any):
    built = build_scene(parse_scene(tables))
    return built, run_scene(built, [folder / "run.npz", folder / "run.usdc", folder / "run.pvd"], **options)


def test_two_methods_run_side_by_side_into_one_recording(tmp_path):
    tables = pile()
    tables["body"][1]["method"] = {"name": "hyperreduced", "handles": 20, "clusters": 20}
    built, result = run(tmp_path, tables)
    assert built.solver.name == "full + hyperreduced"
    slab = len(built.members["slab"].mesh.vertices)
    assert all(row.contact_settled for row in result.rows)
    assert result.rows[-1].body_contacts["box"] > 0
    assert {"slab", "box", "between bodies"} <= set(result.rows[-1].phases)
    x = open_cache(tmp_path / "run.npz").positions(3)
    drop = 0.101 - x[slab:, 1].min() - 0.05
    assert 0.0005 < drop < 0.02  # it lies on the slab and not in it
    named = load_mesh(sorted(tmp_path.glob("*.vtu"))[0])
    assert np.array_equal(np.unique(named.regions), [0, 1])
    stage = Usd.Stage.Open(str(tmp_path / "run.usdc"))
    for name, own in built.spans().items():
        points = np.array(UsdGeom.Mesh(stage.GetPrimAtPath(f"/body/{name}")).GetPointsAttr().Get(3))
        used = own.start + built.members[name].mesh.surface_vertices()
        assert np.array_equal(points, x[used].astype(np.float32))
    cache = open_cache(tmp_path / "run.usdc")
    assert cache.frames == 4
    surface = built.mesh.surface_vertices()
    assert np.abs(cache.surface_positions(3) - x[surface]).max() < 1e-7
    assert np.array_equal(cache.triangles, built.mesh.surface().triangles)


def test_a_stopped_run_of_two_bodies_goes_on_as_if_it_had_not_been(tmp_path):
    (tmp_path / "whole").mkdir()
    (tmp_path / "parts").mkdir()
    run(tmp_path / "whole", pile())
    tables = pile(output={"checkpoint": 1})
    built = build_scene(parse_scene(tables))
    output, stage = tmp_path / "parts" / "run.npz", tmp_path / "parts" / "run.usda"
    from supple.scene.record import Recorder  # what a run that is killed leaves behind

    with Recorder(built, [output, stage]) as recorder:
        start = start_scene(built)
        recorder.write(start)
        first = next(iter(simulate(built, start)))
        recorder.write(first)
        recorder.save(first)
    result = run_scene(build_scene(parse_scene(tables)), [output, stage], resume=True)
    assert result.frame == 3
    a, b = (open_cache(tmp_path / name / "run.npz").positions(3) for name in ("whole", "parts"))
    assert np.array_equal(a, b)
    shown = [open_cache(path).surface_positions(3) for path in (stage, tmp_path / "whole" / "run.usdc")]
    assert np.array_equal(*shown)
