"""Characters written back: glTF as morph targets over their own skin, USD as points over their own stage."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pygltflib
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt
from scipy.spatial.transform import Rotation, Slerp
from test_mutations import count_refused

from supple.errors import OutputError
from supple.io import CacheInfo, Frame, load_mesh, open_cache, open_writer
from supple.io.character import Character
from supple.io.gltf_character import load_gltf_character
from supple.io.gltf_container import open_gltf
from supple.io.gltf_pack import GltfBuilder
from supple.io.gltf_worn import pack_worn
from supple.io.source import read_source
from supple.io.usd_character import load_usd_character
from supple.io.usd_worn import write_worn
from supple.mesh import TetMesh, TriMesh
from supple.shape import make_shape

TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
BEGIN, FPS = 0.5, 24.0


class Player:
    """What glTF 2.0 says a player shows, over pygltflib: no code of supple's."""

    def __init__(self, path: Path) -> None:
        self.path, self.file = path, pygltflib.GLTF2().load(str(path))
        self.above = {child: k for k, node in enumerate(self.file.nodes) for child in node.children or []}

    def raw(self, view: int, offset: int, kind: type, count: int, width: int) -> np.ndarray:
        where = self.file.bufferViews[view]
        uri = self.file.buffers[where.buffer].uri
        data = self.file.binary_blob() if uri is None else (self.path.parent / uri).read_bytes()
        item = np.dtype(kind).itemsize
        steps = (where.byteStride or item * width, item)
        return np.ndarray((count, width), kind, data, (where.byteOffset or 0) + offset, steps)

    def values(self, index: int) -> np.ndarray:
        entry = self.file.accessors[index]
        kind, width = TYPES[entry.componentType], WIDTHS[entry.type]
        table = np.zeros((entry.count, width))
        if entry.bufferView is not None:
            table[:] = self.raw(entry.bufferView, entry.byteOffset or 0, kind, entry.count, width)
        if entry.sparse is not None:
            places, items = entry.sparse.indices, entry.sparse.values
            at = self.raw(places.bufferView, places.byteOffset or 0, TYPES[places.componentType], entry.sparse.count, 1)
            table[at[:, 0]] = self.raw(items.bufferView, items.byteOffset or 0, kind, entry.sparse.count, width)
        return table / np.iinfo(kind).max if entry.normalized else table

    def channel(self, node: int, path: str, time: float) -> np.ndarray | None:
        for animation in self.file.animations[:1]:
            for one in animation.channels:
                if one.target.node == node and one.target.path == path:
                    sampler = animation.samplers[one.sampler]
                    times, values = self.values(sampler.input)[:, 0], self.values(sampler.output)
                    time = float(np.clip(time, times[0], times[-1]))
                    if path == "rotation" and len(times) > 1:
                        return Slerp(times, Rotation.from_quat(values))(time).as_quat()
                    values = values.reshape(len(times), -1)
                    return np.array([np.interp(time, times, column) for column in values.T])
        return None

    def world(self, number: int, time: float) -> np.ndarray:
        node, own = self.file.nodes[number], np.eye(4)
        if node.matrix is not None and len(node.matrix) == 16:
            own = np.array(node.matrix).reshape(4, 4).T
        else:
            move, turn, size = (
                found if (found := self.channel(number, path, time)) is not None else getattr(node, path) or usual
                for path, usual in (("translation", [0, 0, 0]), ("rotation", [0, 0, 0, 1]), ("scale", [1, 1, 1]))
            )
            own[:3, :3], own[:3, 3] = Rotation.from_quat(turn).as_matrix() @ np.diag(size), move
        return self.world(self.above[number], time) @ own if number in self.above else own

    def points(self, number: int, primitive: int, time: float) -> np.ndarray:
        node = self.file.nodes[number]
        mesh = self.file.meshes[node.mesh]
        part = mesh.primitives[primitive]
        points = self.values(part.attributes.POSITION)
        shares = self.channel(number, "weights", time)
        for share, target in zip(mesh.weights if shares is None else shares, part.targets or [], strict=True):
            points = points + share * self.values(target["POSITION"])
        points = np.column_stack([points, np.ones(len(points))])
        if node.skin is None:
            return (points @ self.world(number, time).T)[:, :3]
        skin = self.file.skins[node.skin]
        inverse = self.values(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        moves = np.array([self.world(k, time) @ i for k, i in zip(skin.joints, inverse, strict=True)])
        weights = self.values(part.attributes.WEIGHTS_0)
        which = np.where(weights > 0.0, self.values(part.attributes.JOINTS_0), 0).astype(int)
        blend = np.einsum("nk,nkab->nab", weights, moves[which])
        return np.einsum("nab,nb->na", blend, points)[:, :3]


def author_gltf(path: Path) -> None:
    """A bar of two joints under a node of scale 2, whose weights do not sum to 1, with an animated morph target of its
    own, a texture beside the file, and an eye that rides on the second joint."""
    bar = make_shape("box", resolution=4).surface()
    builder = GltfBuilder()
    points = bar.vertices
    bend = np.clip(points[:, 0] + 0.5, 0.0, 1.0)
    weights = 0.9 * np.column_stack([1.0 - bend, bend, 0.0 * bend, 0.0 * bend])
    joints = np.tile(np.array([0, 1, 9, 9], np.uint32), (len(points), 1))
    bulge = np.column_stack([0.0 * bend, 0.1 * bend, 0.0 * bend]).astype(np.float32)
    attributes = {
        "POSITION": builder.accessor(points, bounds=True),
        "TEXCOORD_0": builder.accessor(points[:, :2]),
        "JOINTS_0": builder.add({
            "bufferView": builder.view(joints.astype("<u2")), "componentType": 5123, "count": len(joints),
            "type": "VEC4",
        }),
        "WEIGHTS_0": builder.accessor(weights),
    }  # fmt: skip
    skin = {"attributes": attributes, "indices": builder.accessor(bar.triangles.reshape(-1)), "material": 0}
    skin["targets"] = [{"POSITION": builder.sparse(bulge)}]
    eye = {"attributes": {"POSITION": builder.accessor(0.05 * points, bounds=True)}, "indices": skin["indices"]}
    binds = np.stack([np.eye(4), np.eye(4)])
    binds[:, :3, 3] = [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0]]
    inverse = builder.add({
        "bufferView": builder.view(binds.transpose(0, 2, 1).astype("<f4")), "componentType": 5126, "count": 2,
        "type": "MAT4",
    })  # fmt: skip
    times = builder.accessor(np.array([BEGIN, 1.0, 1.5]), bounds=True)
    turns = Rotation.from_euler("z", [[0], [70], [-40]], degrees=True).as_quat()
    builder.tree |= {
        "meshes": [{"primitives": [skin], "weights": [0.2], "extras": {"targetNames": ["bulge"]}},
                   {"primitives": [eye]}],
        "nodes": [
            {"name": "root", "scale": [2, 2, 2], "children": [1, 3]},
            {"name": "first", "translation": [-0.5, 0, 0], "children": [2]},
            {"name": "second", "translation": [0.5, 0, 0], "children": [4]},
            {"name": "body", "mesh": 0, "skin": 0},
            {"name": "eye", "mesh": 1, "translation": [0.4, 0, 0.5]},
        ],
        "skins": [{"joints": [1, 2], "inverseBindMatrices": inverse}],
        "materials": [{"name": "leather", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}], "images": [{"uri": "skin%20map.png"}],
        "animations": [{
            "name": "wave",
            "samplers": [{"input": times, "output": builder.accessor(turns), "interpolation": "LINEAR"},
                         {"input": times, "output": builder.accessor(np.array([0.0, 1.0, 0.5]))}],
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}},
                         {"sampler": 1, "target": {"node": 3, "path": "weights"}}],
        }],
    }  # fmt: skip
    path.write_bytes(b"".join(builder.pack()))
    (path.parent / "skin map.png").write_bytes(b"\x89PNG of a kind")


