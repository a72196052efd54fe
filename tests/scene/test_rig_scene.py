"""Scenes with `[rig]` and `[motion]`: bones that move a body."""

import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from supple.errors import SceneError, SuppleError, SuppleWarning
from supple.io import save_tets
from supple.rig import heat_weights
from supple.scene import (
    Built,
    Simulated,
    build_scene,
    diagnose,
    parse_scene,
    run_scene,
    set_stage,
    simulate,
    start_scene,
)
from supple.scene.info import describe_file
from supple.scene.launch import save_scene
from supple.scene.load import load_scene, override
from supple.scene.record import stamp_run
from supple.scene.rig_motion import unwind
from supple.scene.rigging import Rigging
from supple.scene.toml import write_toml
from supple.shape import make_character, make_shape

Tables = dict[str, Any]
BENT: Tables = {
    "gravity": False,
    "time": {"fps": 8, "frames": 4, "integrator": "static"},
    "mesh": {"shape": "capsule", "resolution": 10},
    "rig": {},
    "motion": {"keys": [{"t": 0.5, "pose": "bent"}]},
}
FIGURE: Tables = {"shape": "figure", "resolution": 26}  # coarser ones lose their hands
TWO_BONES = """HIERARCHY
ROOT lower
{
  OFFSET -40 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT upper
  {
    OFFSET 40 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 40 0 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.25
0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 30 0 0
0 0 0 0 0 0 60 0 0
"""


def build(**tables: Any) -> Built:
    return build_scene(parse_scene(override(BENT, tables)))


def rigging_of(built: Built) -> Rigging:
    assert built.drive.rigging is not None
    return built.drive.rigging


def play(built: Built) -> dict[int, NDArray[np.float64]]:
    start = start_scene(built)
    return {now.frame: built.solver.positions(now.state) for now in (start, *simulate(built, start))}


def place_at(built: Built, time: float) -> NDArray[np.float64]:
    rigging = rigging_of(built)
    return rigging.rig.positions(rigging.course.pose(time))


@pytest.mark.filterwarnings("default:.* tets are inverted")  # beside the joint
def test_a_capsule_bends_with_its_bones_and_its_flesh_finds_its_balance() -> None:
    built = build()
    frames = play(built)
    held = rigging_of(built).held.pins.vertices
    for frame, x in frames.items():
        np.testing.assert_allclose(x[held], place_at(built, frame / 8)[held], atol=1e-12)
    skinned = place_at(built, 0.5)
    far = int(np.argmax(built.mesh.vertices[:, 0]))
    assert frames[4][far] == pytest.approx(skinned[far], abs=0.03)
    assert skinned[far, 1] == pytest.approx(0.5, abs=0.02)
    assert built.body.energy(frames[4]) < 0.9 * built.body.energy(skinned)


def test_a_rig_that_stands_still_is_a_set_of_pins() -> None:
    still = build(motion={"keys": [{"t": 0.0, "pose": "rest"}]}, gravity=True)
    held = rigging_of(still).held.pins.vertices.tolist()
    tables = {key: value for key, value in BENT.items() if key not in ("rig", "motion", "gravity")}
    pinned = build_scene(parse_scene({**tables, "pin": [{"select": {"vertices": held}}]}))
    ours, theirs = play(still), play(pinned)
    assert all(np.array_equal(ours[frame], theirs[frame]) for frame in theirs)
    assert np.abs(ours[4] - still.mesh.vertices).max() > 1e-4


def test_posed_flesh_rests_as_it_is_skinned_and_neutral_flesh_does_not() -> None:
    keys = {"keys": [{"t": 0.5, "second": [0, 0, 30]}]}
    frames = {rest: play(build(rig={"rest": rest}, motion=keys)) for rest in ("neutral", "posed")}
    skinned = place_at(build(motion=keys), 0.5)
    assert np.abs(frames["posed"][4] - skinned).max() < 1e-6
    assert np.abs(frames["neutral"][4] - skinned).max() > 1e-3


