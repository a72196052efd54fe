"""Characters in scenes: the scene that a bare file gets, what rides along, and what stiff flesh does."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from little_man import LittleMan
from skinned_stage import author
from supple.errors import SceneError, SuppleWarning
from supple.io import open_cache
from supple.io.load_character import load_character
from supple.scene.build import set_stage
from supple.scene.defaults import open_scene
from supple.scene.figure import choose_body, make_figure
from supple.scene.launch import Launch, launch
from supple.scene.load import parse_scene
from supple.scene.progress import SilentListener


def run(path: Path, output: Path, **asked: object) -> list[str]:
    said: list[str] = []
    launch(Launch(path, [output], detailed=True, **asked), SilentListener(), said.append, said.append)
    return said


@pytest.fixture
def cylinder(shared_data) -> Path:
    return shared_data / "simple/RiggedSimple.glb"


SMALL = {"mesh": {"elements": 300}, "time": {"frames": 4, "preroll": 3}}


def test_the_scene_that_is_written_gives_the_same_bytes(tmp_path, cylinder):
    said = run(cylinder, tmp_path / "a.npz", changes=SMALL, write_scene=tmp_path / "scene.toml")
    assert any("no scene was given" in line for line in said)
    run(tmp_path / "scene.toml", tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    text = (tmp_path / "scene.toml").read_text()
    assert 'weights = "file"' in text
    assert 'clip = "clip0"' in text


def test_the_default_scene_is_the_files_own(shared_data):
    scene = open_scene(shared_data / "bear/Fox.glb", {"units": "cm"})
    assert (scene.time.fps, scene.time.frames, scene.time.preroll) == (24.0, 82, 24)
    assert scene.motion.clip == "Survey"
    assert (scene.mesh.parts, scene.rig.skinning, scene.rig.rest) == (["fox1"], "linear", "neutral")
    assert 5e4 < scene.material.young < 2e5
    assert open_scene(shared_data / "bear/Fox.glb").material.young > 5e6  # 155 m long by the file's own unit


def test_very_stiff_flesh_comes_to_plain_skinning(tmp_path, cylinder):
    character = load_character(cylinder)
    clip, size = character.clips[0], 9.0
    misses = []
    for young in (1e7, 1e9):
        changes = {**SMALL, "gravity": False, "material": {"young": young}, "time": {"frames": 4, "preroll": 12}}
        changes["rig"] = {"rest": "posed"}
        run(cylinder, tmp_path / "a.usdc", changes=changes)
        cache = open_cache(tmp_path / "a.usdc")
        found = cache.surface_positions(cache.frames - 1)
        misses.append(np.linalg.norm(found - character.points(0, clip, 4), axis=1).mean() / size)
    assert misses[1] < 0.2 * misses[0] or misses[1] < 2e-3
    assert misses[1] < 4e-3


def test_the_body_is_chosen_and_the_rest_rides_along(shared_data):
    yeti = shared_data / "gorilla/Yeti.gltf"
    assert choose_body(load_character(yeti)) == ["YetiBody_low"]
    figure = make_figure(yeti, ["YetiBody_low"], 0.05)
    assert figure.body.is_closed()
    assert len(figure.drawn.vertices) == sum(len(part.vertices) for part in figure.character.parts)
    assert any("5 other meshes ride along: YetiEyes_low" in note for note in figure.notes)
    assert len(figure.influences) == len(figure.body.vertices)


def test_meshes_apart_and_shapes_that_are_left_out_are_said(tmp_path):
    path = LittleMan().save(tmp_path / "man.glb")
    figure = make_figure(path, ["post"], 1.0)
    assert [part.name for part in figure.character.parts] == ["post", "post", "hat"]
    assert any("1 other mesh rides along: hat" in note for note in figure.notes)
    assert any("on no joint of the body and is left out: cart" in note for note in figure.notes)
    with pytest.warns(SuppleWarning, match=r"mixes blend shapes \(post\.shape0\), which are left out"):
        set_stage(open_scene(path, {"mesh": {"elements": 200}}))


def test_joints_that_slide_do_so_with_a_posed_rest(tmp_path):
    man = LittleMan()
    man.tree["animations"][0]["channels"].pop()
    man.animate(2, "translation", [0.0, 1.0], np.array([[0.0, 1.5, 0.0], [0.0, 2.1, 0.3]]), "LINEAR")  # of the head
    path = man.save(tmp_path / "man.glb")
    character = load_character(path)
    wanted = character.points(1, character.clips[0], 24)
    changes = {"mesh": {"elements": 400}, "time": {"preroll": 0}}
    misses = []
    for rest in ("neutral", "posed"):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", SuppleWarning)
            stage = set_stage(open_scene(path, {**changes, "rig": {"rest": rest}}))
        assert ["comes to lie" in str(one.message) for one in said] == [True][: rest == "neutral"]
        rigging = stage.drive.rigging
        drawn = stage.source.render.embedding.apply(rigging.rig.positions(rigging.course.pose(1.0)))
        misses.append(np.linalg.norm(drawn[15:30][-3:] - wanted[-3:], axis=1).max())
    assert misses[0] > 0.5
    assert misses[1] < 0.2


def test_bones_that_are_scaled_move_flesh_as_the_format_says(tmp_path):
    man = LittleMan()
    man.tree["animations"][0]["channels"].pop()
    man.animate(1, "scale", [0.0, 1.0], np.array([[1.0, 1.0, 1.0], [1.4, 2.0, 0.7]]), "LINEAR")  # of the chest
    man.tree["nodes"][2]["scale"] = [1.5, 1.5, 1.5]  # of the head, at rest and ever after
    path = man.save(tmp_path / "man.glb")
    changes = {"mesh": {"elements": 300}, "time": {"preroll": 0}, "rig": {"fit": False}}
    stage = set_stage(open_scene(path, changes))  # nothing is left out, so nothing is said
    assert stage.scene.rig.rest == "posed"
    rigging, clip = stage.drive.rigging, load_character(path).clips[0]
    assert any("2 scaled joints" in line for line in rigging.describe())
    weights, rest = rigging.bones.influences.dense(len(rigging.bones.skeleton)), stage.mesh.vertices
    for frame, time in enumerate(clip.times):
        moved = np.einsum("jab,nb->nja", clip.turns[frame], rest) + clip.shifts[frame]
        wanted = np.einsum("nj,nja->na", weights, moved)
        assert np.abs(rigging.rig.positions(rigging.course.pose(time)) - wanted).max() < 1e-7  # single precision
    with pytest.warns(SuppleWarning, match=r'scaled with rig\.rest = "posed"'):
        set_stage(open_scene(path, {"mesh": {"elements": 300}, "rig": {"rest": "neutral"}}))


def test_a_stage_in_centimetres_with_z_up_runs_as_it_is(tmp_path):
    author(tmp_path / "man.usda")
    changes = {"mesh": {"elements": 300}, "rig": {"rest": "posed"}, "time": {"frames": 1, "preroll": 1}}
    scene = open_scene(tmp_path / "man.usda", changes)
    assert (scene.units, scene.up_axis, scene.time.fps, scene.mesh.parts) == ("cm", "z", 30.0, ["flesh"])
    said = run(tmp_path / "man.usda", tmp_path / "a.usdc", changes=changes)
    assert any("the body's surface has holes" in line for line in said)
    assert any("units of 0.01 m, z up; clips: bend (5 frames at 30 a second)" in line for line in said)
    assert any("2 meshes hang on no joint of the body" in line for line in said)
    cache = open_cache(tmp_path / "a.usdc")
    assert (cache.info.metres_per_unit, cache.info.up_axis, cache.info.fps) == (0.01, "z", 30.0)
    assert len(cache.surface_positions(0)) == 20


def test_loose_pieces_are_held_and_holes_are_said(tmp_path):
    man = LittleMan()
    posts = man.tree["meshes"][0]["primitives"]
    place = np.frombuffer(man.data, np.float32, 45, 0).reshape(15, 3) * [1.0, 0.5, 1.0] + [3.0, 1.0, 0.0]
    button = {**posts[0], "attributes": {**posts[0]["attributes"], "POSITION": man.add(place)}, "targets": []}
    lid = {**posts[1], "attributes": button["attributes"], "targets": []}
    man.tree["meshes"][0]["primitives"] = [*posts, button, lid]
    man.tree["animations"] = []
    path = man.save(tmp_path / "man.glb")
    stage = set_stage(open_scene(path, {"mesh": {"elements": 3000}}))
    mesh, pins = stage.mesh, stage.drive.rigging.held.pins.vertices
    loose = np.flatnonzero(mesh.vertices[:, 0] > 2.0)
    assert len(loose) > 3
    assert np.isin(loose, pins).all()
    assert len(pins) < 0.6 * len(mesh.vertices)
    assert any("1 piece of the body that no bone runs through" in line for line in stage.describe())
    man.tree["accessors"][posts[1]["indices"]]["count"] -= 3  # without its top
    del man.tree["meshes"][0]["primitives"][2:]
    assert any("has holes" in note for note in make_figure(man.save(tmp_path / "open.glb"), ["post"], 1.0).notes)


def test_blend_shapes_of_a_clip_move_the_rest_shape(tmp_path):
    path = LittleMan().save(tmp_path / "man.glb")
    character = load_character(path)
    changes = {"mesh": {"elements": 400}, "rig": {"rest": "posed"}, "time": {"preroll": 0}}
    stage = set_stage(open_scene(path, changes))
    rigging = stage.drive.rigging
    drawn = stage.source.render.embedding.apply(rigging.rig.positions(rigging.course.pose(1.0)))
    used = np.unique(character.parts[1].corners)
    wanted = character.points(1, character.clips[0], 24)[used]
    assert np.linalg.norm(drawn[15:30][used] - wanted, axis=1).max() < 0.25  # of 4: what so few tets can follow
    rest = character.parts[1].shaped(np.zeros(1))[used]
    assert np.abs(stage.source.render.surface.vertices[15:30][used] - rest).max() < 1e-9


def test_eyes_go_with_the_bone_they_hang_on(shared_data):
    alien = shared_data / "head/Alien.gltf"
    tables = {
        "mesh": {"file": str(alien), "parts": ["AlienHead"], "elements": 1500},
        "rig": {"weights": "file", "skinning": "linear"},
        "motion": {"keys": [{"t": 1.0, "Head": [0, 20, 0]}]},
    }
    with pytest.warns(SuppleWarning, match="blend shapes"):
        stage = set_stage(parse_scene(tables))
    figure, rig = stage.source.figure, stage.drive.rigging.rig
    eye = next(number for number, part in enumerate(figure.character.parts) if part.name == "LeftEye")
    begin = sum(len(part.vertices) for part in figure.character.parts[:eye])
    chosen = slice(begin, begin + len(figure.character.parts[eye].vertices))
    pose = rig.neutral.copy()
    pose[3:6] = [0.0, 0.7, 0.2]  # the whole head
    moved = stage.source.render.embedding.apply(rig.positions(pose))[chosen]
    rest = figure.drawn.vertices[chosen]
    spans = [np.linalg.norm(points[1:] - points[:1], axis=1) for points in (moved, rest)]
    np.testing.assert_allclose(spans[0], spans[1], rtol=0.02)


def test_bones_in_files_of_their_own_drive_a_mesh(shared_data):
    folder = shared_data / "arm"
    tables = {
        "mesh": {"file": str(folder / "arm.obj"), "elements": 1500},
        "rig": {"skeleton": str(folder / "arm.tgf"), "weights": str(folder / "arm-weights.dmat"), "rest": "posed"},
        "motion": {"keys": [{"t": 1.0, "bone3": [0.0, 40.0, 0.0]}]},
    }
    stage = set_stage(parse_scene(tables))
    skin = stage.drive.rigging.rig
    assert stage.drive.rigging.posing.actor.skeleton.names == ("bone1", "bone2", "bone3", "bone4")
    assert len(stage.drive.rigging.held.pins.vertices) > 20
    assert np.abs(skin.positions(stage.drive.rigging.course.pose(1.0)) - skin.rest).max() > 0.1


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"mesh": {"parts": ["Arm"]}}, r"no mesh 'Arm': it has Cylinder"),
        ({"motion": {"clip": "walk"}}, r"has no clip 'walk'"),
        ({"motion": {"clip": "clip0", "keys": []}}, r"clip beside file or keys"),
    ],
)
def test_what_a_character_lacks_is_named(cylinder, tables, words):
    with pytest.raises(SceneError, match=words):
        set_stage(open_scene(cylinder, tables))


def test_weights_of_a_file_need_a_character(shared_data):
    tables = {"mesh": {"shape": "bear"}, "rig": {"weights": "file"}}
    with pytest.raises(SceneError, match=r"mesh\.parts"):
        set_stage(parse_scene(tables))
