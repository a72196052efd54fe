"""Thousands of damaged files for every reader: only named errors, sound meshes, bounded time and memory.

Half of them are damaged byte by byte, half by their structure (tests/damage.py). SUPPLE_MUTATIONS sets how many copies
of every file are read (default 60); 10,000 take about an hour.
"""

import json
import os
import signal
import sys
import time
import tomllib
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import meshio
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from damage import damaged
from skinned_stage import author
from supple.cubature import Rule
from supple.elastic import Body, Pins
from supple.errors import SuppleError
from supple.io import (
    CacheInfo,
    load_checkpoint,
    load_mesh,
    open_cache,
    open_writer,
    save_checkpoint,
    save_surface,
    save_tets,
)
from supple.io.bone_file import load_bones
from supple.io.bvh import load_bvh
from supple.io.dmat import load_dmat
from supple.io.limits import limited
from supple.io.load import MESH_SUFFIXES
from supple.io.load_character import load_character
from supple.io.model_file import load_model, save_model
from supple.io.save import SURFACE_DIALECTS, TET_DIALECTS
from supple.io.usd_read import SCRIPT, USD_SUFFIXES
from supple.material import StableNeoHookean
from supple.mesh import TetMesh
from supple.method.model import ReducedModel
from supple.scene.load import load_scene
from supple.scene.replay import load_events, save_log
from supple.shape import make_shape
from supple.solve import AddPin, Grab, MoveCollider, SetScene
from supple.subspace import linear_modes

USD_COUNT = int(os.environ.get("SUPPLE_MUTATIONS", "15"))  # each costs a process
COUNT = int(os.environ.get("SUPPLE_MUTATIONS", "60"))
SECONDS, BYTES = 5.0, 50 * 2**20  # the most that one damaged file of a few kilobytes may take
FORMS = [
    (suffix, dialect) for table in (TET_DIALECTS, SURFACE_DIALECTS) for suffix in table for dialect in table[suffix]
]


def count_refused(path: Path, load: Callable[[Path], object], count: int = COUNT, lines: bool = False) -> int:
    """How many damaged copies are refused, each in one sentence or in `lines`, none taking long or much memory."""
    whole, messages = path.read_bytes(), []
    tracemalloc.start()
    for data in damaged(whole, count, seed=len(whole)):
        path.write_bytes(data)
        begin = time.perf_counter()
        tracemalloc.reset_peak()
        try:
            load(path)
        except SuppleError as error:
            messages.append(str(error))
        assert time.perf_counter() - begin < SECONDS
        assert tracemalloc.get_traced_memory()[1] < BYTES
    tracemalloc.stop()
    path.write_bytes(whole)
    assert lines or [text for text in messages if not text.endswith(".") or "\n" in text] == []
    return len(messages)


def load_sound(path: Path) -> None:
    """A mesh that comes out of a damaged file is one that can be used."""
    mesh = load_mesh(path)
    assert np.isfinite(mesh.vertices).all()
    if isinstance(mesh, TetMesh):
        assert (mesh.volumes() > 0).all()
    else:
        assert mesh.triangles.max() < len(mesh.vertices)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("suffix", "dialect"), FORMS)
def test_damaged_meshes_give_only_named_errors(tmp_path, suffix, dialect, tets, polygons):
    path = tmp_path / f"a{suffix}"
    if suffix in SURFACE_DIALECTS:
        save_surface(path, polygons, dialect)
    else:
        save_tets(path, tets, dialect)
    refused = count_refused(path, load_sound)
    assert refused >= COUNT // 10


@pytest.mark.filterwarnings("error")
def test_damaged_text_of_gltf_gives_only_named_errors(tmp_path, polygons):
    save_surface(tmp_path / "a.glb", polygons)
    data = (tmp_path / "a.glb").read_bytes()
    size = int.from_bytes(data[12:16], "little")
    tree = json.loads(data[20 : 20 + size])
    tree["buffers"][0]["uri"] = "a.bin"
    (tmp_path / "a.bin").write_bytes(data[28 + size :])
    (tmp_path / "a.gltf").write_text(json.dumps(tree))
    load_sound(tmp_path / "a.gltf")
    assert count_refused(tmp_path / "a.gltf", load_sound) >= COUNT // 10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".ply.gz", ".msh.gz"])