@pytest.mark.parametrize("rest", ["neutral", "posed"])
def test_flesh_swings_after_its_bones(rest: str) -> None:
    built = build(
        time={"fps": 24, "frames": 8, "integrator": "implicit_euler"},
        material={"young": 2e4},
        rig={"rest": rest},
        motion={"keys": [{"t": 0.2, "second": [0, 0, 40]}]},
    )
    start = start_scene(built)
    rows = {now.frame: now.row for now in simulate(built, start)}
    kinetic = [row.kinetic_energy for row in rows.values() if row is not None]
    elastic = [row.elastic_energy for row in rows.values() if row is not None]
    assert kinetic[2] > 100 * kinetic[-1] > 0.0
    assert elastic[-1] < max(elastic)
    if rest == "posed":  # what it springs back to is where it is
        assert elastic[-1] < 1e-2 * max(elastic)


def test_recorded_strain_is_measured_against_what_flesh_springs_back_to(tmp_path: Path) -> None:
    keys = {"keys": [{"t": 0.5, "second": [0, 0, 30]}]}
    strain = {}
    for rest in ("neutral", "posed"):
        built = build(rig={"rest": rest}, motion=keys)
        result = run_scene(built, [tmp_path / f"{rest}.npz"])
        assert result.rows[-1].elastic_energy == pytest.approx(0.0, abs=1e-6) or rest == "neutral"
        with np.load(tmp_path / f"{rest}.npz") as file:
            strain[rest] = np.abs(file["frame/0004/cell/J"] - 1.0).max()
    assert strain["posed"] < 1e-6
    assert strain["neutral"] > 1e-2


def test_another_motion_is_another_run() -> None:
    once, again = build(), build()
    other = build(motion={"keys": [{"t": 0.5, "pose": "twisted"}]})
    assert stamp_run(once, {}) == stamp_run(again, {}) != stamp_run(other, {})
    assert stamp_run(once, {}) != stamp_run(build(rig={"rest": "posed"}), {})


@pytest.mark.parametrize("rest", ["neutral", "posed"])
def test_a_run_goes_on_from_a_checkpoint_bit_for_bit(rest: str) -> None:
    tables = {
        "time": {"integrator": "newmark"},
        "rig": {"rest": rest},
        "motion": {"keys": [{"t": 0.4, "second": [0, 0, 30]}]},
    }
    once, again = build(**tables), build(**tables)
    *_, half, _, last = simulate(once)
    resumed = Simulated(half.frame, again.solver.unpack(once.solver.pack(half.state)))
    *_, end = simulate(again, resumed)
    assert np.array_equal(again.solver.positions(end.state), once.solver.positions(last.state))


def test_a_run_begins_in_the_first_pose_with_the_speed_of_the_rig() -> None:
    built = build(
        time={"fps": 24, "frames": 1, "integrator": "implicit_euler"},
        mesh={"shape": "finger", "resolution": 8},
        motion={"between": "linear", "keys": [{"t": 0, "pose": "pointing"}, {"t": 1, "pose": "rest"}]},
    )
    x, v, _ = built.solver.to_full(start_scene(built).state)
    np.testing.assert_allclose(x, place_at(built, 0.0), atol=1e-12)
    h = 1e-4
    np.testing.assert_allclose(v, (place_at(built, h) - place_at(built, 0.0)) / h, atol=1e-3 * np.abs(v).max())
    assert np.abs(v).max() > 0.01
    assert any("time.preroll = 24" in finding.text for finding in diagnose(built))


def test_the_preroll_leads_from_rest_into_the_motion_without_a_jolt() -> None:
    built = build(time={"fps": 10, "frames": 1, "preroll": 5}, mesh=FIGURE, motion=None)
    course = rigging_of(built).course
    assert course.motion.gain is not None
    np.testing.assert_allclose(course.pose(-0.5), 0.0, atol=1e-12)
    np.testing.assert_allclose(course.pose(-1e-9), course.pose(0.0), atol=1e-6)
    h = 1e-3
    before = (course.pose(-h) - course.pose(-2 * h)) / h
    after = (course.pose(h) - course.pose(0.0)) / h
    np.testing.assert_allclose(before, after, atol=0.05 * max(np.abs(after).max(), 0.1))
    assert start_scene(built).frame == -5
    np.testing.assert_array_equal(built.solver.positions(start_scene(built).state), built.mesh.vertices)