def jiggle(character: Character, count: int, amount: float) -> list[np.ndarray]:
    """Points of all parts in frames: as the clip has them, and two slow waves on top."""
    out, clip = [], character.clip()
    assert clip is not None
    assert clip.fps == FPS
    times = np.arange(count) / FPS
    for number, part in enumerate(character.parts):
        plain = np.array([character.points(number, clip, frame) for frame in range(count)])
        wave = np.sin(5.0 * times)[:, None] * np.cos(3.0 * part.vertices[:, 0])
        sway = np.cos(9.0 * times)[:, None] * part.vertices[:, 1]
        out.append(plain + amount * np.stack([0.0 * wave, wave, sway], axis=2))
    return out


@pytest.fixture
def bar(tmp_path: Path) -> Path:
    author_gltf(tmp_path / "bar.glb")
    return tmp_path / "bar.glb"


def wear(path: Path, out: Path, count: int, amount: float, tolerance: float) -> list[np.ndarray]:
    character, times = load_gltf_character(path), np.arange(count) / FPS
    points = jiggle(character, count, amount)
    file = open_gltf(read_source(path), path.parent)
    out.write_bytes(b"".join(pack_worn(file, character, points, times, tolerance, CacheInfo(FPS, start_frame=0))))
    return points


def test_any_player_shows_the_run_within_the_tolerance(bar: Path, tmp_path: Path) -> None:
    times, out = np.arange(20) / FPS, tmp_path / "out.glb"
    for tolerance in (1e-2, 1e-4):
        points = wear(bar, out, 20, 0.05, tolerance)
        played = Player(out)
        for part, frames in zip(load_gltf_character(bar).parts, points, strict=True):
            node, primitive = map(int, part.place.split("/"))
            found = np.array([played.points(node, primitive, BEGIN + time) for time in times])
            assert np.linalg.norm(found - frames, axis=2).max() < 1.05 * tolerance + 2e-6
    cache = open_cache(out)
    assert cache.indices == tuple(range(20))
    assert np.abs(cache.surface_positions(7) - np.concatenate([frames[7] for frames in points])).max() < 2e-4


