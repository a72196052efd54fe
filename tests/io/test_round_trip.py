"""Meshes written by supple come back bit for bit, to supple and to others."""

import meshio
import numpy as np
import pytest

from supple.errors import OutputError
from supple.io import load_mesh, load_surface, load_tets, save_surface, save_tets
from supple.mesh import TetMesh, TriMesh


@pytest.mark.parametrize("suffix", [".npz", ".msh", ".mesh", ".vtu"])
def test_tets_come_back_bit_for_bit(tmp_path, tets, suffix):
    save_tets(tmp_path / f"a{suffix}", tets)
    back = load_tets(tmp_path / f"a{suffix}")
    assert back.vertices.tobytes() == tets.vertices.tobytes()
    assert np.array_equal(back.tets, tets.tets)
    assert np.array_equal(back.regions, tets.regions)
    assert back.notes == ()


@pytest.mark.parametrize("suffix", [".npz", ".msh"])
def test_region_names_come_back(tmp_path, tets, suffix):
    save_tets(tmp_path / f"a{suffix}", tets)
    assert load_tets(tmp_path / f"a{suffix}").region_names == {"fat layer": 3, "muscle": 7}


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off"])
def test_polygons_come_back_bit_for_bit(tmp_path, polygons, suffix):
    save_surface(tmp_path / f"a{suffix}", polygons)
    back = load_surface(tmp_path / f"a{suffix}")
    assert back.vertices.tobytes() == polygons.vertices.tobytes()
    assert np.array_equal(back.face_counts, polygons.face_counts)
    assert np.array_equal(back.face_indices, polygons.face_indices)
    assert np.array_equal(back.triangles, polygons.triangles)


def test_obj_keeps_texture_coordinates(tmp_path, polygons):
    save_surface(tmp_path / "a.obj", polygons)
    assert np.array_equal(load_surface(tmp_path / "a.obj").uv, polygons.uv)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off"])
def test_triangles_come_back_as_triangles(tmp_path, tets, suffix):
    surface = tets.surface()
    save_surface(tmp_path / f"a{suffix}", surface)
    back = load_surface(tmp_path / f"a{suffix}")
    assert back.face_counts is None
    assert np.array_equal(back.triangles, surface.triangles)
    assert back.vertices.tobytes() == surface.vertices.tobytes()


@pytest.mark.parametrize("suffix", [".msh", ".mesh", ".vtu"])
def test_meshio_reads_what_supple_writes(tmp_path, tets, suffix):
    save_tets(tmp_path / f"a{suffix}", tets)
    other = meshio.read(tmp_path / f"a{suffix}")
    assert np.array_equal(other.points, tets.vertices)
    assert np.array_equal(other.cells_dict["tetra"], tets.tets)
    data = other.cell_data_dict
    names = {".msh": "gmsh:physical", ".mesh": "medit:ref", ".vtu": "region"}
    assert np.array_equal(data[names[suffix]]["tetra"], tets.regions)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off"])
def test_meshio_reads_surfaces_supple_writes(tmp_path, tets, suffix):
    surface = tets.surface()
    save_surface(tmp_path / f"a{suffix}", surface)
    other = meshio.read(tmp_path / f"a{suffix}")
    assert np.allclose(other.points, surface.vertices, rtol=0, atol=1e-7)
    assert np.array_equal(other.cells_dict["triangle"], surface.triangles)


def test_numpy_reads_the_npz_without_pickle(tmp_path, tets):
    save_tets(tmp_path / "a.npz", tets)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["vertices"], tets.vertices)
        assert np.array_equal(arrays["tets"], tets.tets)


def test_load_mesh_tells_tets_from_surfaces(tmp_path, tets, polygons):
    save_tets(tmp_path / "a.MSH", tets)
    save_surface(tmp_path / "b.Ply", polygons)
    assert isinstance(load_mesh(tmp_path / "a.MSH"), TetMesh)
    assert isinstance(load_mesh(tmp_path / "b.Ply"), TriMesh)


def test_saving_makes_the_folder_and_leaves_nothing_else(tmp_path, tets):
    save_tets(tmp_path / "new" / "a.npz", tets)
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["a.npz"]


def test_saving_to_an_unknown_suffix_names_the_known_ones(tmp_path, tets):
    with pytest.raises(OutputError, match=r"\.npz, \.msh, \.mesh, \.vtu"):
        save_tets(tmp_path / "a.stl", tets)


def test_saving_over_a_directory_is_refused(tmp_path, tets):
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(OutputError, match="is a directory"):
        save_tets(tmp_path / "a.npz", tets)
