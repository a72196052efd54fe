"""Contact in scenes: settings, what is found before a run, and what a run writes of it."""

import json
import sys
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from supple.errors import MissingExtra, SceneError, SuppleWarning
from supple.io import open_cache, save_tets
from supple.io.source import read_source
from supple.io.vtk_xml import parse_vtk
from supple.mesh import TetMesh, fill_box
from supple.scene import (
    FrameRow,
    SilentListener,
    build_scene,
    diagnose,
    parse_scene,
    prepare_scene,
    run_scene,
    set_stage,
)
from supple.scene.cases import case_steps
from supple.scene.draw import Drawing, draw_recording
from supple.scene.progress import LogListener
from supple.scene.props import Props

CUBE: dict[str, Any] = {"shape": "box", "size": {"length": 0.1, "width": 0.1, "height": 0.1}, "resolution": 3}
FLOOR: dict[str, Any] = {"name": "the floor", "shape": "plane", "at": [0.0, -0.051, 0.0]}
SCENE: dict[str, Any] = {
    "time": {"fps": 24, "substeps": 4, "frames": 8},
    "mesh": CUBE,
    "material": {"young": 1e5, "damping_stiffness": 0.005},
    "collider": [FLOOR],
}
WEIGHT = 1000 * 0.1**3 * 9.81


def findings(**changes: Any) -> list[tuple[str, str]]:
    found = diagnose(set_stage(parse_scene({**SCENE, **changes})))
    return [(finding.severity, finding.text) for finding in found if finding.check in ("overlap", "contact")]


def test_nothing_touches_in_a_scene_that_does_not_ask_for_it() -> None:
    plain = {key: value for key, value in SCENE.items() if key != "collider"}
    assert set_stage(parse_scene(plain)).contact is None
    assert not set_stage(parse_scene({**plain, "time": {"frames": 1}})).drive.moment(0.0).colliders


def test_a_collider_brings_contact_with_the_defaults_of_its_table() -> None:
    settings = set_stage(parse_scene(SCENE)).contact
    given = set_stage(parse_scene({**SCENE, "contact": {}})).contact
    assert settings is not None
    assert given is not None
    assert asdict(settings) == asdict(given)
    assert settings.self_contact
    assert settings.friction == 0.3


def test_settings_reach_the_solver_in_metres() -> None:
    table = {"self": False, "thickness": 0.1, "stiffness": 1e6, "alpha": 0.5, "ignore": [["min x", "max x"]]}
    stage = set_stage(
        parse_scene({**SCENE, "units": "cm", "contact": table, "mesh": {"shape": "box", "resolution": 2}})
    )
    settings = stage.contact
    assert settings is not None
    assert (settings.thickness, settings.stiffness, settings.alpha) == (0.001, 1e6, 0.5)
    [(left, right)] = settings.ignored
    assert (stage.mesh.vertices[left, 0] < 0).all()
    assert (stage.mesh.vertices[right, 0] > 0).all()
    assert any("friction 0.3, stiffness 1e+06 Pa/m" in line for line in stage.describe())


def test_a_collider_may_have_friction_of_its_own() -> None:
    ice = {**FLOOR, "name": "ice", "friction": 0.05}
    stage = set_stage(parse_scene({**SCENE, "collider": [FLOOR, ice], "contact": {"friction": 0.6}}))
    assert stage.contact is not None
    assert stage.contact.friction_of(np.array([0, 1, -1])).tolist() == [0.6, 0.05, 0.6]
    assert any("friction 0.6 (0.6, 0.05 at the colliders), stiffness" in line for line in stage.describe())
    with pytest.raises(SceneError, match=r"collider\[0\].friction = Infinity must be a finite number"):
        parse_scene({**SCENE, "collider": [{**FLOOR, "friction": float("inf")}]})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"friction": float("inf")},
            r"contact.friction = Infinity must be a finite number: .*pin the vertices instead",
        ),
        ({"friction": -0.1}, r"contact.friction = -0.1 must be at least 0"),
        ({"frictoin": 0.1}, r"contact.frictoin is not a key of \[contact\]: did you mean 'friction'\?"),
        ({"alpha": 1.5}, r"contact.alpha = 1.5 must be at most 1"),
        ({"stiffness": 0}, r"contact.stiffness = 0 must be greater than 0"),
        ({"self": "yes"}, r'contact.self = "yes" must be true or false'),
        ({"ignore": [["min x"]]}, r"contact.ignore\[0\] must be two selections"),
        ({"self": False, "edges": True}, r"contact has edges, which are those of the body .* with self = false"),
    ],
)
def test_wrong_settings_are_named(table: dict[str, Any], message: str) -> None:
    with pytest.raises(SceneError, match=message):
        parse_scene({**SCENE, "contact": table})