def test_a_hand_makes_a_fist() -> None:
    built = build(
        time={"fps": 4, "frames": 2},
        mesh={"shape": "hand", "resolution": 18},
        motion={"keys": [{"t": 0.5, "pose": "half_closed"}]},
    )
    last = play(built)[2]
    tips = [int(np.argmax(np.where(rows, built.mesh.vertices[:, 1], -1.0))) for rows in _fingers(built)]
    for tip in tips:
        assert last[tip, 1] < built.mesh.vertices[tip, 1] - 0.01
    assert built.body.jacobians(last).min() > 0.0


def _fingers(built: Built) -> list[NDArray[np.bool_]]:
    rig = rigging_of(built).rig
    names = ("index_tip", "middle_tip", "ring_tip", "little_tip")
    return [rig.influences.main_joints() == rig.skeleton.number(name) for name in names]


def test_mocap_comes_to_the_figure_by_the_names_of_its_joints(shared_data: Path) -> None:
    built = build(
        time={"fps": 8, "frames": 3, "integrator": "implicit_euler", "preroll": 2},
        mesh=FIGURE,
        motion={"keys": None, "file": str(shared_data / "mocap" / "02_01.bvh"), "from": 0.1, "until": 1.5},
    )
    told = "\n".join(built.describe())
    assert "02_01.bvh, 1.4 s" in told
    assert "15 joints matched" in told
    assert "left_ear" in told
    course = rigging_of(built).course
    np.testing.assert_allclose(course.pose(0.0)[[0, 2]], 0.0, atol=1e-12)
    assert 0.5 < np.linalg.norm(course.pose(1.4)[[0, 2]]) < 3.0
    frames = play(built)
    assert sorted(frames) == [-2, -1, 0, 1, 2, 3]
    assert np.abs(frames[3] - place_at(built, 3 / 8)).max() < 0.3
    spot = build(
        mesh=FIGURE,
        motion={
            "keys": None,
            "file": str(shared_data / "mocap" / "02_01.bvh"),
            "travel": 0.0,
            "from": 0.1,
            "loop": True,
            "speed": 2,
        },
    )
    motion = rigging_of(spot).course.motion
    assert np.abs(motion.poses[:, [0, 2]]).max() == 0.0
    assert motion.gain is not None
    assert motion.end == pytest.approx(course.motion.end * 2.7583 / 1.4 / 2, rel=0.02)


def test_keys_move_what_they_name_and_turn_joints_about_their_own_axes() -> None:
    character = make_character("hand")
    keys = [{"t": 0.5, "index": [40, 0, 0]}, {"t": 1.0, "pose": "spread", "shift": [0.0, 0.1, 0.0]}]
    built = build(mesh={"shape": "hand", "resolution": 20}, motion={"keys": keys})
    course = rigging_of(built).course
    bent = character.pose({"index": (40.0, 0.0, 0.0)})
    number = character.skeleton.number("index")
    own = slice(3 + 3 * number, 6 + 3 * number)
    np.testing.assert_allclose(course.pose(0.5)[own], bent[own], atol=1e-9)
    np.testing.assert_allclose(course.pose(0.0), 0.0, atol=1e-12)
    half = course.pose(0.5)[3:].reshape(-1, 3)[character.skeleton.number("little")]
    whole = course.pose(1.0)[3:].reshape(-1, 3)[character.skeleton.number("little")]
    np.testing.assert_allclose(half, 0.5 * whole, atol=1e-6)  # passes through the key that does not name it
    last = character.poses["spread"].copy()
    last[1] += 0.1
    np.testing.assert_allclose(course.pose(1.0), last, atol=1e-9)


