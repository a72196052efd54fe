"""Point caches and morph targets: bytes as their formats say, frames as they were, runs that go on."""

import json
import struct
from dataclasses import replace

import numpy as np
import pytest

from supple.errors import FileFormatError, OutputError
from supple.io import CacheInfo, RenderMesh, load_surface, open_cache, open_writer, save_surface
from supple.io.morphs import fit_morphs
from supple.io.pointcache import pack_pc2_head
from supple.mesh import TriMesh

INFO = CacheInfo(fps=25.0, up_axis="z", metres_per_unit=0.01, start_frame=2)
SUFFIXES = [".pc2", ".mdd", ".glb"]


@pytest.fixture
def frames(make_frames):
    return [replace(frame, time=frame.index / 25.0) for frame in make_frames(2, 7)]


@pytest.fixture
def render(tets, polygons):
    inside = TriMesh.from_polygons(
        polygons.vertices * 0.05 + 0.02, polygons.face_counts, polygons.face_indices, polygons.uv
    )
    return RenderMesh.build(tets, inside)


def record(path, tets, frames, *, close=True, **options):
    writer = open_writer(path, tets, INFO, **options)
    for frame in frames:
        writer.write(frame)
    if close:
        writer.close()


def check_frames(path, frames, lift, suffix):
    cache = open_cache(path)
    assert cache.indices == tuple(frame.index for frame in frames)
    assert cache.times == pytest.approx([frame.time for frame in frames], abs=1e-6)
    for i, frame in enumerate(frames):
        expected, size = lift(frame.positions), 0.6
        if suffix == ".glb":
            expected = expected @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # y is up in glTF
        bound = 1.01e-4 * size if suffix == ".glb" else 1e-6
        assert np.linalg.norm(cache.surface_positions(i) - expected, axis=1).max() < bound
    return cache


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_recording_reads_back_with_polygons_and_texture(tmp_path, tets, frames, render, suffix):
    path = tmp_path / f"run{suffix}"
    record(path, tets, frames, render=render)
    cache = check_frames(path, frames, render.embedding.apply, suffix)
    surface = cache.surface()
    if suffix == ".glb":
        assert surface.uv == pytest.approx(render.surface.uv[render.surface.triangle_corners().reshape(-1)], abs=1e-6)
        assert [file.name for file in tmp_path.iterdir()] == ["run.glb"]
    else:
        assert np.array_equal(surface.face_counts, render.surface.face_counts)
        assert np.array_equal(surface.uv, render.surface.uv)
        assert cache.info == INFO
        assert sorted(file.name for file in tmp_path.iterdir()) == [f"run{suffix}", f"run{suffix}.obj"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_frames_are_safe_before_the_end(tmp_path, tets, frames, suffix):
    path = tmp_path / f"run{suffix}"
    record(path, tets, frames[:3], close=False)
    grown = path if suffix == ".pc2" else path.with_name(f"run{suffix}.part.pc2")
    used = tets.surface_vertices()
    scale = 1.0 if suffix == ".glb" else 100.0
    data = np.fromfile(grown, "<f4", offset=32).reshape(3, -1, 3)
    assert np.array_equal(data[2], (frames[2].positions[used] * scale).astype(np.float32)) or suffix != ".glb"
    assert data[2] == pytest.approx(frames[2].positions[used] * scale, rel=1e-6)


@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_resumed_run_leaves_what_an_uninterrupted_one_leaves(tmp_path, tets, frames, suffix, closed):
    straight, broken = tmp_path / "a" / f"run{suffix}", tmp_path / "b" / f"run{suffix}"
    record(straight, tets, frames)
    record(broken, tets, frames[:4], close=closed)
    record(broken, tets, frames[3:], resume_at=5)  # frame 5 is done again
    check_frames(broken, frames, lambda x: x[tets.surface_vertices()], suffix)
    if suffix != ".glb" or not closed:  # a finished .glb holds its frames within its tolerance
        assert broken.read_bytes() == straight.read_bytes()


def test_pc2_byte_by_byte(tmp_path, tets, frames):
    record(tmp_path / "run.pc2", tets, frames[::2])
    data = (tmp_path / "run.pc2").read_bytes()
    used = tets.surface_vertices()
    assert data[:12] == b"POINTCACHE2\0"
    assert data[12:16] == b"\1\0\0\0"
    assert data[16:20] == len(used).to_bytes(4, "little")
    assert data[20:24] == struct.pack("<f", 2.0)
    assert data[24:28] == struct.pack("<f", 2.0)  # every other frame
    assert data[28:32] == b"\3\0\0\0"
    assert data[32:] == np.stack([f.positions[used] / 0.01 for f in frames[::2]]).astype("<f4").tobytes()


def test_mdd_byte_by_byte(tmp_path, tets, frames):
    record(tmp_path / "run.mdd", tets, frames[:2])
    data = (tmp_path / "run.mdd").read_bytes()
    used = tets.surface_vertices()
    assert data[:8] == b"\0\0\0\2" + len(used).to_bytes(4, "big")
    assert data[8:16] == struct.pack(">ff", 2 / 25, 3 / 25)
    assert data[16:] == np.stack([f.positions[used] / 0.01 for f in frames[:2]]).astype(">f4").tobytes()


def test_a_cache_of_another_program_finds_the_mesh_beside_it(tmp_path, polygons):
    path = tmp_path / "blender.pc2"
    moved = np.stack([polygons.vertices + k for k in range(3)]).astype("<f4")
    path.write_bytes(pack_pc2_head(5, 0.0, 1.0, 3) + moved.tobytes())
    with pytest.raises(FileFormatError, match=r"holds 5 positions a frame and no mesh: put .* as blender\.obj"):
        open_cache(path)
    save_surface(tmp_path / "blender.obj", polygons)
    cache = open_cache(path)
    assert cache.frames == 3
    assert np.array_equal(cache.surface_positions(2), moved[2])
    assert cache.surface().face_counts.tolist() == [4, 3, 3, 3, 3]


@pytest.mark.parametrize(
    "head",
    [
        pack_pc2_head(5, 0.0, 1.0, 4),
        pack_pc2_head(2**31 - 1, 0.0, 1.0, 2**31 - 1),
        pack_pc2_head(-5, 0.0, 1.0, -3),
        pack_pc2_head(5, np.nan, 1.0, 3),
        pack_pc2_head(5, 0.0, 0.0, 3),
        b"POINTCACHE3\0" + bytes(20),
    ],
)
def test_a_head_that_does_not_fit_the_file_is_refused(tmp_path, head, polygons):
    save_surface(tmp_path / "a.obj", polygons)
    (tmp_path / "a.pc2").write_bytes(head + bytes(3 * 5 * 12))
    with pytest.raises(FileFormatError, match=r"a\.pc2: it .*; export it again"):
        open_cache(tmp_path / "a.pc2")


def test_uneven_frames_are_refused_by_a_cache_that_cannot_hold_them(tmp_path, tets, frames):
    with pytest.raises(OutputError, match="frame 5 is not 1 after the last one"):
        record(tmp_path / "run.pc2", tets, [frames[0], frames[1], frames[3]])


def test_a_glb_is_what_its_specification_says(tmp_path, tets, frames):
    """Read by hand: chunks, accessors within the buffer, weights and sparse targets that make up the frames."""
    still = tets.vertices[:, 0] < 0.15  # half of the body does not move
    frames = [replace(f, positions=np.where(still[:, None], tets.vertices, f.positions)) for f in frames]
    record(tmp_path / "run.glb", tets, frames)
    data = (tmp_path / "run.glb").read_bytes()
    assert struct.unpack("<4sII", data[:12]) == (b"glTF", 2, len(data))
    size, kind = struct.unpack("<I4s", data[12:20])
    assert kind == b"JSON"
    assert size % 4 == 0
    tree, binary = json.loads(data[20 : 20 + size]), data[28 + size :]
    assert struct.unpack("<I4s", data[20 + size : 28 + size]) == (len(binary), b"BIN\0")
    assert tree["buffers"] == [{"byteLength": len(binary)}]

    def view(number, dtype, offset=0):
        entry = tree["bufferViews"][number]
        return np.frombuffer(binary[entry["byteOffset"] :][: entry["byteLength"]], dtype)

    def values(number):
        entry = tree["accessors"][number]
        if "bufferView" in entry:
            return view(entry["bufferView"], {5126: "<f4", 5125: "<u4"}[entry["componentType"]])
        dense = np.zeros((entry["count"], 3), np.float32)
        if "sparse" in entry:
            places = view(entry["sparse"]["indices"]["bufferView"], "<u4")
            assert len(places) == entry["sparse"]["count"]
            dense[places] = view(entry["sparse"]["values"]["bufferView"], "<f4").reshape(-1, 3)
        assert np.array_equal(dense.min(axis=0), np.array(entry["min"], np.float32))
        return dense

    (primitive,) = tree["meshes"][0]["primitives"]
    start = values(primitive["attributes"]["POSITION"]).reshape(-1, 3)
    shapes = np.stack([values(target["POSITION"]).reshape(-1, 3) for target in primitive["targets"]])
    assert all("sparse" in tree["accessors"][target["POSITION"]] for target in primitive["targets"])
    assert len(shapes) < len(frames)  # the first frame is the mesh itself
    (animation,) = tree["animations"]
    sampler = animation["samplers"][0]
    assert animation["channels"][0]["target"] == {"node": 0, "path": "weights"}
    assert values(sampler["input"]) == pytest.approx(np.arange(6) / 25)
    weights = values(sampler["output"]).reshape(6, len(shapes))
    used = tets.surface_vertices()
    for frame, weight in zip(frames, weights, strict=True):
        x, y, z = frame.positions[used].T
        assert start + np.tensordot(weight, shapes, axes=1) == pytest.approx(np.stack([x, z, -y], axis=1), abs=1e-4)
    assert load_surface(tmp_path / "run.glb").triangles.shape == tets.surface().triangles.shape


def test_pygltflib_reads_the_glb(tmp_path, tets, frames):
    pygltflib = pytest.importorskip("pygltflib")
    record(tmp_path / "run.glb", tets, frames)
    other = pygltflib.GLTF2().load(str(tmp_path / "run.glb"))
    assert other.accessors[other.meshes[0].primitives[0].attributes.POSITION].count == len(tets.surface_vertices())
    assert other.animations[0].channels[0].target.path == "weights"


def test_morphs_are_as_few_as_the_motion_needs():
    rng = np.random.default_rng(0)
    shapes, weights = rng.standard_normal((3, 50, 3)), rng.standard_normal((40, 3))
    frames = (rng.standard_normal((50, 3)) + np.tensordot(weights, shapes, axes=1)).astype(np.float32)
    morphs = fit_morphs(frames, 1e-4)
    assert len(morphs.shapes) == 3
    assert max(np.linalg.norm(morphs.frame(i) - frames[i], axis=1).max() for i in range(40)) < 1e-4
    assert len(fit_morphs(frames, 1e3).shapes) == 0
    assert np.abs(morphs.weights).max() <= 1.0


def test_no_fewer_morphs_would_do() -> None:
    rng = np.random.default_rng(2)
    frames = np.einsum("fk,kni->fni", rng.normal(size=(40, 30)) * 0.7 ** np.arange(30), rng.normal(size=(30, 50, 3)))
    moved = (frames - frames[0]).reshape(40, -1)
    left, sizes, right = np.linalg.svd(moved, full_matrices=False)
    for tolerance in (0.3, 0.03):
        count = len(fit_morphs(frames, tolerance).shapes)
        fewer = moved - (left[:, : count - 1] * sizes[: count - 1]) @ right[: count - 1]
        assert 1 < count < 30
        assert np.linalg.norm(fewer.reshape(40, -1, 3), axis=2).max() > 0.75 * tolerance
