"""Small files do not take much memory, time or files from elsewhere; nested and endless ones are named."""

import gzip
import io
import json
import os
import subprocess
import sys
import time
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from supple.errors import FileFormatError, SceneError
from supple.io import (
    CacheInfo,
    Frame,
    limits,
    load_mesh,
    load_surface,
    load_tets,
    open_cache,
    open_writer,
    save_surface,
)
from supple.io.bone_file import load_bones
from supple.io.bvh import load_bvh
from supple.io.limits import Limits, limited, machine_memory
from supple.io.load_character import load_character
from supple.io.npz_file import NpzFile
from supple.io.tree import DEEPEST, parse_json, parse_toml
from supple.mesh import TetMesh, TriMesh
from supple.scene.load import load_scene
from supple.scene.replay import load_events

MEGABYTE = 2**20


def peak(work: Callable[[], object], words: str) -> float:
    """Most megabytes that Python and NumPy hold while the work is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(FileFormatError, match=words):
            work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def gltf(path: Path, accessors: list[dict[str, object]], **more: object) -> Path:
    tree = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": accessors,
        **more,
    }
    path.write_text(json.dumps(tree))
    return path


def test_points_that_a_file_does_not_hold_are_not_made(tmp_path: Path) -> None:
    path = gltf(tmp_path / "a.gltf", [{"componentType": 5126, "count": 60_000_000, "type": "VEC3"}])
    assert path.stat().st_size < 300
    for load in (load_mesh, load_character):
        assert peak(lambda load=load: load(path), "60,000,000 zeros, of which it holds none") < 4


def test_a_mesh_that_hangs_on_many_nodes_is_counted_before_it_is_copied(tmp_path: Path, polygons: TriMesh) -> None:
    save_surface(tmp_path / "a.glb", polygons)
    data = (tmp_path / "a.glb").read_bytes()
    size = int.from_bytes(data[12:16], "little")
    tree = json.loads(data[20 : 20 + size])
    (tmp_path / "a.bin").write_bytes(data[28 + size :])
    tree["buffers"][0]["uri"] = "a.bin"
    tree["nodes"] = [{"mesh": 0}] * 2000
    tree["scenes"] = [{"nodes": list(range(2000))}]
    (tmp_path / "a.gltf").write_text(json.dumps(tree))
    with limited(vertices=1000):
        assert peak(lambda: load_mesh(tmp_path / "a.gltf"), "more than the 1,000 read at most") < 16
        assert peak(lambda: load_character(tmp_path / "a.gltf"), "more than the 1,000 read at most") < 16


def save_packed(path: Path, **arrays: np.ndarray) -> Path:
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]
    return path


def test_an_archive_of_zeros_is_not_unpacked(tmp_path: Path) -> None:
    tets = np.array([[0, 1, 2, 3]])
    path = save_packed(tmp_path / "a.npz", vertices=np.zeros((4_000_000, 3)), tets=tets)
    assert path.stat().st_size < MEGABYTE / 8
    assert peak(lambda: load_tets(path), "above 100 to 1; store it unpacked, or set SUPPLE_MAX_RATIO") < 4
    with limited(vertices=1000, ratio=2000):
        assert peak(lambda: load_tets(path), "holds 4,000,000 vertices, more than the 1,000") < 4  # from the header
    with limited(ratio=2000), NpzFile(path) as file:
        assert file.read("vertices").shape == (4_000_000, 3)


def test_what_a_header_claims_is_not_taken(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (60000000, 3), }\n"
    member = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(48)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("vertices.npy", member)
    with NpzFile(tmp_path / "a.npz") as file:
        assert peak(lambda: file.read("vertices"), "does not fit its 48 bytes") < 2


@pytest.mark.parametrize("words", [b"((((", b"(" * 5000, b"'" * 99, b"{" * 5000, b"9" * 10_000, b"\xff\xfe", b""])
@pytest.mark.parametrize("place", [b"(4, 3)", b"False", b"<f8", b"'shape'"])
def test_headers_that_are_none_are_named(tmp_path: Path, words: bytes, place: bytes) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros((4, 3)))
    content = stream.getvalue()
    length = int.from_bytes(content[8:10], "little")
    header = content[10 : 10 + length].replace(place, words)
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr(
            "vertices.npy", content[:8] + len(header).to_bytes(2, "little") + header + content[10 + length :]
        )
    with NpzFile(tmp_path / "a.npz") as file, pytest.raises(FileFormatError, match="'vertices' is damaged"):
        file.read("vertices")


@pytest.mark.parametrize("cut", [False, True])
def test_an_array_that_is_there_twice_is_refused(tmp_path: Path, tets: TetMesh, cut: bool) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, vertices=tets.vertices, tets=tets.tets)
    with zipfile.ZipFile(path) as archive:
        content = archive.read("tets.npy")
    with zipfile.ZipFile(path, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr(zipfile.ZipInfo("tets.npy"), content)
    if cut:  # without its directory members are found one by one
        from supple.io.npz_zip import pack_npz

        whole = b"".join(pack_npz({"tets": tets.tets}))
        path.write_bytes(2 * whole[: whole.index(b"PK\x01\x02")])
    with pytest.raises(FileFormatError, match="it holds the array 'tets' twice"):
        load_tets(path)


def test_a_packed_text_is_not_unpacked_beyond_what_texts_pack_to(tmp_path: Path) -> None:
    path = tmp_path / "a.obj.gz"
    path.write_bytes(gzip.compress(b"v 0 0 0\n" * 8_000_000))
    assert path.stat().st_size < 200_000
    assert peak(lambda: load_mesh(path), "above 100 to 1") < 64


def test_a_rig_of_many_joints_takes_time_in_proportion(tmp_path: Path) -> None:
    def seconds(count: int, chain: bool) -> float:
        lines = ["HIERARCHY"]
        for number in range(count):
            lines += [f"{'JOINT' if number else 'ROOT'} j{number}", "{", "OFFSET 0 1 0", "CHANNELS 1 Xrotation"]
            lines += ["}"] if number and not chain else []
        lines += ["}"] * (count if chain else 1)
        lines += ["MOTION", "Frames: 1", "Frame Time: 0.1", "0 " * count]
        (tmp_path / "a.bvh").write_text("\n".join(lines) + "\n")
        begin = time.process_time()
        assert len(load_bvh(tmp_path / "a.bvh")[0]) == count
        return time.process_time() - begin

    for chain in (True, False):
        seconds(10, chain)
        few = min(seconds(1000, chain) for _ in range(3))
        assert seconds(12_000, chain) < 40 * few  # 12 times, and not 144


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, tets: TetMesh, polygons: TriMesh) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir(), outside.mkdir()
    (outside / "a.bin").write_bytes(np.eye(3, dtype=np.float32).tobytes())
    path = gltf(
        inside / "a.gltf",
        [{"componentType": 5126, "count": 3, "type": "VEC3", "bufferView": 0}],
        buffers=[{"byteLength": 36, "uri": "a.bin"}],
        bufferViews=[{"buffer": 0, "byteLength": 36}],
    )
    os.symlink(outside / "a.bin", inside / "a.bin")
    with pytest.raises(FileFormatError, match=r"the buffer 'a.bin' outside its folder"):
        load_mesh(path)
    (inside / "a.bin").unlink()
    os.symlink("b.bin", inside / "a.bin")
    (inside / "b.bin").write_bytes((outside / "a.bin").read_bytes())
    assert len(load_surface(path).triangles) == 1
    os.symlink(inside, tmp_path / "link")  # a link to the folder itself leads nowhere else
    assert len(load_surface(tmp_path / "link" / "a.gltf").triangles) == 1

    writer = open_writer(inside / "run.pvd", tets, CacheInfo())
    writer.write(Frame(0, 0.0, tets.vertices))
    writer.close()
    (inside / "run_0000.vtu").rename(outside / "run_0000.vtu")
    os.symlink(outside / "run_0000.vtu", inside / "run_0000.vtu")
    with pytest.raises(FileFormatError, match="outside its folder"):
        open_cache(inside / "run.pvd")


def test_limits_follow_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for memory in (2**30, 2**34):
        monkeypatch.setattr(limits, "machine_memory", lambda memory=memory: memory)
        assert Limits().bytes == memory // 4
        assert Limits().vertices < memory // 100
        assert Limits(vertices=7).vertices == 7


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a process are Linux's")
def test_a_limit_of_the_process_is_memory_too() -> None:
    most = min(machine_memory() // 2, 2**32)
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({most}, -1))\n"
        "from supple.io.limits import machine_memory\nprint(machine_memory())"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(found.stdout) == most


DEEP = 100_000
ENDLESS = "1" * 10_000


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "a = " + "[" * DEEP, r"a.toml is no valid TOML: it is nested deeper than 64 levels"),
        ("a.toml", "a = " + "[" * 99 + "]" * 99, "nested deeper than 64 levels"),
        ("a.toml", f"[{'a.' * 999}a]", "nested deeper than 64 levels"),
        ("a.toml", f"frames = {ENDLESS}", "a whole number in it does not fit 64 bits"),
        ("a.toml", f"frames = {ENDLESS[:99]}", "a whole number in it does not fit 64 bits"),
        ("a.json", "[" * DEEP, r"a.json is no valid JSON: it is nested deeper than 64 levels"),
        ("a.json", '{"a":' * DEEP, "nested deeper than 64 levels"),
        ("a.json", '{"frames": ' + ENDLESS + "}", "does not fit 64 bits"),
        ("a.json", "[]", "holds a list where a scene is a table"),
        ("a.json", "[{}]", "holds a list where a scene is a table"),
        ("a.json", "7", "holds a int where a scene is a table"),
        ("a.json", "null", "holds a NoneType where a scene is a table"),
        ("a.toml", f"{'x' * 10**5} = 1", "is not a key of a scene"),
    ],
)
def test_scenes_without_an_end_are_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SceneError, match=words) as caught:
        load_scene(tmp_path / name)
    assert len(str(caught.value)) < 10_000


@pytest.mark.parametrize("suffix", [".toml", ".json"])
def test_a_scene_with_a_byte_order_mark_is_read(tmp_path: Path, suffix: str) -> None:
    text = '[mesh]\nshape = "beam"\n' if suffix == ".toml" else '{"mesh": {"shape": "beam"}}'
    (tmp_path / f"a{suffix}").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert load_scene(tmp_path / f"a{suffix}").mesh.shape == "beam"


@pytest.mark.parametrize(
    "entry", ["[" * DEEP, '{"a":' * DEEP, ENDLESS, "[]", '"x"', "{}", '{"frame": 1e999, "event": 0}']
)
def test_logs_without_an_end_are_named(tmp_path: Path, entry: str) -> None:
    (tmp_path / "log.jsonl").write_text(entry + "\n")
    with pytest.raises(FileFormatError, match="line 1"):
        load_events(tmp_path / "log.jsonl")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"pI": [7]}, "bone 'bone0' hangs on bone 7 of 1"),
        ({"pI": [-2]}, "bone 'bone0' hangs on bone -2 of 1"),
        ({"pI": []}, "have not a parent, a head and a tail each"),
        ({"lengths": "long"}, "cannot be read as a skeleton"),
        ({"pI": [None]}, "cannot be read as a skeleton"),
        ({"bones": 7}, "cannot be read as a skeleton"),
        ({"bones": [[]]}, "cannot be read as a skeleton"),
        ({"p0": "x"}, "cannot be read as a skeleton"),
    ],
)
def test_bones_that_hang_on_nothing_are_named(tmp_path: Path, changes: dict[str, object], words: str) -> None:
    whole = {"p0": [[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]], "pI": [-1], "lengths": [2.0]}
    (tmp_path / "a.json").write_text(json.dumps({**whole, **changes}))
    with pytest.raises(FileFormatError, match=words):
        load_bones(tmp_path / "a.json")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_names_that_no_file_has_are_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match="cannot be found"):
        load_mesh(tmp_path / f"{name}.obj")


def test_an_array_where_a_time_belongs_is_named(tmp_path: Path, tets: TetMesh) -> None:
    writer = open_writer(tmp_path / "a.npz", tets, CacheInfo())
    writer.write(Frame(0, 0.0, tets.vertices))
    writer.close()
    with np.load(tmp_path / "a.npz") as members:
        arrays = {name: members[name] for name in members.files}
    np.savez(tmp_path / "b.npz", **{**arrays, "frame/0000/time": np.zeros(1)})
    with pytest.raises(FileFormatError, match="time of frame 0 is damaged"):
        open_cache(tmp_path / "b.npz")


def test_trees_are_read_up_to_their_limits() -> None:
    deepest = "[" * DEEPEST + "]" * DEEPEST
    assert parse_toml(f"a = {deepest[1:-1]}")["a"] == parse_json(deepest)[0]
    assert parse_json(f"[{2**63 - 1}, {-(2**63)}]") == [2**63 - 1, -(2**63)]
    for text in ("[" + deepest + "]", f"[{2**64}]", f"[{-(2**63) - 1}]"):
        with pytest.raises(ValueError, match=r"nested deeper|64 bits"):
            parse_json(text)


@pytest.mark.parametrize("name", ["deep.toml", "list.json"])
def test_no_scene_is_a_fault_of_supple(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    from supple.cli import main

    (tmp_path / name).write_text("[]" if name == "list.json" else "a = " + "[" * DEEP)
    for verb in ("info", "doctor", "run"):
        assert main([verb, str(tmp_path / name)]) == 2
        assert "fault of supple" not in capsys.readouterr().err