def test_an_ignored_selection_without_content_is_refused() -> None:
    empty = {"ignore": [["min x", {"sphere": {"centre": [9, 9, 9], "radius": 0.1}}]]}
    with pytest.raises(SceneError, match=r"contact.ignore\[0\] selects no vertex"):
        set_stage(parse_scene({**SCENE, "contact": empty}))


def test_a_start_inside_a_collider_is_found_with_place_depth_and_remedy() -> None:
    [(severity, text)] = findings(collider=[{**FLOOR, "at": [0, -0.02, 0]}])
    assert severity == "error"
    assert text.startswith('collider[0] "the floor" overlaps the body where it starts: 16 vertices are inside')
    assert "the deepest 0.03 deep at (-0.05, -0.05, -0.05)" in text
    assert text.endswith("move the collider by (0, -0.03, 0), or the body the other way.")
    [(severity, text)] = findings(collider=[{**FLOOR, "at": [0, -0.049, 0]}])
    assert severity == "warning"
    assert "0.001 deep" in text
    assert not findings()


def test_thickness_counts_in_a_start_inside_a_collider() -> None:
    [(severity, text)] = findings(contact={"thickness": 0.003})
    assert severity == "warning"
    assert "16 vertices are inside or within contact.thickness, the deepest 0.002 deep" in text
    assert text.endswith("or the body the other way, or lower contact.thickness.")


def test_held_vertices_may_be_inside_a_collider() -> None:
    bone = {"shape": "box", "size": {"length": 1, "height": 0.02, "width": 1}, "at": [0, -0.05, 0]}
    assert findings(collider=[bone])
    assert not findings(collider=[bone], pin=[{"select": "min y"}])


def test_a_body_that_overlaps_itself_is_found(tmp_path: Path) -> None:
    one = fill_box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 4, None)
    shifted = {"apart": 1.1, "touching": 1.0, "overlapping": 0.8}
    for name, shift in shifted.items():
        both = np.concatenate([one.vertices, one.vertices + [shift, 0.1, 0.1]])
        save_tets(
            tmp_path / f"{name}.npz", TetMesh.clean(both, np.concatenate([one.tets, one.tets + len(one.vertices)]))
        )

    def look(name: str, **contact: Any) -> list[tuple[str, str]]:
        return findings(mesh={"file": str(tmp_path / f"{name}.npz")}, collider=[], contact=contact)

    assert not look("apart")
    assert not look("touching")
    [(severity, text)] = look("overlapping")
    assert severity == "error"
    assert "the body overlaps itself at rest" in text
    assert "contact.ignore" in text
    assert "up to 0.2 deep" in text
    assert not look("overlapping", self=False)
    assert not look("overlapping", ignore=[["min x 60%", "max x 60%"]])
    assert not look("overlapping", ignore=[["all", "max x 60%"]])
    [(severity, text)] = look("overlapping", ignore=[["all", "min x 10%"]])  # far from where they overlap
    assert severity == "error"
    assert not look("apart", thickness=0.05)
    [(severity, text)] = look("apart", thickness=0.15)
    assert severity == "warning"
    assert "nearer than that to other parts of it, by up to 0.05 at" in text
    [(_, near), (severity, text)] = look("apart", thickness=1.5)
    assert "by up to 1.4 at" in near
    assert severity == "warning"
    assert "more than the surface's mean edge" in text


def test_a_soft_contact_is_warned_of() -> None:
    [(severity, text)] = findings(contact={"stiffness": 1e4})
    assert severity == "warning"
    assert "sinks 0.0981 m" in text