def test_a_character_lies_and_moves_alike_whichever_axis_is_up() -> None:
    tables = {"mesh": {"shape": "finger", "resolution": 8}, "motion": {"keys": [{"t": 0.5, "middle": [50, 0, 0]}]}}
    standing, lying = build(**tables), build(up_axis="z", **tables)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(place_at(lying, 0.4), place_at(standing, 0.4) @ turn.T, atol=1e-9)
    motion = {"mesh": FIGURE, "motion": {"keys": None, "loop": False}}
    standing, lying = build(**motion), build(up_axis="z", **motion)
    assert rigging_of(lying).course.motion.gain is None
    np.testing.assert_allclose(place_at(lying, 0.7), place_at(standing, 0.7) @ turn.T, atol=1e-9)


def test_units_scale_bones_and_shifts() -> None:
    keys = {"keys": [{"t": 0.5, "second": [0, 0, 90], "shift": [0.1, 0, 0]}]}
    metres = build(motion=keys)
    keys = {"keys": [{"t": 0.5, "second": [0, 0, 90], "shift": [10.0, 0, 0]}]}
    size = {"length": 100.0, "radius": 15.0}
    centimetres = build(units="cm", mesh={"size": size}, motion=keys)
    np.testing.assert_allclose(place_at(centimetres, 0.5), place_at(metres, 0.5), atol=1e-9)


def test_a_mesh_file_takes_its_bones_and_motion_from_a_bvh_file(tmp_path: Path) -> None:
    (tmp_path / "bones.bvh").write_text(TWO_BONES, encoding="utf-8")
    mesh = make_shape("capsule", resolution=10)
    save_tets(tmp_path / "rod.msh", mesh.scaled(100.0))
    (tmp_path / "rod.toml").write_text(
        'units = "cm"\n[time]\nfps = 8\nframes = 4\nintegrator = "static"\n[mesh]\nfile = "rod.msh"\n'
        '[rig]\nskeleton = "bones.bvh"\n',
        encoding="utf-8",
    )
    built = build_scene(load_scene(tmp_path / "rod.toml"))
    assert rigging_of(built).rig.skeleton.names == ("lower", "upper")
    last = play(built)[4]
    far = int(np.argmax(mesh.vertices[:, 0]))
    assert last[far, 1] > 0.35
    assert "the one that came with the skeleton, 0.5 s" in "\n".join(built.describe())

    skeleton = rigging_of(built).rig.skeleton
    table = heat_weights(built.mesh, skeleton).dense(2)
    np.savez(tmp_path / "weights.npz", weights=table[:, ::-1], joints=np.array(["upper", "lower"]))
    read = build_scene(load_scene(tmp_path / "rod.toml", {"rig": {"weights": str(tmp_path / "weights.npz")}}))
    np.testing.assert_allclose(place_at(read, 0.5), place_at(built, 0.5), atol=1e-12)
    np.savez(tmp_path / "weights.npz", weights=table[5:], joints=np.array(["lower", "upper"]))
    with pytest.raises(SceneError, match=r"rig: .*weights\.npz has weights of \d+ vertices where the mesh has \d+"):
        build_scene(load_scene(tmp_path / "rod.toml", {"rig": {"weights": str(tmp_path / "weights.npz")}}))
    np.savez(tmp_path / "weights.npz", weights=table, joints=np.array(["lower", "elbow"]))
    with pytest.raises(SceneError, match="rig: the skeleton has no joint 'elbow'"):
        build_scene(load_scene(tmp_path / "rod.toml", {"rig": {"weights": str(tmp_path / "weights.npz")}}))


def test_hold_is_bones_nothing_or_a_selection() -> None:
    ends = build(rig={"hold": ["min x 10%", "max x 10%"]})
    x = ends.mesh.vertices[rigging_of(ends).held.pins.vertices, 0]
    assert np.abs(x).min() > 0.39
    nothing = build(rig={"hold": "none"}, pin=[{"select": "min x 10%"}])
    assert len(rigging_of(nothing).held.pins.vertices) == 0
    assert play(nothing)[4] == pytest.approx(nothing.mesh.vertices, abs=1e-6)  # nobody tells the flesh to bend


