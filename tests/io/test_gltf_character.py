"""glTF characters: what their own equation says of every vertex in every frame, evaluated apart."""

import base64
import json
from functools import cache
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.transform import Rotation, Slerp

from supple.errors import FileFormatError
from supple.io.gltf_character import load_gltf_character
from supple.rig import SkinnedRig
from supple.rig.hinged import hinge_motion
from supple.rig.slide import Slide

REAL = ["human/CesiumMan.glb", "head/Alien.gltf", "bear/Fox.glb", "simple/RiggedSimple.glb", "gorilla/Yeti.gltf"]
EVERY = ["human/CesiumMan.glb", "head/Alien.gltf", "simple/RiggedSimple.glb"]  # clips looked at frame by frame
TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
SIZES = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Evaluator:
    """glTF 2.0 by the letter, over pygltflib: no code of the reader's."""

    def __init__(self, path: Path) -> None:
        self.file = pygltflib.GLTF2().load(str(path))
        self.path = path
        self.above = {child: k for k, node in enumerate(self.file.nodes) for child in node.children or []}

    @cache  # noqa: B019
    def values(self, index: int) -> np.ndarray:
        entry = self.file.accessors[index]
        view = self.file.bufferViews[entry.bufferView]
        buffer = self.file.buffers[view.buffer]
        data = (self.path.parent / buffer.uri).read_bytes() if buffer.uri else self.file.binary_blob()
        width, kind = SIZES[entry.type], np.dtype(TYPES[entry.componentType])
        start = (view.byteOffset or 0) + (entry.byteOffset or 0)
        stride = view.byteStride or width * kind.itemsize
        shape, steps = (entry.count, width), (stride, kind.itemsize)
        table = np.ndarray(shape, kind, data, start, steps).astype(float)
        return table / np.iinfo(kind).max if entry.normalized else table

    def local(self, number: int, clip: int, time: float) -> np.ndarray:
        node = self.file.nodes[number]
        if node.matrix is not None and len(node.matrix) == 16 and not self.keys(number, clip):
            return np.array(node.matrix).reshape(4, 4).T
        own = {"translation": node.translation or [0, 0, 0], "rotation": node.rotation or [0, 0, 0, 1],
               "scale": node.scale or [1, 1, 1]}  # fmt: skip
        own.update({path: self.at(sampler, path, time) for path, sampler in self.keys(number, clip).items()})
        matrix = np.eye(4)
        matrix[:3, :3] = Rotation.from_quat(own["rotation"]).as_matrix() @ np.diag(own["scale"])
        matrix[:3, 3] = own["translation"]
        return matrix

    def keys(self, number: int, clip: int) -> dict:
        animation = self.file.animations[clip]
        return {
            channel.target.path: animation.samplers[channel.sampler]
            for channel in animation.channels
            if channel.target.node == number
        }

    def at(self, sampler, path: str, time: float) -> np.ndarray:
        times, values = self.values(sampler.input)[:, 0], self.values(sampler.output)
        time = float(np.clip(time, times[0], times[-1]))
        if sampler.interpolation == "CUBICSPLINE":
            values = values.reshape(len(times), 3, -1)
            place = min(int(np.searchsorted(times, time, "right")) - 1, len(times) - 2)
            pair = slice(place, place + 2)
            slopes = np.stack([values[place, 2], values[place + 1, 0]])
            return CubicHermiteSpline(times[pair], values[pair, 1], slopes)(time)
        if sampler.interpolation == "STEP":
            return values.reshape(len(times), -1)[np.searchsorted(times, time, "right") - 1]
        if path == "rotation":
            return Slerp(times, Rotation.from_quat(values))(time).as_quat()
        values = values.reshape(len(times), -1)
        return np.array([np.interp(time, times, column) for column in values.T])

    @cache  # noqa: B019
    def world(self, number: int, clip: int, time: float) -> np.ndarray:
        own = self.local(number, clip, time)
        return self.world(self.above[number], clip, time) @ own if number in self.above else own

    def points(self, number: int, primitive: int, clip: int, time: float) -> np.ndarray:
        node = self.file.nodes[number]
        mesh = self.file.meshes[node.mesh]
        part = mesh.primitives[primitive]
        points = self.values(part.attributes.POSITION)
        if part.targets:
            shares = mesh.weights
            if "weights" in self.keys(number, clip):
                shares = self.at(self.keys(number, clip)["weights"], "weights", time)
            for share, target in zip(shares, part.targets, strict=True):
                points = points + share * self.values(target["POSITION"])
        skin = self.file.skins[node.skin]
        inverse = self.values(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        self.world.cache_clear()
        joints = np.array([self.world(k, clip, time) @ i for k, i in zip(skin.joints, inverse, strict=True)])
        weights = self.values(part.attributes.WEIGHTS_0)
        weights = weights / weights.sum(axis=1, keepdims=True)
        who = np.where(weights > 0.0, self.values(part.attributes.JOINTS_0), 0).astype(int)
        blend = np.einsum("nk,nkab->nab", weights, joints[who])
        return np.einsum("nab,nb->na", blend, np.column_stack([points, np.ones(len(points))]))[:, :3]


@pytest.mark.parametrize("name", sorted({*REAL} - {*EVERY}))
def test_skinned_points_are_those_of_the_gltf_equation(shared_data, name):
    character, truth = load_gltf_character(shared_data / name), Evaluator(shared_data / name)
    for place, clip in enumerate(character.clips):
        for frame in {0, len(clip.times) // 3, len(clip.times) - 1}:
            for number in {0, len(character.parts) - 1}:
                part = character.parts[number]
                node, primitive = map(int, part.place.split("/"))
                wanted = truth.points(node, primitive, place, clip.times[frame])
                found = character.points(number, clip, frame)
                assert np.abs(found - wanted).max() < 2e-6 * np.ptp(wanted, axis=0).max()


@pytest.mark.parametrize("name", REAL)
def test_bones_that_keep_their_length_play_the_clips_too(shared_data, name):
    character = load_gltf_character(shared_data / name)
    skeleton, part = character.skeleton, character.parts[0]
    size = np.ptp(part.vertices, axis=0).max()
    rig = SkinnedRig(skeleton, part.influences, part.vertices, "linear")
    for clip in character.clips:
        hinged = hinge_motion(skeleton, clip.times, clip.turns, clip.shifts)
        assert hinged.misses.max() < 3e-3 * size  # the walking man's hands slide a little, the others' do not
        for frame in (0, len(clip.times) // 2):
            plain = type(part)(part.name, "", part.vertices, part.counts, part.corners, part.influences)
            wanted = type(character)("", (plain,), skeleton).points(0, clip, frame)
            found = rig.positions(hinged.motion.at(clip.times[frame]))
            assert np.abs(found - wanted).max() < 1.5 * hinged.misses.max() + 1e-6 * size
            weights = part.influences.dense(len(skeleton))
            slid = Slide(part.vertices, skeleton.names, weights).move(hinged.slides[frame].ravel(), found, None)
            assert np.abs(slid - wanted).max() < 2.0 * hinged.stretch.max() + 1e-6 * size
        assert hinged.stretch.max() < 1e-4 * size


def test_parts_keep_order_texture_material_and_shapes(shared_data):
    character = load_gltf_character(shared_data / "head/Alien.gltf", metres=0.01)
    head = character.parts[0]
    assert [part.name for part in character.parts][:3] == ["AlienHead", "Collar", "CollarClasp"]
    assert (len(head.vertices), head.uv.shape, len(head.targets)) == (8354, (len(head.corners), 2), 2)
    assert character.metres_per_unit == 0.01
    assert np.ptp(head.vertices, axis=0).max() < 0.01
    assert np.abs(character.clips[0].shares[0]).max() > 0.5
    assert len(character.skeleton) < 10
    mesh = Evaluator(shared_data / "head/Alien.gltf")
    given = mesh.values(mesh.file.meshes[0].primitives[0].attributes.POSITION)
    carried = given @ head.bind[:3, :3].T + head.bind[:3, 3]
    np.testing.assert_allclose(carried, head.vertices, atol=1e-9)


def test_idle_joints_above_and_beside_the_body_are_left_out(shared_data):
    character = load_gltf_character(shared_data / "bear/Fox.glb")
    assert character.skeleton.names[0] == "b_Hip_01"  # below two that only carry it
    assert [clip.name for clip in character.clips] == ["Survey", "Walk", "Run"]
    assert character.clips[0].fps == 24.0


def test_missing_buffer_is_named(shared_data, tmp_path):
    (tmp_path / "Yeti.gltf").write_bytes((shared_data / "gorilla/Yeti.gltf").read_bytes())
    with pytest.raises(FileFormatError, match=r"Yeti\.bin"):
        load_gltf_character(tmp_path / "Yeti.gltf")


@pytest.mark.parametrize("name", EVERY)
def test_every_frame_of_real_clips_is_that_of_the_gltf_equation(shared_data, name):
    character, truth = load_gltf_character(shared_data / name), Evaluator(shared_data / name)
    part = character.parts[0]
    node, primitive = map(int, part.place.split("/"))
    skin = truth.file.skins[truth.file.nodes[node].skin]
    inverse = truth.values(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
    some = np.arange(0, len(part.vertices), max(1, len(part.vertices) // 200))
    seen = truth.file.meshes[truth.file.nodes[node].mesh].primitives[primitive]
    who, share = (truth.values(getattr(seen.attributes, key))[some] for key in ("JOINTS_0", "WEIGHTS_0"))
    share = share / share.sum(axis=1, keepdims=True)
    who = np.where(share > 0.0, who, 0).astype(int)
    given = truth.values(seen.attributes.POSITION)[some]
    targets = [truth.values(target["POSITION"])[some] for target in seen.targets or []]
    for place, clip in enumerate(character.clips):
        mixed = truth.keys(node, place).get("weights")
        for frame, time in enumerate(clip.times):
            truth.world.cache_clear()
            joints = np.array([truth.world(k, place, time) @ i for k, i in zip(skin.joints, inverse, strict=True)])
            shares = [] if mixed is None else truth.at(mixed, "weights", time)
            shaped = given + sum(one * target for one, target in zip(shares, targets, strict=False))
            blend = np.einsum("nk,nkab->nab", share, joints[who])
            wanted = np.einsum("nab,nb->na", blend, np.column_stack([shaped, np.ones(len(shaped))]))[:, :3]
            found = character.points(0, clip, frame)[some]
            assert np.abs(found - wanted).max() < 2e-6 * np.ptp(part.vertices, axis=0).max()


def test_scaled_joints_play_as_the_format_says(tmp_path, little_man):
    little_man.animate(1, "scale", [0.0, 1.0], np.array([[1.0, 1.0, 1.0], [1.4, 2.0, 0.7]]), "LINEAR")
    little_man.tree["nodes"][2]["scale"] = [1.5, 1.5, 1.5]
    path = little_man.save(tmp_path / "man.glb")
    character, truth = load_gltf_character(path), Evaluator(path)
    clip = character.clips[0]
    assert np.abs(np.linalg.det(clip.turns[-1]) - 1.0).max() > 0.5
    for frame, time in enumerate(clip.times):
        assert np.abs(character.points(1, clip, frame) - truth.points(3, 1, 0, time)).max() < 1e-6


def test_all_kinds_of_keys_carried_meshes_and_shapes_play_as_the_format_says(tmp_path, little_man):
    path = little_man.save(tmp_path / "man.glb")
    character, truth = load_gltf_character(path), Evaluator(path)
    names = [part.name for part in character.parts]
    assert (names, character.skeleton.names) == (["post", "post", "cart", "hat"], ("hip", "cart", "chest", "head"))
    (clip,) = character.clips
    assert (clip.name, clip.fps, len(clip.times)) == ("bow", 24.0, 25)
    for frame, time in enumerate(clip.times):
        for number in (0, 1):
            wanted = truth.points(3, number, 0, time)
            assert np.abs(character.points(number, clip, frame) - wanted).max() < 1e-6
        for number, node in ((2, 5), (3, 4)):  # the cart by itself, the hat on the head
            assert character.parts[number].place == f"{node}/0"
            truth.world.cache_clear()
            world = truth.world(node, 0, time)
            given = truth.values(truth.file.meshes[1].primitives[0].attributes.POSITION)
            wanted = given @ world[:3, :3].T + world[:3, 3]
            assert np.abs(character.points(number, clip, frame) - wanted).max() < 1e-6


def test_mirrored_skins_keep_faces_outside(tmp_path, little_man):
    little_man.tree["nodes"][0]["scale"] = [-1.0, 1.0, 1.0]
    little_man.tree["animations"] = []
    mirrored = load_gltf_character(little_man.save(tmp_path / "a.glb")).parts[0]
    a, b, c = mirrored.vertices[mirrored.corners.reshape(-1, 3)].transpose(1, 0, 2)
    outward = np.einsum("ni,ni->n", np.cross(b - a, c - a), (a + b + c) / 3 - mirrored.vertices.mean(axis=0))
    assert (outward[:12] > -1e-9).mean() > 0.9


def damage(man, tmp_path, change, words):
    change(man)
    with pytest.raises(FileFormatError, match=words):
        load_gltf_character(man.save(tmp_path / "man.glb"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda man: man.tree["accessors"][0].update(count=999), "do not fit the bytes"),
        (lambda man: man.tree["accessors"][0].update(count=2**60), "would take"),
        (lambda man: man.tree["accessors"][1].update(count=2), "a joint and weight for every vertex|do not fit"),
        (lambda man: man.tree["skins"][0].update(joints=[]), "no joints"),
        (lambda man: man.tree["skins"][0].update(joints=[0, 1, 99]), "no joints, or one that is not there"),
        (lambda man: man.tree["skins"][0].update(joints=[0, 1]), "follows joint 2"),
        (lambda man: man.tree["nodes"][2].update(children=[0]), "hangs on itself"),
        (lambda man: man.tree["nodes"][0].update(scale=[0.0, 0.0, 0.0]), "cannot be undone"),
        (lambda man: [man.tree["nodes"][k].pop("mesh") for k in (3, 4, 5)], "no triangles; export it with a mesh"),
        (lambda man: man.tree["animations"][0]["samplers"][0].update(interpolation="CUBIC"), "interpolated by"),
        (lambda man: man.tree["animations"][0]["samplers"][0].update(output=0), "have the type VEC3"),
        (lambda man: man.tree["meshes"][0]["primitives"][0]["targets"][0].update(POSITION=0), None),
    ],
)
def test_damaged_skins_and_animations_are_named(tmp_path, little_man, change, words):
    if words is None:  # another accessor of the right size is a target like any
        change(little_man)
        load_gltf_character(little_man.save(tmp_path / "man.glb"))
        return
    damage(little_man, tmp_path, change, words)


def test_empty_animations_and_idle_skeletons_are_said(tmp_path, little_man):
    little_man.tree["animations"].append({"name": "nothing", "samplers": [], "channels": []})
    character = load_gltf_character(little_man.save(tmp_path / "a.glb"))
    assert character.notes == ("animation 'nothing' has no keys and is left out",)
    little_man.tree["animations"] = []
    del little_man.tree["nodes"][3]["skin"]
    character = load_gltf_character(little_man.save(tmp_path / "b.glb"))
    assert (character.skeleton, character.clips) == (None, ())  # a mesh without joints


def test_a_clip_of_years_is_refused(tmp_path, little_man):
    little_man.animate(2, "scale", [0.0, 1e9], np.ones((2, 3)), "LINEAR")
    with pytest.raises(FileFormatError, match="frames"):
        load_gltf_character(little_man.save(tmp_path / "a.glb"))


def test_vertices_without_weight_take_the_nearest_and_say_so(tmp_path, little_man):
    place = little_man.tree["bufferViews"][2]["byteOffset"]
    little_man.data = little_man.data[:place] + b"\0" * 16 + little_man.data[place + 16 :]
    character = load_gltf_character(little_man.save(tmp_path / "a.glb"))
    assert any("1 vertex without weight took that of the nearest" in note for note in character.notes)


def test_weights_in_bytes_and_in_two_sets_are_the_same_weights(tmp_path, little_man):
    plain = load_gltf_character(little_man.save(tmp_path / "a.glb"))
    share = plain.parts[0].influences.dense(4)[:, [0, 2, 3]]  # hip, chest, head
    first, second = np.zeros((2, 15, 4))
    first[:, :2], second[:, 0] = share[:, :2], share[:, 2]
    for number, table in enumerate((first, second)):
        for primitive in little_man.tree["meshes"][0]["primitives"]:
            primitive["attributes"][f"JOINTS_{number}"] = little_man.add(
                np.tile(np.array([[0, 1, 9, 9], [2, 9, 9, 9]][number], np.uint16), (15, 1))
            )
            primitive["attributes"][f"WEIGHTS_{number}"] = little_man.add(np.round(65535 * table).astype(np.uint16))
            little_man.tree["accessors"][-1]["normalized"] = True
    packed = load_gltf_character(little_man.save(tmp_path / "b.glb"))
    for frame in (0, 24):
        found, wanted = (one.points(1, one.clips[0], frame) for one in (packed, plain))
        assert np.abs(found - wanted).max() < 1e-4


def test_a_buffer_in_the_text_itself_is_read(tmp_path, little_man):
    path = little_man.save(tmp_path / "man.gltf")
    tree = json.loads(path.read_text())
    data = base64.b64encode((tmp_path / "man.bin").read_bytes()).decode()
    tree["buffers"][0]["uri"] = f"data:application/octet-stream;base64,{data}"
    (tmp_path / "man.bin").unlink()
    path.write_text(json.dumps(tree))
    assert len(load_gltf_character(path).parts) == 4