class Rows(SilentListener):
    def __init__(self) -> None:
        self.rows: list[FrameRow] = []

    def frame(self, row: FrameRow) -> None:
        self.rows.append(row)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[FrameRow]]:
    """A cube that fell on the floor, recorded in all formats."""
    folder, listener = tmp_path_factory.mktemp("fallen"), Rows()
    names = [folder / name for name in ("a.npz", "a.pvd", "a.usdc", "a.obj")]
    run_scene(build_scene(parse_scene({**SCENE, "units": "cm", **in_centimetres()})), names, listener=listener)
    return folder, listener.rows


def in_centimetres() -> dict[str, Any]:
    size = {key: 100 * value for key, value in CUBE["size"].items()}
    return {"mesh": {**CUBE, "size": size}, "collider": [{**FLOOR, "at": [0.0, -5.1, 0.0]}]}


def test_rows_tell_contacts_depth_and_force(fallen: tuple[Path, list[FrameRow]]) -> None:
    _, rows = fallen
    last = rows[-1]
    assert last.contacts == 16
    assert 0.0 < last.contact_depth < 1e-3
    [force] = last.contact_forces
    assert force == pytest.approx([0, WEIGHT, 0], abs=0.05 * WEIGHT)
    assert last.contact_settled
    assert last.contact_rounds > 0
    assert last.crossings is None
    assert json.loads(json.dumps(asdict(last)))["contact_forces"] == [list(force)]


def test_the_log_tells_contacts(fallen: tuple[Path, list[FrameRow]]) -> None:
    stream = StringIO()
    listener = LogListener(stream, clock=lambda: 0.0, each=True)
    listener.begin(1)
    listener.frame(replace(fallen[1][-1], contact_depth=1.5e-3))
    assert "Newton iterations, 16 contacts up to 1.5 mm deep, 0.0 s left" in stream.getvalue()


def test_recordings_hold_points_forces_and_colliders(fallen: tuple[Path, list[FrameRow]]) -> None:
    folder, rows = fallen
    with np.load(folder / "a.npz") as file:
        touched = {
            name: file[f"frame/0008/contact/{name}"] for name in ("vertex", "source", "point", "normal", "force")
        }
        field, depth = file["frame/0008/point/contact_force"], file["frame/0008/contact/depth"]
        assert file["frame/0000/contact/point"].shape == (0, 3)
    assert len(depth) == 16
    assert depth.max() == rows[-1].contact_depth
    assert touched["force"].sum(axis=0) == pytest.approx(np.array(rows[-1].contact_forces[0]))
    assert np.array_equal(field[touched["vertex"]], touched["force"])
    assert np.count_nonzero(field.any(axis=1)) == 16
    assert touched["point"][:, 1] == pytest.approx(np.full(16, -0.051), abs=1e-3)
    assert np.allclose(touched["normal"], [0, 1, 0])
    assert (touched["source"] == 0).all()
    for name in ("a.npz", "a.usdc"):
        [floor] = open_cache(folder / name).colliders(8)
        assert np.allclose(floor.vertices[:, 1], -0.051)
    cache = open_cache(folder / "a.npz")
    assert {"contact_force", "contact_depth"} <= set(cache.fields)
    assert not any(name.startswith(("contact/", "collider/")) for name in cache.fields)


def test_paraview_gets_contact_points_and_colliders_beside_the_body(fallen: tuple[Path, list[FrameRow]]) -> None:
    folder, rows = fallen
    points = parse_vtk(read_source(folder / "a_contacts_0008.vtu"), "UnstructuredGrid")
    arrays = {node.get("Name"): node for node in points.root.iter("DataArray")}
    assert {"normal", "depth", "force", "vertex", "source"} <= set(arrays)
    assert points.array(arrays["depth"], 16, "depth").max() == pytest.approx(100 * rows[-1].contact_depth)  # cm
    solid = parse_vtk(read_source(folder / "a_colliders_0008.vtu"), "UnstructuredGrid")
    position = solid.root.find(".//Points/DataArray")
    assert position is not None
    assert solid.array(position, 12, "points").reshape(4, 3)[:, 1] == pytest.approx(np.full(4, -5.1))
    assert len(open_cache(folder / "a.pvd").indices) == 9
    assert "a_contacts_0008.vtu" in (folder / "a_contacts.pvd").read_text()