@pytest.mark.filterwarnings("default:.* tets are inverted")  # beside the joint
def test_a_pin_counts_before_the_rig_until_it_lets_go() -> None:
    built = build(pin=[{"select": "max x 30%", "until": 0.25}])
    held = np.intersect1d(rigging_of(built).held.pins.vertices, built.drive.parts[0].vertices)
    assert len(held)
    frames = play(built)
    np.testing.assert_allclose(frames[2][held], built.mesh.vertices[held], atol=1e-12)
    np.testing.assert_allclose(frames[4][held], place_at(built, 0.5)[held], atol=1e-12)
    removed = {vertex for event in built.drive.changes(0.2, 0.3) for vertex in event.vertices}  # type: ignore[union-attr]
    assert removed
    assert not removed & set(held.tolist())


def test_a_collider_is_looked_for_where_the_rig_puts_the_body_first() -> None:
    above = {"shape": "sphere", "size": {"radius": 0.1}, "at": [0.0, 0.5, 0.0]}
    keys = {"keys": [{"t": 0.0, "pose": "bent"}, {"t": 0.5, "pose": "rest"}]}
    for motion, expected in ((keys, True), ({"keys": [{"t": 0.5, "pose": "bent"}]}, False)):
        stage = set_stage(parse_scene(override(BENT, {"collider": [above], "motion": motion})))
        assert any("overlaps the body where it starts" in finding.text for finding in diagnose(stage)) is expected


def test_poses_of_a_step_can_be_blended() -> None:
    near, far, turns = np.zeros(6), np.zeros(6), np.array([[3, 4, 5]])
    near[5], far[5] = 3.1, -3.1
    np.testing.assert_allclose(unwind(far, near, turns)[3:], [0.0, 0.0, 2 * np.pi - 3.1])
    np.testing.assert_array_equal(unwind(np.zeros(6), near, turns), np.zeros(6))
    np.testing.assert_array_equal(unwind(near, near, turns), near)


def test_a_rigged_scene_survives_being_written(tmp_path: Path) -> None:
    keys = {"keys": [{"t": 0.5, "second": [0, 0, 30]}, {"t": 1.0, "pose": "rest"}], "between": "spline"}
    scene = parse_scene(override(BENT, {"rig": {"hold": "min x 10%", "weights": "biharmonic"}, "motion": keys}))
    assert parse_scene(tomllib.loads(write_toml(scene.keys()))) == scene
    save_scene(tmp_path / "copy.toml", scene, "a copy")
    assert load_scene(tmp_path / "copy.toml").keys() == scene.keys()
    bare = parse_scene({"mesh": {"shape": "capsule"}, "rig": {}})
    assert parse_scene(tomllib.loads(write_toml(bare.keys()))).rig is not None


