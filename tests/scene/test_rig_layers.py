"""Deformers, blend shapes, corrections and fitted surfaces in scenes."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.errors import SceneError, SuppleError
from supple.io import save_surface, save_tets
from supple.mesh import TriMesh, embed
from supple.rig import Bend, SkinnedRig, Twist, Wire
from supple.scene import Built, build_scene, diagnose, parse_scene, set_stage, simulate, start_scene
from supple.scene.load import load_scene, override
from supple.scene.record import stamp_run
from supple.scene.toml import write_toml
from supple.shape import make_character, make_shape

Tables = dict[str, Any]
BEND: Tables = {"kind": "bend", "start": [-0.2, 0, 0], "end": [0.2, 0, 0], "about": "z"}
BAR: Tables = {
    "gravity": False,
    "time": {"fps": 4, "frames": 2, "integrator": "static"},
    "mesh": {"shape": "beam", "resolution": 10},
    "rig": {"rest": "posed", "hold": "min x 10%", "deformer": [BEND]},
    "motion": {"keys": [{"t": 0.5, "bend": 80}]},
}
ROD: Tables = {
    "gravity": False,
    "time": {"fps": 4, "frames": 2, "integrator": "static"},
    "mesh": {"shape": "capsule", "resolution": 10},
    "rig": {"rest": "posed"},
    "motion": {"keys": [{"t": 0.5, "second": [0, 0, 40]}]},
}
STEPPED = """def lift(points, values):
    moved = points.copy()
    moved[:, 1] += values[0] * (points[:, 0] - points[:, 0].min())
    return moved