def test_what_the_file_had_is_kept(bar: Path, tmp_path: Path) -> None:
    wear(bar, tmp_path / "out.glb", 12, 0.05, 1e-3)
    before, after = Player(bar).file, Player(tmp_path / "out.glb").file
    assert [node.name for node in after.nodes] == [node.name for node in before.nodes]
    assert after.skins[0].joints == before.skins[0].joints
    assert after.materials[0].name == "leather"
    assert after.meshes[0].primitives[0].material == 0
    assert after.images[0].uri is None
    view = after.bufferViews[after.images[0].bufferView]
    assert after.binary_blob()[view.byteOffset :][: view.byteLength] == b"\x89PNG of a kind"
    one, other = (Player(path).values(file.meshes[0].primitives[0].attributes.TEXCOORD_0)
                  for path, file in ((bar, before), (tmp_path / "out.glb", after)))  # fmt: skip
    assert np.array_equal(one, other)
    paths = [(one.target.node, one.target.path) for one in after.animations[0].channels]
    assert sorted(paths) == [(2, "rotation"), (3, "weights"), (4, "weights")]
    names = after.meshes[0].extras["targetNames"]
    assert names[0] == "bulge"
    assert len(names) == len(after.meshes[0].primitives[0].targets) == len(after.meshes[0].weights)
    assert 3 <= len(names) < 12  # its own, and two waves turned back by joints that turn