def test_a_resumed_run_writes_the_same_contacts(tmp_path: Path) -> None:
    def run(folder: str, frames: int, resume: bool = False) -> None:
        (tmp_path / folder).mkdir(exist_ok=True)
        sinking = {**FLOOR, "move": {"velocity": [0.0, -0.01, 0.0]}, "turn": {"axis": "y", "speed": 30.0}}
        tables = {
            **SCENE,
            "time": {**SCENE["time"], "frames": frames},
            "output": {"checkpoint": 3},
            "collider": [sinking],
        }
        listener = _StopAt(3) if frames == 6 and folder == "stopped" and not resume else None
        names = [tmp_path / folder / name for name in ("a.npz", "a.pvd", "a.usda")]
        run_scene(build_scene(parse_scene(tables)), names, resume=resume, listener=listener)

    run("whole", 6)
    run("stopped", 6)
    run("stopped", 6, resume=True)
    for name in ("a.npz", "a.usda", "a_contacts.pvd", "a_contacts_0006.vtu", "a_colliders_0006.vtu"):
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "stopped" / name).read_bytes()


class _StopAt(SilentListener):
    def __init__(self, frame: int) -> None:
        self._frame = frame

    def frame(self, row: FrameRow) -> None:
        if row.frame == self._frame:
            import signal

            signal.raise_signal(signal.SIGINT)


def test_a_run_without_contact_clears_what_one_with_contact_left(tmp_path: Path) -> None:
    short = {**SCENE, "time": {"frames": 1}}
    run_scene(build_scene(parse_scene(short)), [tmp_path / "a.pvd"])
    assert (tmp_path / "a_contacts_0001.vtu").exists()
    run_scene(build_scene(parse_scene({**short, "collider": []})), [tmp_path / "a.pvd"], overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir() if path.name[0] != ".") == [
        "a.pvd",
        "a_0000.vtu",
        "a_0001.vtu",
    ]


def test_contacts_are_left_out_where_nobody_asks_for_them(tmp_path: Path) -> None:
    tables = {**SCENE, "time": {"frames": 1}, "output": {"fields": ["velocity"]}}
    run_scene(build_scene(parse_scene(tables)), [tmp_path / "a.npz", tmp_path / "a.pvd"])
    with np.load(tmp_path / "a.npz") as file:
        assert not [name for name in file.files if "contact" in name]
    assert not (tmp_path / "a_contacts.pvd").exists()


def test_pictures_show_colliders(fallen: tuple[Path, list[FrameRow]], tmp_path: Path) -> None:
    wall = {"shape": "box", "size": {"length": 0.05, "height": 0.2, "width": 0.2}, "at": [0.1, 0, 0]}
    tables = {**SCENE, "time": {"frames": 1}}
    for name, colliders in (("bare", [FLOOR]), ("wall", [FLOOR, wall])):
        run_scene(build_scene(parse_scene({**tables, "collider": colliders})), [tmp_path / f"{name}.npz"])
        drawing = Drawing(width=80, height=60, field="contact_depth" if name == "bare" else None)
        draw_recording(tmp_path / f"{name}.npz", tmp_path / f"{name}.png", drawing)
    with Image.open(tmp_path / "wall.png") as picture:
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    grey = (np.ptp(pixels, axis=2) < 25) & (pixels.mean(axis=2) < 190)  # of the wall, darker than the ground
    assert grey.mean() > 0.05


def test_a_ceiling_is_not_the_ground_nor_is_a_floor_that_comes_back(tmp_path: Path) -> None:
    ceiling = {"shape": "plane", "axis": [0, -1, 0], "at": [0, 0.2, 0]}
    hop = [{"t": 0, "by": [0, 0, 0]}, {"t": 1 / 24, "by": [0, -0.1, 0]}, {"t": 2 / 24, "by": [0, 0, 0]}]
    tables = {**SCENE, "time": {"fps": 24, "frames": 2}, "gravity": False}
    for name, colliders in (("ceiling", [FLOOR, ceiling]), ("lift", [{**FLOOR, "move": hop}])):
        run_scene(build_scene(parse_scene({**tables, "collider": colliders})), [tmp_path / f"{name}.npz"])
    props = Props(open_cache(tmp_path / "ceiling.npz"))
    assert props.ground == pytest.approx(-0.051)
    assert props.count == 0
    assert Props(open_cache(tmp_path / "lift.npz")).count == 4