"""


def build(base: Tables, **tables: Any) -> Built:
    return build_scene(parse_scene(override(base, tables)))


def skin(built: Built, time: float = 0.5) -> NDArray[np.float64]:
    rigging = built.drive.rigging
    assert rigging is not None
    return rigging.rig.positions(rigging.course.pose(time))


def last(built: Built) -> NDArray[np.float64]:
    *_, end = simulate(built, start_scene(built))
    return built.solver.positions(end.state)


def least_volume(built: Built, x: NDArray[np.float64]) -> float:
    return float(built.body.jacobians(x).min())


def test_a_bar_without_bones_bends_by_degrees() -> None:
    built = build(BAR)
    bend = Bend(built.mesh.vertices, (-0.2, 0, 0), (0.2, 0, 0), (0, 0, 1))
    np.testing.assert_allclose(skin(built), bend.positions(np.radians([80.0])), atol=1e-12)
    np.testing.assert_allclose(last(built), skin(built), atol=1e-5)
    told = "\n".join(built.describe())
    assert "rig: a bend, " in told
    assert "flesh springs back to its posed shape" in told


def test_deformers_stand_on_each_other_in_their_order_and_keep_their_names() -> None:
    twist = {"kind": "twist", "name": "wring", "start": [-0.3, 0, 0], "end": [0.3, 0, 0]}
    keys = [{"t": 0.5, "bend": 40, "wring": 60}]
    built = build(BAR, rig={"deformer": [twist, BEND]}, motion={"keys": keys})
    rest = built.mesh.vertices
    twisted = Twist(rest, (-0.3, 0, 0), (0.3, 0, 0)).positions(np.radians([60.0]))
    bend = Bend(rest, (-0.2, 0, 0), (0.2, 0, 0), (0, 0, 1))
    np.testing.assert_allclose(skin(built), bend.move(np.radians([40.0]), twisted, None), atol=1e-12)


def test_points_of_a_wire_move_by_lengths() -> None:
    points = [[-50, 0, 0], [0, 0, 0], [50, 0, 0]]
    wire = {"kind": "wire", "name": "spine", "points": points, "inner": 10, "outer": 30}
    keys = tomllib.loads("keys = [{ t = 0.5, spine.2 = [0, 8, 0] }]")
    tables = {"units": "cm", "mesh": {"size": {"length": 100, "width": 20, "height": 20}}}
    built = build(BAR, **tables, rig={"deformer": [wire]}, motion=keys)
    free = Wire(built.mesh.vertices, {"spine": np.array(points) / 100}, 0.1, 0.3)
    np.testing.assert_allclose(skin(built), free.positions(np.array([0, 0, 0, 0, 0, 0, 0, 0.08, 0])), atol=1e-12)
    whole = {"keys": [{"t": 0.5, "spine": [[0, 0, 0], [0, 0, 0], [0, 8, 0]]}]}
    np.testing.assert_allclose(skin(build(BAR, **tables, rig={"deformer": [wire]}, motion=whole)), skin(built))


def _with_function(folder: Path, text: str = STEPPED, **deformer: Any) -> Path:
    (folder / "lift.py").write_text(text, encoding="utf-8")
    table = {"kind": "function", "file": "lift.py", "function": "lift", "controls": ["slope"], **deformer}
    tables = override(
        BAR, {"units": "mm", "rig": {"deformer": [table]}, "motion": {"keys": [{"t": 0.5, "slope": 0.2}]}}
    )
    tables["mesh"]["size"] = {"length": 1000, "width": 100, "height": 100}
    (folder / "scene.toml").write_text(write_toml(tables), encoding="utf-8")
    return folder / "scene.toml"


def test_a_function_beside_the_scene_moves_points_in_scene_units(tmp_path: Path) -> None:
    built = build_scene(load_scene(_with_function(tmp_path), allow_code=True))
    rest = built.mesh.vertices
    expected = rest + np.outer(0.2 * (rest[:, 0] - rest[:, 0].min()), [0, 1, 0])
    np.testing.assert_allclose(skin(built), expected, atol=1e-12)
    held = built.drive.rigging.held  # type: ignore[union-attr]
    np.testing.assert_allclose(held.targets(np.array([0.2])), expected[held.pins.vertices], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "change", "message"),
    [
        (STEPPED, {"file": "../lift.py"}, r"\.\./lift\.py would be run and does not lie beside the scene"),
        (STEPPED, {"file": "/elsewhere/lift.py"}, "would be run and does not lie beside the scene"),
        (STEPPED, {"file": "C:\\lift.py"}, "would be run and does not lie beside the scene"),
        (STEPPED, {"file": "left.py"}, r"left\.py cannot be read"),
        (STEPPED, {"function": "lower"}, "has no function 'lower': it has lift"),
        ("def lift(points, values)\n", {}, r"lift\.py does not run \(SyntaxError"),
        ("def lift(points, values):\n    return points[1:]\n", {}, "'lift' returned shape"),
        ("def lift(points, values):\n    return points + 5\n", {}, "'lift' puts vertex .* from its rest"),
        ("def lift(points, values):\n    return 1 / 0\n", {}, r"'lift' of .*lift\.py failed \(ZeroDivisionError"),
        (STEPPED, {"controls": None}, "is a function without controls: give one"),
        (STEPPED, {"points": [[0, 0, 0], [1, 0, 0]]}, "has points, which no function has: remove it"),
    ],
)
def test_functions_that_cannot_be_run_are_named(
    tmp_path: Path, text: str, change: dict[str, Any], message: str
) -> None:
    change = {key: value for key, value in change.items() if value is not None}
    path = _with_function(tmp_path, text, **change)
    if "without" in message:
        path.write_text(path.read_text(encoding="utf-8").replace(', controls = ["slope"]', ""), encoding="utf-8")
    with pytest.raises(SceneError, match=message):
        set_stage(load_scene(path, allow_code=True))


def test_blend_shapes_come_from_surfaces_meshes_and_arrays(tmp_path: Path) -> None:
    mesh = make_shape("capsule", resolution=10)
    fat = mesh.vertices * [1.0, 1.3, 1.3]
    surface = mesh.surface()
    save_surface(tmp_path / "fat.obj", TriMesh(fat[mesh.surface_vertices()], surface.triangles))
    save_tets(tmp_path / "whole.npz", replace(mesh, vertices=fat))
    np.savez(tmp_path / "many.npz", fat=fat - mesh.vertices, long=mesh.vertices * [0.2, 0, 0])
    keys = {"keys": [{"t": 0.5, "fat": 0.5, "second": [0, 0, 40]}]}
    found = {
        name: build(ROD, rig={"blend_shape": [{"file": str(tmp_path / name), **more}]}, motion=keys)
        for name, more in (("fat.obj", {}), ("whole.npz", {"name": "fat"}), ("many.npz", {}))
    }
    bones = build(ROD).drive.rigging.rig  # type: ignore[union-attr]
    assert isinstance(bones, SkinnedRig)
    bent = make_character("capsule").pose({"second": (0, 0, 40)})
    expected = bones.push_forward(bent, 0.5 * (fat + mesh.vertices))  # mixed in before bones turn it
    np.testing.assert_allclose(skin(found["many.npz"]), expected, atol=1e-9)
    np.testing.assert_allclose(skin(found["whole.npz"]), expected, atol=1e-9)
    np.testing.assert_allclose(skin(found["fat.obj"]), expected, atol=2e-3)  # inside, as smooth as can be
    assert "1 blend shape, 2 bones" in "\n".join(found["fat.obj"].describe())
    np.testing.assert_allclose(last(found["many.npz"]), expected, atol=1e-5)


def test_a_corrected_pose_looks_as_it_was_drawn_and_the_neutral_one_as_before(tmp_path: Path) -> None:
    plain = build(ROD)
    drawn = skin(plain) + np.outer(np.exp(-80 * plain.mesh.vertices[:, 0] ** 2), [0.0, 0.01, 0.0])
    save_tets(tmp_path / "bent.npz", replace(plain.mesh, vertices=drawn))
    np.savez(tmp_path / "offsets.npz", offsets=drawn - skin(plain))
    for name in ("bent.npz", "offsets.npz"):
        correction = {"pose": {"second": [0, 0, 40]}, "file": str(tmp_path / name)}
        built = build(ROD, rig={"correction": [correction]})
        np.testing.assert_allclose(skin(built), drawn, atol=1e-6)
        np.testing.assert_allclose(skin(built, 0.0), built.mesh.vertices, atol=1e-9)
        assert 0.003 < np.abs(skin(built, 0.25) - skin(plain, 0.25)).max() < 0.009
    assert stamp_run(plain, {}) != stamp_run(built, {})


def test_tetrahedra_follow_a_surface_that_has_the_rig(tmp_path: Path) -> None:
    fine = make_shape("capsule", resolution=16).surface()
    save_surface(tmp_path / "skin.obj", fine)
    built = build(ROD, rig={"surface": str(tmp_path / "skin.obj")})
    rigging = built.drive.rigging
    assert rigging is not None
    told = "\n".join(built.describe())
    assert f"a surface of {len(fine.vertices):,} vertices has the rig" in told
    assert "tetrahedra are fitted to the rig's surface in" in told
    weights = build(ROD, mesh={"resolution": 16}).drive.rigging.rig.influences  # type: ignore[union-attr]
    inside = make_shape("capsule", resolution=16)
    own = SkinnedRig(make_character("capsule").skeleton, weights, inside.vertices)
    wanted = own.positions(rigging.course.pose(0.5))[inside.surface_vertices()]
    off = np.linalg.norm(embed(built.mesh, fine.vertices).apply(skin(built)) - wanted, axis=1)
    assert off.max() < 0.05
    assert least_volume(built, skin(built)) > 0.2
    rough = build(ROD, rig={"surface": str(tmp_path / "skin.obj"), "fit": False})
    assert least_volume(rough, skin(rough)) < least_volume(built, skin(built))
    listed = build(ROD, rig={"surface": str(tmp_path / "skin.obj"), "fit": ["bent", {"second": [0, 0, 40]}]})
    assert "in 2 poses" in "\n".join(listed.describe())


@pytest.mark.parametrize("angle", [135, -135])
def test_posed_flesh_folds_by_itself_where_skinning_would_turn_it_inside_out(angle: float) -> None:
    keys = {"keys": [{"t": 0.5, "second": [0, 0, angle]}]}
    built = build(ROD, time={"fps": 12, "frames": 6}, motion=keys)
    assert not [finding for finding in diagnose(built) if finding.severity == "error"]
    assert "tetrahedra are fitted to the rig's surface in 1 pose" in "\n".join(built.describe())
    assert least_volume(built, skin(built)) > 0.05
    np.testing.assert_allclose(last(built), skin(built), atol=1e-4)
    gentle = build(ROD)
    assert isinstance(gentle.drive.rigging.rig, SkinnedRig)  # type: ignore[union-attr]


def test_the_bear_is_carried_by_its_wires_and_the_x_bends_as_one() -> None:
    bear = build(
        ROD,
        mesh={"shape": "bear", "resolution": 16},
        rig={"bones": False, "deformer": [{"kind": "wire"}], "fit": False},
        motion={"keys": [{"t": 0.5, "pose": "sniff"}]},
    )
    character = make_character("bear")
    course = bear.drive.rigging.course  # type: ignore[union-attr]
    assert course.motion.poses.shape[1] == 144
    np.testing.assert_allclose(course.pose(0.5), character.wire_pose(character.poses["sniff"]), atol=1e-9)
    head = np.argmax(bear.mesh.vertices[:, 2])
    sunk = (skin(bear) - bear.mesh.vertices)[head, 1]
    assert -0.8 < sunk < -0.2
    cross = {"mesh": {"shape": "x", "resolution": 10}, "rig": {"bones": False, "deformer": [{"kind": "bend"}]}}
    bent = build(ROD, **cross, motion={"keys": [{"t": 0.5, "pose": "bent"}]})
    assert bent.drive.rigging.course.pose(0.5) == pytest.approx(np.radians([135.0]))  # type: ignore[union-attr]
    assert least_volume(bent, skin(bent)) > 0.4
    own = build(ROD, **cross, motion={"keys": None}, time={"frames": 12})
    motion = own.drive.rigging.course.motion  # type: ignore[union-attr]
    assert motion.gain is not None
    assert np.degrees(motion.at(0.7)) == pytest.approx([135.0], abs=0.5)
    lying = build(ROD, **cross, up_axis="z", motion={"keys": [{"t": 0.5, "bend": 90}]})
    turn = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    standing = build(ROD, **cross, motion={"keys": [{"t": 0.5, "bend": 90}]})
    np.testing.assert_allclose(skin(lying), skin(standing) @ turn.T, atol=1e-9)


@pytest.mark.parametrize(
    ("base", "change", "message"),
    [
        (BAR, {"rig": {"rest": "neutral"}}, 'rig: rest = "neutral" needs a rig of bones alone.* set rest = "posed"'),
        (ROD, {"rig": {"rest": "neutral", "fit": True}}, "rig: fit is about the rest shapes"),
        (BAR, {"rig": {"hold": "bones"}}, "rig: there are no bones to hold the body by"),
        (BAR, {"motion": {"keys": [{"t": 0.5, "bent": 1}]}}, "no joint or control 'bent' .* did you mean 'bend'"),
        (BAR, {"motion": {"keys": [{"t": 0.5, "bend": [1, 2, 3]}]}}, "'bend' must be one number, not 3"),
        (BAR, {"motion": {"keys": [{"t": 0.5, "bend": "far"}]}}, "bend = .far. must be a number or three numbers"),
        (BAR, {"motion": {"keys": [{"t": 0.5, "shift": [0, 1, 0]}]}}, "shift moves the root of bones"),
        (BAR, {"motion": {"keys": None, "file": "a.bvh"}}, "a.bvh moves bones, and this rig has none"),
        (BAR, {"rig": {"deformer": [BEND, BEND]}}, "two controls are named 'bend.angle'"),
        (BAR, {"rig": {"deformer": [{"kind": "bend"}]}}, "a bend needs to know what to bend"),
        (BAR, {"rig": {"deformer": [{"kind": "bend", "start": [0, 0, 0]}]}}, "some of start, end and about"),
        (BAR, {"rig": {"deformer": [{"kind": "wire"}]}}, "a wire needs to know where it runs"),
        (BAR, {"rig": {"deformer": [{"kind": "twist"}]}}, r"rig.deformer\[0\] is a twist without start"),
        (BAR, {"rig": {"deformer": [{**BEND, "inner": 1}]}}, "has inner, which no bend has"),
        (ROD, {"rig": {"deformer": [{**BEND, "name": "second"}]}}, "a joint and a channel are both named 'second'"),
        (ROD, {"rig": {"bones": False}}, "neither bones nor anything else"),
        (ROD, {"rig": {"blend_shape": [{"file": "no.obj"}]}}, r"no\.obj cannot be found"),
    ],
)
def test_rigs_that_make_no_sense_are_named(base: Tables, change: Tables, message: str) -> None:
    with pytest.raises(SuppleError, match=message):
        build(base, **change)


def test_shapes_with_other_vertices_are_named(tmp_path: Path) -> None:
    save_surface(tmp_path / "other.obj", make_shape("sphere", resolution=5).surface())
    with pytest.raises(SceneError, match=r"other\.obj has \d+ vertices where the rig moves \d+, their surface has \d+"):
        build(ROD, rig={"blend_shape": [{"file": str(tmp_path / "other.obj")}]})
    np.savez(tmp_path / "flat.npz", offsets=np.zeros((5, 2)))
    with pytest.raises(SceneError, match=r"flat\.npz has 'offsets' of shape \(5, 2\)"):
        build(ROD, rig={"correction": [{"pose": "bent", "file": str(tmp_path / "flat.npz")}]})
    np.savez(tmp_path / "none.npz", other=np.zeros((5, 3)))
    with pytest.raises(SceneError, match=r"none\.npz has no array 'offsets'"):
        build(ROD, rig={"correction": [{"pose": "bent", "file": str(tmp_path / "none.npz")}]})


def test_joints_beyond_their_ranges_are_told_or_stopped() -> None:
    keys = [{"t": 0.5, "middle": [170, 0, 0]}]
    finger: Tables = {"mesh": {"shape": "finger", "resolution": 8}, "rig": {"rest": "neutral"}}
    built = set_stage(parse_scene(override(ROD, {**finger, "motion": {"keys": keys}})))
    character = make_character("finger")
    limit = character.ranges[character.skeleton.number("middle"), 0, 1]
    [told] = [finding for finding in diagnose(built) if finding.check == "ranges"]
    assert told.severity == "warning"
    assert "at frame 2 joint 'middle' is turned by 170 degrees about its x axis or hinge" in told.text
    assert f"its range ends at {limit:.0f}" in told.text
    stopped = set_stage(parse_scene(override(ROD, {**finger, "motion": {"keys": keys, "clamp": True}})))
    assert not [finding for finding in diagnose(stopped) if finding.check == "ranges"]
    course = stopped.drive.rigging.course  # type: ignore[union-attr]
    angles = character.angles(course.pose(0.5))[character.skeleton.number("middle")]
    assert angles == pytest.approx([limit, 0, 0], abs=1e-6)


def test_a_scene_with_layers_survives_being_written() -> None:
    tables = override(
        ROD,
        {
            "rig": {
                "deformer": [{**BEND, "start": [-0.2, 0.0, 0.0], "end": [0.2, 0.0, 0.0]}],
                "blend_shape": [{"file": "fat.obj", "name": "fat"}],
                "correction": [{"pose": "bent", "file": "bent.obj"}],
                "fit": ["bent", {"second": [0, 0, 30], "bend": 5}],
            },
            "motion": {"keys": [{"t": 0.5, "second": [0, 0, 30], "fat": 0.5}, {"t": 1.0, "pose": "rest"}]},
        },
    )
    scene = parse_scene(tables)
    assert parse_scene(tomllib.loads(write_toml(scene.keys()))) == scene