def test_light_follows_the_flesh(bar: Path, tmp_path: Path) -> None:
    source, out = pygltflib.GLTF2().load(str(bar)), tmp_path / "out.glb"
    body = source.meshes[0].primitives[0]
    plain = Player(bar)
    points = plain.values(body.attributes.POSITION)
    triangles = plain.values(body.indices).astype(np.int32).reshape(-1, 3)
    builder = GltfBuilder.over(json.loads(source.to_json()), source.binary_blob())
    normals = TriMesh(points, triangles).vertex_normals()
    builder.tree["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = builder.accessor(normals)
    bar.write_bytes(b"".join(builder.pack()))
    wear(bar, out, 12, 0.2, 1e-4)
    played = Player(out)
    targets = played.file.meshes[0].primitives[0].targets
    assert all(set(target) == {"POSITION", "NORMAL"} for target in targets)
    assert not np.any(played.values(targets[0]["NORMAL"]))  # the file's own had none
    assert all(set(target) == {"POSITION"} for target in played.file.meshes[1].primitives[0].targets)
    for frame in (3, 9):
        shares = played.channel(3, "weights", BEGIN + frame / FPS)[1:]
        moved, light = points.copy(), normals.copy()
        for share, target in zip(shares, targets[1:], strict=True):
            moved += share * played.values(target["POSITION"])
            light += share * played.values(target["NORMAL"])
        wanted = TriMesh(moved, triangles).vertex_normals()
        light /= np.linalg.norm(light, axis=1, keepdims=True)
        off, still = (np.degrees(np.arccos(np.clip((wanted * one).sum(axis=1), -1, 1))) for one in (light, normals))
        assert still.max() > 8.0
        assert off.max() < 0.1 * still.max()


def test_parts_that_are_left_out_stay_as_they_were(bar: Path, tmp_path: Path) -> None:
    whole, times = load_gltf_character(bar), np.arange(6) / FPS
    eye = whole.keep([1])
    points, file = jiggle(eye, 6, 0.05), open_gltf(read_source(bar), tmp_path)
    pieces = pack_worn(file, eye, points, times, 1e-4, CacheInfo(FPS, start_frame=0))
    (tmp_path / "out.glb").write_bytes(b"".join(pieces))
    assert np.abs(open_cache(tmp_path / "out.glb").surface_positions(5) - points[0][5]).max() < 2e-4
    before, after = Player(bar), Player(tmp_path / "out.glb")
    assert np.array_equal(before.points(3, 0, 0.9), after.points(3, 0, 0.9))


def test_plain_skinning_needs_no_morph_target(bar: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.glb"
    wear(bar, out, 6, 0.0, 1e-4)
    assert len(Player(out).file.meshes[0].primitives[0].targets) == 1
    assert open_cache(out).frames == 6


@pytest.mark.filterwarnings("ignore")
def test_a_damaged_recording_gives_only_named_errors(bar: Path, tmp_path: Path) -> None:
    def replay(path: Path) -> None:
        cache = open_cache(path)
        assert np.isfinite(cache.surface_positions(cache.frames - 1)).all()

    wear(bar, tmp_path / "out.glb", 6, 0.05, 1e-3)
    assert count_refused(tmp_path / "out.glb", replay) > 15


@pytest.fixture
def block() -> TetMesh:
    mesh = make_shape("box", resolution=3)
    return TetMesh.clean(2.0 * mesh.vertices, mesh.tets)


def frames_of(mesh: TetMesh, count: int) -> Iterator[Frame]:
    for k in range(count):
        swing = 0.05 * np.sin(0.9 * k) * mesh.vertices[:, :1] ** 2
        yield Frame(k, k / FPS, mesh.vertices + swing * [0.0, 1.0, 0.3])


def test_writer_embeds_the_parts_goes_on_and_spares_the_original(bar: Path, block: TetMesh, tmp_path: Path) -> None:
    character, info, out = load_gltf_character(bar), CacheInfo(FPS, start_frame=0), tmp_path / "out.glb"
    original = bar.read_bytes()
    whole = open_writer(tmp_path / "whole.glb", block, info, character=character)
    for frame in frames_of(block, 8):
        whole.write(frame)
    whole.close()
    writer = open_writer(out, block, info, character=character)
    for frame in list(frames_of(block, 5)):
        writer.write(frame)
    writer.close()
    resumed = open_writer(out, block, info, character=character, resume_at=4)
    for frame in list(frames_of(block, 8))[4:]:
        resumed.write(frame)
    resumed.close()
    one, other = open_cache(tmp_path / "whole.glb"), open_cache(out)
    assert one.indices == other.indices == tuple(range(8))
    size = np.linalg.norm(np.ptp(one.surface_positions(0), axis=0))
    for k in range(8):
        assert np.abs(one.surface_positions(k) - other.surface_positions(k)).max() < 3e-4 * size
    assert bar.read_bytes() == original
    assert not list(tmp_path.glob("*.part*"))
    with pytest.raises(OutputError, match="the character's own file"):
        open_writer(bar, block, info, character=character)


def author_usd(path: Path, eye: bool = False) -> None:
    """A stage in centimetres, z up: skinned quads with normals, a texture and a material, under two transforms, and
    maybe a left-handed eye that is not skinned."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetTimeCodesPerSecond(30.0)
    stage.SetStartTimeCode(10)
    stage.SetEndTimeCode(14)
    UsdGeom.XformCommonAPI(UsdGeom.Xform.Define(stage, "/world")).SetTranslate(Gf.Vec3d(0, 50, 0))
    root = UsdSkel.Root.Define(stage, "/world/man")
    UsdGeom.XformCommonAPI(root).SetRotate(Gf.Vec3f(0, 0, 30))
    skeleton = UsdSkel.Skeleton.Define(stage, "/world/man/bones")
    skeleton.CreateJointsAttr(["hip"])
    skeleton.CreateBindTransformsAttr([Gf.Matrix4d(1.0)])
    skeleton.CreateRestTransformsAttr([Gf.Matrix4d(1.0)])
    animation = UsdSkel.Animation.Define(stage, "/world/man/walk")
    animation.CreateJointsAttr(["hip"])
    animation.CreateRotationsAttr([Gf.Quatf(1)])
    animation.CreateScalesAttr([Gf.Vec3h(1)])
    for code in (10, 14):
        animation.CreateTranslationsAttr().Set([Gf.Vec3f(code - 10, 0, 0)], code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    mesh = UsdGeom.Mesh.Define(stage, "/world/man/flesh")
    points = np.array([[10.0 * x, 10.0 * y, 0.0] for x in range(3) for y in range(2)])
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr([4, 4])
    mesh.CreateFaceVertexIndicesAttr([0, 2, 3, 1, 2, 4, 5, 3])
    mesh.CreateNormalsAttr([Gf.Vec3f(0, 0, 1)] * 6)
    st = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying")
    st.Set([Gf.Vec2f(k / 8, 0.5) for k in range(8)])
    material = UsdShade.Material.Define(stage, "/world/leather")
    shader = UsdShade.Shader.Define(stage, "/world/leather/picture")
    shader.CreateInput("file", Sdf.ValueTypeNames.Asset).Set("./maps/skin.png")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointIndicesPrimvar(True, 1).Set([0])
    binding.CreateJointWeightsPrimvar(True, 1).Set([1.0])
    if eye:
        ball = UsdGeom.Mesh.Define(stage, "/world/eye")
        ball.CreatePointsAttr([(0, 0, 1), (4, 0, 1), (0, 4, 1)])
        ball.CreateFaceVertexCountsAttr([3])
        ball.CreateFaceVertexIndicesAttr([0, 2, 1])
        ball.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
    stage.Save()
    (path.parent / "maps").mkdir()
    (path.parent / "maps" / "skin.png").write_bytes(b"none")


@pytest.mark.parametrize("suffix", [".usdc", ".usda"])
def test_usd_keeps_the_stage_and_moves_its_points(tmp_path: Path, suffix: str) -> None:
    author_usd(tmp_path / "man.usda")
    (tmp_path / "out").mkdir()
    character, out = load_usd_character(tmp_path / "man.usda"), tmp_path / "out" / f"run{suffix}"
    times = np.arange(7) / 60.0  # two frames a time code, beyond the clip's end
    rest = character.parts[0].vertices
    points = rest + 0.1 * np.sin(20.0 * times)[:, None, None] * rest[:, [1, 2, 0]]
    write_worn(out, character, [points], times, CacheInfo(60.0, "z", start_frame=0))
    stage = Usd.Stage.Open(str(out))
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (10, 13, 30)
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    flesh = UsdGeom.Mesh(stage.GetPrimAtPath("/world/man/flesh"))
    codes = flesh.GetPointsAttr().GetTimeSamples()
    assert np.allclose(codes, 10 + 30.0 * times)
    for code, frame in zip(codes, points, strict=True):
        matrix = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(flesh.GetPrim()))
        world = np.array(flesh.GetPointsAttr().Get(code)) @ matrix[:3, :3] + matrix[3, :3]
        assert np.abs(0.01 * world - frame).max() < 1e-6
        low, high = np.array(flesh.GetExtentAttr().Get(code))
        local = np.array(flesh.GetPointsAttr().Get(code))
        assert np.array_equal([low, high], [local.min(axis=0), local.max(axis=0)])
        assert np.allclose(np.linalg.norm(np.array(flesh.GetNormalsAttr().Get(code)), axis=1), 1.0, atol=1e-5)
    assert UsdShade.MaterialBindingAPI(flesh).ComputeBoundMaterial()[0].GetPath() == "/world/leather"
    assert len(UsdGeom.PrimvarsAPI(flesh).GetPrimvar("st").ComputeFlattened()) == 8
    picture = stage.GetPrimAtPath("/world/leather/picture").GetAttribute("inputs:file").Get()
    assert picture.path == "../maps/skin.png"
    assert (out.parent / picture.path).is_file()
    assert not [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Root)]
    before = Usd.Stage.Open(str(tmp_path / "man.usda"))
    one, other = ([str(prim.GetPath()) for prim in each.Traverse()] for each in (stage, before))
    assert one == other


def test_all_parts_of_a_usd_recording_are_read_back(tmp_path: Path) -> None:
    author_usd(tmp_path / "man.usda", eye=True)
    character, times = load_usd_character(tmp_path / "man.usda"), np.arange(4) / 30.0
    points = [part.vertices * (1.0 + times[:, None, None]) for part in character.parts]
    write_worn(tmp_path / "out.usdc", character, points, times, CacheInfo(30.0, start_frame=0))
    cache = open_cache(tmp_path / "out.usdc")
    assert cache.times == pytest.approx(times)
    assert np.abs(cache.surface_positions(3) - np.concatenate([frames[3] for frames in points])).max() < 1e-6
    normals = cache.surface().face_normals()
    assert len(normals) == 5
    assert (normals[:, 2] > 0.99).all()  # the eye is turned round


def test_a_usd_recording_goes_on(tmp_path: Path) -> None:
    author_usd(tmp_path / "man.usda")
    character, info = load_usd_character(tmp_path / "man.usda"), CacheInfo(30.0, "z", 0.01, start_frame=0)
    low, high = character.parts[0].vertices.min(axis=0) - 0.05, character.parts[0].vertices.max(axis=0) + 0.05
    mesh = make_shape("box", resolution=2)
    mesh = TetMesh.clean(low + (mesh.vertices - mesh.vertices.min(axis=0)) * (high - low), mesh.tets)
    for name, runs in (("whole", [(None, range(6))]), ("parts", [(None, range(4)), (3, range(3, 6))])):
        for start, numbers in runs:
            writer = open_writer(tmp_path / f"{name}.usdc", mesh, info, character=character, resume_at=start)
            for k in numbers:
                writer.write(Frame(k, k / 30.0, mesh.vertices * (1.0 + 0.02 * k)))
            writer.close()
    one, other = (open_cache(tmp_path / f"{name}.usdc") for name in ("whole", "parts"))
    assert one.times == other.times
    assert len(one.times) == 6
    for k in range(6):
        assert np.abs(one.surface_positions(k) - other.surface_positions(k)).max() < 1e-6


@pytest.mark.parametrize(
    "name", ["bear/Fox.glb", "human/CesiumMan.glb", "gorilla/Yeti.gltf", "hand/generic-hand-left.glb"]
)
def test_real_characters_play_as_they_were_recorded(shared_data, tmp_path: Path, name: str) -> None:
    path, out = shared_data / name, tmp_path / "out.glb"
    character = load_gltf_character(path)
    clip = character.clip()
    size = float(np.linalg.norm(np.ptp(np.concatenate([part.vertices for part in character.parts]), axis=0)))
    times = np.arange(5) / FPS if clip is None else clip.times[:5] - clip.times[0]
    points = []
    for number, part in enumerate(character.parts):
        plain = [part.vertices if clip is None else character.points(number, clip, k) for k in range(5)]
        points.append(np.array(plain) + 0.01 * size * np.sin(7.0 * times)[:, None, None])
    file = open_gltf(read_source(path), path.parent)
    out.write_bytes(b"".join(pack_worn(file, character, points, times, 1e-4 * size, CacheInfo(FPS, start_frame=0))))
    played, begin = Player(out), 0.0 if clip is None else float(clip.times[0])
    for number in {0, len(character.parts) - 1}:
        node, primitive = map(int, character.parts[number].place.split("/"))
        found = played.points(node, primitive, begin + times[3])
        assert np.linalg.norm(found - points[number][3], axis=1).max() < 1.1e-4 * size
    assert len(load_mesh(out).vertices) == len(load_mesh(path).vertices)