def test_damaged_gzip_gives_only_named_errors(tmp_path, suffix, tets, polygons):
    import gzip

    plain = tmp_path / f"b{suffix.removesuffix('.gz')}"
    if "ply" in suffix:
        save_surface(plain, polygons)
    else:
        save_tets(plain, tets)
    path = tmp_path / f"a{suffix}"
    path.write_bytes(gzip.compress(plain.read_bytes()))
    assert count_refused(path, load_sound) >= COUNT // 10


def test_damaged_usd_gives_only_named_errors(tmp_path, tets, polygons, make_frames):
    """The reader's script on damaged stages, each in a process forked from one that has loaded usd-core.

    A crash of usd-core is what the script is kept apart for; all else must be an error that it names itself.
    """
    save_tets(tmp_path / "a.usdc", tets)
    save_surface(tmp_path / "b.usda", polygons)
    writer = open_writer(tmp_path / "c.usdc", tets, CacheInfo())
    for frame in make_frames(1, 2):
        writer.write(frame)
    writer.close()
    author(tmp_path / "d.usda")
    files = (("a.usdc", "tets"), ("b.usda", "surface"), ("c.usdc", "frames"), ("d.usda", "character"))
    for name, wanted in files:
        crashed, named, read = fork_reader(tmp_path, tmp_path / name, wanted)
        assert crashed + named + read == USD_COUNT
        assert named > 0
        print(f"{name}: {named} named, {read} read, {crashed} ended by usd-core", file=sys.stderr)


def fork_reader(folder: Path, path: Path, wanted: str) -> tuple[int, int, int]:
    """How often usd-core ended the process, the script named a fault, and the stage was read."""
    import runpy

    script = runpy.run_path(str(SCRIPT))
    import pxr.Usd  # noqa: F401

    crashed = named = read = 0
    whole = path.read_bytes()
    for number, data in enumerate(damaged(whole, USD_COUNT, seed=len(whole))):
        changed, output = folder / f"{number}{path.suffix}", folder / f"out{number}"
        changed.write_bytes(data)
        output.mkdir()
        child = os.fork()
        if child == 0:
            code = 77
            try:
                import resource

                resource.setrlimit(resource.RLIMIT_AS, (6 * 2**30, 6 * 2**30))
                signal.alarm(3)  # what would hang is ended, as it is in use
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
                script["main"](changed, output, wanted, 1000)
                code = 0
            except MemoryError:
                code = 78
            finally:
                os._exit(code)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert status != 77, f"the script raised over {changed}"
        if status == 0:
            fault = "error" in json.loads((output / "facts.json").read_text())
            named, read = named + fault, read + (not fault)
        else:
            crashed += 1
        for file in (*output.iterdir(), changed):
            file.unlink()
        output.rmdir()
    return crashed, named, read


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", [("gmsh22", True), ("gmsh", False), ("gmsh", True)])
def test_damaged_gmsh_of_meshio_gives_only_named_errors(tmp_path, form, tets):
    path = tmp_path / "a.msh"
    meshio.write(path, meshio.Mesh(tets.vertices, [("tetra", tets.tets)]), file_format=form[0], binary=form[1])
    assert count_refused(path, load_sound) > COUNT // 10


def replay(path: Path) -> None:
    """Everything that a recording holds."""
    cache = open_cache(path)
    for i in range(cache.frames):
        cache.surface_positions(i)
        for field in cache.fields:
            cache.point_values(field, i)