def test_info_and_doctor_speak_of_the_rig(tmp_path: Path) -> None:
    scene = parse_scene(override(BENT, {"time": {"frames": 40}, "motion": {"keys": [{"t": 0.5, "pose": "bent"}]}}))
    save_scene(tmp_path / "bent.toml", scene, "bent")
    rig = describe_file(tmp_path / "bent.toml")["rig"]
    assert rig["joints"] == ["first", "second"]
    assert rig["motion_seconds"] == 0.5
    assert rig["held_vertices"] > 20
    stage = set_stage(scene)
    assert any("the motion is over at 0.5 s and the run at 5 s" in finding.text for finding in diagnose(stage))
    assert "2 bones, dual quaternion skinning" in "\n".join(stage.describe())
    keys = [{"t": 0.5, "pose": "folded"}]
    folded = parse_scene(override(BENT, {"rig": {"rest": "posed", "fit": False}, "motion": {"keys": keys}}))
    error = diagnose(set_stage(folded))[0]
    assert error.severity == "error"
    assert re.match(r'frame \d+: with rest = "posed" .*inverts', error.text)
    coarse = set_stage(parse_scene(override(BENT, {"mesh": {"resolution": 4}})))
    assert any("% of the vertices" in finding.text for finding in diagnose(coarse))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rig": None}, r"has \[motion\] but nothing that it moves"),
        ({"rig": {"skining": "linear"}}, "rig.skining is not a key of .* 'skinning'"),
        ({"rig": {"skinning": "cubic"}}, 'rig.skinning = "cubic" must be one of dual_quaternion, linear'),
        ({"rig": {"weights": "hot"}}, 'rig: weights = "hot" is neither heat nor biharmonic nor an .npz file'),
        ({"rig": {"hold": "skin"}}, 'rig.hold = "skin" is neither "bones" nor "none" and as a selection must read'),
        ({"rig": {"hold": {"vertices": [999_999]}}}, "^rig: hold names vertex 999999"),
        ({"rig": {"skeleton": "a.bvh"}}, "rig: the shape 'capsule' has bones of its own: remove skeleton"),
        ({"mesh": {"shape": "sphere"}}, "rig: the shape 'sphere' has no skeleton; use one of capsule"),
        ({"motion": {"keys": [{"t": 1.0, "elbow": [0, 0, 90]}]}}, "motion: the rig has no joint or control 'elbow'"),
        ({"motion": {"keys": [{"t": 1.0, "pose": "bend"}]}}, "motion: there is no pose 'bend': did you mean 'bent'"),
        ({"motion": {"keys": [{"t": 1.0, "second": 90}]}}, "motion: 'second' must be three numbers, not 1"),
        ({"motion": {"keys": [{"t": 1.0, "second": [0, 0, float("nan")]}]}}, "second.* must be a finite number"),
        ({"motion": {"keys": []}}, "motion has an empty list of keys"),
        ({"motion": {"keys": [{"t": 1.0}, {"t": 0.5}]}}, "motion has keys whose times do not increase"),
        ({"motion": {"keys": [{"t": -1.0}]}}, r"motion.keys\[0\].t = -1.0 must be at least 0"),
        ({"motion": {"keys": [{"t": 1.0}], "file": "a.bvh"}}, "motion has both file and keys"),
        ({"motion": {"keys": None, "travel": 0.5}}, "motion has travel, which belongs to a file"),
        ({"motion": {"keys": None, "between": "ease"}}, "motion has between, which belongs to keys"),
        ({"motion": {"keys": None, "file": "a.fbx"}}, "motion: a.fbx is no motion supple reads"),
        ({"motion": {"keys": None, "file": "none.bvh"}}, "none.bvh cannot be found"),
        ({"motion": {"speed": 0.0}}, "motion.speed = 0.0 must be greater than 0"),
        ({"motion": {"keys": [{"t": 0.0, "pose": "bent"}], "loop": True}}, "motion: only a motion of two or more keys"),
    ],
)
def test_bad_input_is_named(change: Tables, message: str) -> None:
    with pytest.raises(SuppleError, match=message) as error:
        set_stage(parse_scene(override(BENT, change)))
    assert str(error.value).rstrip("?.").count(". ") == 0


def test_bad_skeletons_are_named(tmp_path: Path) -> None:
    save_tets(tmp_path / "rod.msh", make_shape("capsule", resolution=6))
    scene: Tables = {"mesh": {"file": str(tmp_path / "rod.msh")}, "rig": {}}
    with pytest.raises(SceneError, match=r"rig: .*rod\.msh brings no bones: name a BVH file as skeleton"):
        set_stage(parse_scene(scene))
    (tmp_path / "bones.bvh").write_text(TWO_BONES, encoding="utf-8")  # a hundred times too large, and far away
    far = {**scene, "rig": {"skeleton": str(tmp_path / "bones.bvh")}}
    assert len(rigging_of(build_scene(parse_scene(far))).held.pins.vertices)
    (tmp_path / "bones.bvh").write_text(TWO_BONES.replace("-40 0 0", "-40 90 0"), encoding="utf-8")
    with (
        pytest.warns(SuppleWarning, match="outside the body are the bones of 'lower'"),
        pytest.raises(SceneError, match='rig: no bone runs through the body, so hold = "bones" holds nothing'),
    ):
        set_stage(parse_scene(far))