def test_a_reduced_model_of_a_scene_with_a_floor_meets_its_tolerance_and_lands() -> None:
    training = {"cases": 2, "max_cases": 2, "heldout": 1, "turn": 3}
    tables = {**SCENE, "time": {**SCENE["time"], "frames": 4}, "training": training}
    rows = {}
    for name in ("full", "reduced"):
        built = prepare_scene(set_stage(parse_scene({**tables, "method": {"name": name, "tolerance": 0.05}})))
        rows[name] = Rows()
        run_scene(built, listener=rows[name])
    assert built.model is not None
    assert built.model.error is not None
    assert built.model.error <= 0.05
    last = {name: found.rows[-1] for name, found in rows.items()}
    assert last["reduced"].contacts == last["full"].contacts > 0


def test_training_cases_last_as_long_as_a_scene_in_which_things_touch() -> None:
    free = {key: value for key, value in SCENE.items() if key != "collider"}
    assert case_steps(set_stage(parse_scene(free)), period=0.01)[0] == 12
    assert case_steps(set_stage(parse_scene(SCENE)), period=0.01)[0] == 32, "it may be touched late"


def test_passing_through_is_reported_where_it_is_checked() -> None:
    pytest.importorskip("ipctk")
    needle = {"name": "needle", "shape": "capsule", "size": {"length": 0.2, "radius": 0.002}, "axis": "y"}
    needle["at"] = [0.01, -0.18, 0.02]  # between the cube's vertices, which alone are stopped by colliders
    tables = {**SCENE, "time": {"frames": 4, "substeps": 4}, "collider": [needle], "contact": {"ccd": True}}
    listener = Rows()
    with pytest.warns(SuppleWarning, match=r'the body passed through collider\[0\] "needle" at \('):
        run_scene(build_scene(parse_scene(tables)), listener=listener)
    assert sum(row.crossings or 0 for row in listener.rows) > 0
    assert listener.rows[0].crossings == 0


@pytest.mark.parametrize("speed", [15.0, 40.0])
def test_what_contact_holds_beyond_the_middle_of_a_plate_has_passed(speed: float) -> None:
    """It is pushed back as the step ends, but out on the far side from then on."""
    pytest.importorskip("ipctk")
    plate = {"name": "plate", "shape": "box", "size": {"length": 1, "height": 0.002, "width": 1}, "at": [0, -0.08, 0]}
    tables = {**SCENE, "time": {"frames": 3}, "collider": [plate], "start": {"velocity": [0, -speed, 0]}}
    listener = Rows()
    with pytest.warns(SuppleWarning, match=r'the body passed through collider\[0\] "plate" at \('):
        run_scene(build_scene(parse_scene({**tables, "contact": {"ccd": True, "self": False}})), listener=listener)
    assert sum(row.crossings or 0 for row in listener.rows) > 0


def test_a_missing_package_is_named_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipctk", None)
    for key in ("ccd", "edges"):
        with pytest.raises(MissingExtra, match=rf"contact\.{key} = true needs the package 'ipctk'"):
            set_stage(parse_scene({**SCENE, "contact": {key: True}}))


def test_resting_on_a_floor_is_no_crossing() -> None:
    pytest.importorskip("ipctk")
    listener = Rows()
    run_scene(build_scene(parse_scene({**SCENE, "contact": {"ccd": True}})), listener=listener)
    assert [row.crossings for row in listener.rows] == [0] * 8


@pytest.mark.parametrize(
    ("word", "itself", "rules"), [(True, True, False), (False, False, False), ("all", True, False)]
)
def test_words_for_self_contact(word: bool | str, itself: bool, rules: bool) -> None:
    contact = set_stage(parse_scene({**SCENE, "contact": {"self": word}})).contact
    assert contact is not None
    assert (contact.self_contact, contact.rules) == (itself, rules)


def test_rules_need_a_rig_in_a_subspace() -> None:
    scene = {**SCENE, "contact": {"self": "rules"}}
    contact = set_stage(parse_scene(scene)).contact  # in full space all contacts are looked at
    assert contact is not None
    assert contact.self_contact
    with pytest.raises(SceneError, match="no \\[rig\\]"):
        set_stage(parse_scene({**scene, "method": {"name": "reduced"}}))
    with pytest.raises(SceneError, match="self"):
        parse_scene({**SCENE, "contact": {"self": "rule"}})