RECORDINGS = {
    "run.npz": "run.npz",
    "run.pvd": "run.pvd",
    "run_0002.vtu": "run.pvd",
    "run.0001.obj": "run.obj",
    "run.pc2": "run.pc2",
    "run.mdd": "run.mdd",
    "run.glb": "run.glb",
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("damaged", RECORDINGS)
def test_damaged_recordings_give_only_named_errors(tmp_path, tets, make_frames, damaged):
    opened = RECORDINGS[damaged]
    writer = open_writer(tmp_path / opened, tets, CacheInfo())
    for frame in make_frames(1, 2):
        writer.write(frame)
    writer.close()
    least = 1 if damaged in ("run.pc2", "run.mdd") else COUNT // 20  # nearly all of these is positions
    assert count_refused(tmp_path / damaged, lambda _: replay(tmp_path / opened)) >= least


@pytest.mark.filterwarnings("error")
def test_damaged_checkpoints_give_only_named_errors(tmp_path):
    path = tmp_path / "state.npz"
    save_checkpoint(path, {"x": np.arange(12.0).reshape(4, 3)}, {"stamp": "abc", "frame": 3})
    assert count_refused(path, load_checkpoint) > COUNT // 10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_damaged_characters_give_only_named_errors(tmp_path, little_man, suffix):
    path = little_man.save(tmp_path / f"man{suffix}")

    def load(file: Path) -> None:
        character = load_character(file)
        for clip in character.clips:
            for number in range(len(character.parts)):
                assert np.isfinite(character.points(number, clip, len(clip.times) - 1)).all()

    load(path)
    with limited(frames=2000):  # a mutated time asks for years
        assert count_refused(path, load, 4 * COUNT) >= COUNT // 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.tgf", "1 0 0 0\n2 1 0 0\n3 2 0 0\n#\n1 2\n2 3\n#\n"),
        ("a.out", "0 0 0 0 -1\n1 1 0 0 0\n2 2 0 0 1\n"),
        ("a.mhskel", '{"joints": {"a": [0], "b": [1, 2]}, "bones": {"x": {"head": "a", "tail": "b", "parent": null}}}'),
        (
            "b.json",
            '{"bones": [{"name": "x", "parent": -1, "segment_start": [0, 0, 0], "segment_end": [1, 0, 0]},'
            ' {"name": "y", "parent": 0, "segment_start": [1, 0, 0], "segment_end": [2, 0, 0]}]}',
        ),
        ("a.json", '{"p0": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]], "pI": [-1], "lengths": [2.0]}'),
    ],
)
def test_damaged_bones_give_only_named_errors(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    points = np.arange(9.0).reshape(3, 3)
    assert count_refused(tmp_path / name, lambda file: load_bones(file, points)) >= COUNT // 10


SCENE = """
units = "cm"
[time]
frames = 4
integrator = "newmark"
[mesh]
shape = "beam"
resolution = 6
[material]
preset = "rubber"
regions.tip = { select = { side = { end = "max", axis = "x", share = 0.2 } }, young = 1e4 }
[[pin]]
select = "min x 5%"
move.keys = [{ t = 0, by = [0, 0, 0] }, { t = 1, by = [0, 1, 0] }]
[[force]]
kind = "region"
vector = [0, -1, 0]
select = "max x 5%"
[[collider]]
shape = "sphere"
size = { radius = 1.0 }
[method]
name = "reduced"
tolerance = 0.01
[output]
files = ["a.vtu"]
"""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_damaged_scenes_give_only_named_errors(tmp_path, suffix):
    path = tmp_path / f"scene{suffix}"
    path.write_text(SCENE if suffix == ".toml" else json.dumps(tomllib.loads(SCENE)))
    load_scene(path)
    assert count_refused(path, load_scene, lines=True) > COUNT // 3


@pytest.mark.filterwarnings("error")
def test_damaged_logs_give_only_named_errors(tmp_path):
    events = (
        Grab("hand", (1, 2), (0.5, 0.5), (0.0, 1.0, 0.0), 10.0),
        AddPin((3,), "xy"),
        MoveCollider(0, (0.0, 0.1, 0.0)),
        SetScene({"method": {"tolerance": 0.01}}),
    )
    save_log(tmp_path / "log.jsonl", {k: (event,) for k, event in enumerate(events)})
    assert count_refused(tmp_path / "log.jsonl", load_events) > COUNT // 3


@pytest.mark.filterwarnings("error")
def test_damaged_models_give_only_named_errors(tmp_path):
    mesh = make_shape("beam", resolution=3)
    body = Body.build(mesh, StableNeoHookean(), Pins.of(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-6))
    rule = Rule(np.array([2, 5, 11]), np.ones(3), 0.01, 0.02, None, "pool")
    model = ReducedModel(linear_modes(body, 4), rule, np.zeros((3 * len(body.mass), 0)), 1.0, 0.1, {"tolerance": 0.01})
    path = save_model(tmp_path / "a.model.npz", model, body)
    assert count_refused(path, lambda file: load_model(file, body)) > COUNT // 4


MOTION = """HIERARCHY
ROOT hips
{
  OFFSET 1 2 3
  CHANNELS 6 Yposition Xposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -2 0
    CHANNELS 3 Xrotation Yrotation Zrotation
    End Site
    {
      OFFSET 0 0.5 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.05
1 2 3 10 20 30 40 50 60
1 2 3 -170 80 30 40 150 60
"""


@pytest.mark.filterwarnings("ignore::supple.errors.SuppleWarning")
def test_damaged_motions_give_only_named_errors_and_sound_motions(tmp_path):
    def load(path: Path) -> None:
        skeleton, motion = load_bvh(path)
        assert np.isfinite(motion.at(0.02)).all()
        assert np.isfinite(skeleton.heads).all()

    (tmp_path / "a.bvh").write_text(MOTION)
    assert count_refused(tmp_path / "a.bvh", load) > COUNT // 3


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("binary", [False, True])
def test_damaged_matrices_give_only_named_errors(tmp_path, binary):
    numbers = np.linspace(0.0, 1.0, 6)
    text = b"0 0\n2 3\n" + numbers.tobytes() if binary else b"2 3\n" + b"\n".join(b"%r" % n for n in numbers.tolist())
    (tmp_path / "a.dmat").write_bytes(text)
    assert load_dmat(tmp_path / "a.dmat").shape == (3, 2)
    assert count_refused(tmp_path / "a.dmat", load_dmat) > COUNT // 4


ANY_SUFFIX = st.sampled_from([suffix for suffix in MESH_SUFFIXES if suffix not in USD_SUFFIXES])
HEADS = [
    b"", b"solid a\n", b"ply\nformat ascii 1.0\n", b"OFF\n", b"v 0 0 0\n", b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n",
    b"MeshVersionFormatted 1\n", b"# vtk DataFile Version 3.0\na\nASCII\n", b'<VTKFile type="UnstructuredGrid">',
    b"*VERTICES\n", b"glTF\2\0\0\0", b'{"asset": {"version": "2.0"}, ', b"PK\3\4", b"4 3 0 0\n", b"POINTCACHE2\0",
]  # fmt: skip
WORDS = st.sampled_from(
    [
        b"1", b"-1", b"4", b"1e9", b"nan", b"CELLS 2 ", b"POINTS 4 float\n", b"f 1 2 3\n", b"t 0 1 2 3\n", b"}", b"\n",
        b"element vertex 3\n", b"property float x\n", b"end_header\n", b"Vertices\n", b"Tetrahedra\n", b"$Nodes\n",
        b"$EndNodes\n", b"*ELEMENTS\nTET\n", b'"nodes": [{"mesh": 0}],', b'"meshes": [0],', b"</VTKFile>", b"\xff",
    ]
)  # fmt: skip
ANY_BYTES = st.builds(
    lambda head, middle, end: head + b"".join(middle) + end,
    st.sampled_from(HEADS),
    st.lists(WORDS, max_size=30),
    st.binary(max_size=60),
)


@pytest.mark.filterwarnings("error")
@settings(
    max_examples=3 * COUNT, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(suffix=ANY_SUFFIX, data=ANY_BYTES)
def test_no_bytes_at_all_give_another_error(tmp_path, suffix, data):
    for part in (".node", ".ele") if suffix in (".node", ".ele") else (suffix,):
        (tmp_path / f"a{part}").write_bytes(data)
    with suppress(SuppleError):
        load_sound(tmp_path / f"a{suffix}")
