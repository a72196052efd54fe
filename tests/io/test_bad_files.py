"""Whatever the file, only a named error comes out, and it says what to do."""

import zipfile

import numpy as np
import pytest

from supple.errors import FileFormatError, MeshError
from supple.io import (
    MESH_SUFFIXES,
    load_mesh,
    load_surface,
    load_tets,
)

SUFFIXES = MESH_SUFFIXES


def pair(suffix: str) -> tuple[str, ...]:
    """TetGen has two files to a mesh."""
    return (".node", ".ele") if suffix in (".node", ".ele") else (suffix,)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_is_named(tmp_path, suffix):
    with pytest.raises(FileFormatError, match=r"no\.\w+ cannot be found"):
        load_mesh(tmp_path / f"no{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_directory_is_named(tmp_path, suffix):
    for part in pair(suffix):
        (tmp_path / f"a{part}").mkdir()
    with pytest.raises(FileFormatError, match="is a directory; name a file in it"):
        load_mesh(tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_named(tmp_path, suffix):
    for part in pair(suffix):
        (tmp_path / f"a{part}").touch()
    with pytest.raises(FileFormatError, match="is empty; export it again"):
        load_mesh(tmp_path / f"a{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)), b"solid stl\nfacet\n", b"\n\n \n", b"{}"]
)
def test_another_format_under_the_name_is_refused(tmp_path, suffix, content):
    for part in pair(suffix):
        (tmp_path / f"a{part}").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.\w+"):
        load_mesh(tmp_path / f"a{suffix}")


def test_an_unknown_suffix_lists_what_is_read(tmp_path):
    (tmp_path / "a.fbx").write_bytes(b"Kaydara")
    with pytest.raises(FileFormatError, match=r"\.npz, \.msh, \.mesh, \.vtu, .*\.obj, \.ply, \.off"):
        load_mesh(tmp_path / "a.fbx")
    with pytest.raises(FileFormatError, match=r"tet meshes are read from"):
        load_tets(tmp_path / "a.obj")
    with pytest.raises(FileFormatError, match=r"surfaces are read from"):
        load_surface(tmp_path / "a.msh")


def test_a_flat_tet_is_named_with_its_file(tmp_path):
    np.savez(tmp_path / "flat.npz", vertices=np.eye(4)[:, :3] * [1, 1, 0], tets=[[0, 1, 2, 3]])
    with pytest.raises(MeshError, match=r"flat\.npz: tet 0"):
        load_tets(tmp_path / "flat.npz")


@pytest.mark.parametrize(
    ("arrays", "reason"),
    [
        ({"vertices": np.eye(3)}, "no array 'tets'"),
        ({"vertices": np.full((4, 3), np.nan), "tets": [[0, 1, 2, 3]]}, "not a finite"),
        ({"vertices": np.eye(4)[:, :3], "tets": [[0, 1, 2, 4]]}, "refer to entry 4"),
        ({"vertices": np.eye(4)[:, :3], "tets": [[0, 1, 2, -1]]}, "refer to entry -1"),
        ({"vertices": np.eye(4), "tets": [[0, 1, 2, 3]]}, r"shape \(4, 4\)"),
        ({"vertices": np.eye(4)[:, :3], "tets": [[0.0, 1, 2, 3]]}, "float64"),
        ({"vertices": np.eye(4)[:, :3], "tets": [[0, 1, 2, 3]], "regions": [1, 2]}, "for 1 tets"),
    ],
)
def test_an_npz_with_wrong_arrays_says_which(tmp_path, arrays, reason):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(FileFormatError, match=reason):
        load_tets(tmp_path / "a.npz")


def test_a_pickle_is_never_loaded(tmp_path):
    np.savez(tmp_path / "a.npz", vertices=np.array([{"a": 1}], dtype=object), tets=[[0, 1, 2, 3]])
    with pytest.raises(FileFormatError, match="Python objects"):
        load_tets(tmp_path / "a.npz")


def test_an_npz_whose_header_asks_for_terabytes_is_refused_before_memory_is_taken(tmp_path):
    np.save(tmp_path / "v.npy", np.zeros((4, 3)))
    head = (tmp_path / "v.npy").read_bytes().replace(b"(4, 3), }" + b" " * 12, b"(4000000000000, 3), }")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("vertices.npy", head)
        archive.writestr("tets.npy", head)
    with pytest.raises(FileFormatError, match="does not fit"):
        load_tets(tmp_path / "a.npz")


PLY = "ply\nformat {} 1.0\nelement {}\nend_header\n"
GMSH = "$MeshFormat\n{} 0 8\n$EndMeshFormat\n$Nodes\n{}\n$EndNodes\n$Elements\n1\n$EndElements\n"
MANY = 99999999999


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ply", PLY.format("ascii", f"vertex {MANY}\nproperty float x") + "0\n"),
        ("a.ply", PLY.format("binary_little_endian", "face 9\nproperty list uint int v") + "\xff" * 4),
        ("a.off", f"OFF\n{MANY} 1 0\n0 0 0\n"),
        (
            "a.mesh",
            f"MeshVersionFormatted 1\nDimension 3\nVertices\n{MANY}\n0 0 0 0\nTetrahedra\n1\n1 1 1 1 1",
        ),
        ("a.msh", GMSH.format("2.2", MANY)),
        ("a.msh", GMSH.format("4.1", f"{MANY} 1 1 1")),
    ],
)
def test_a_count_beyond_the_file_is_refused(tmp_path, name, text):
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(FileFormatError, match=name):
        load_mesh(tmp_path / name)
