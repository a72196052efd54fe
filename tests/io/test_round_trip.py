"""Meshes written by supple come back bit for bit, to supple and to others."""

from dataclasses import replace

import meshio
import numpy as np
import pytest

from supple.errors import OutputError
from supple.io import load_mesh, load_surface, load_tets, save_surface, save_tets
from supple.io.save import SURFACE_DIALECTS, TET_DIALECTS
from supple.mesh import TetMesh, TriMesh

TET_FORMS = [(suffix, dialect) for suffix, dialects in TET_DIALECTS.items() for dialect in dialects]


@pytest.mark.parametrize(("suffix", "dialect"), TET_FORMS)
def test_tets_come_back_bit_for_bit(tmp_path, tets, suffix, dialect):
    save_tets(tmp_path / f"a{suffix}", tets, dialect)
    back = load_tets(tmp_path / f"a{suffix}")
    order = np.argsort(tets.regions, kind="stable") if dialect.startswith("4.1") else np.arange(len(tets.tets))
    regions = tets.regions[order]
    if suffix == ".tobj":
        regions = np.zeros_like(regions)  # it has none
    if suffix == ".veg":
        regions = np.searchsorted([3, 7], regions) + 1  # numbers its regions in turn
    assert back.vertices.tobytes() == tets.vertices.tobytes()
    assert np.array_equal(back.tets, tets.tets[order])
    assert np.array_equal(back.regions, regions)
    assert back.notes == ()


@pytest.mark.parametrize(("suffix", "dialect"), [(".npz", "stored"), *(f for f in TET_FORMS if f[0] == ".msh")][:-1])
def test_region_names_come_back(tmp_path, tets, suffix, dialect):
    save_tets(tmp_path / f"a{suffix}", tets, dialect)
    assert load_tets(tmp_path / f"a{suffix}").region_names == {"fat layer": 3, "muscle": 7}


def test_vega_keeps_the_names_of_regions(tmp_path, tets):
    save_tets(tmp_path / "a.veg", tets)
    assert load_tets(tmp_path / "a.veg").region_names == {"fat_layer": 1, "muscle": 2}


def test_either_file_of_a_tetgen_pair_names_both(tmp_path, tets):
    save_tets(tmp_path / "a.node", tets)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.ele", "a.node"]
    assert np.array_equal(load_tets(tmp_path / "a.ele").tets, load_tets(tmp_path / "a.node").tets)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off"])
def test_polygons_come_back_bit_for_bit(tmp_path, polygons, suffix):
    save_surface(tmp_path / f"a{suffix}", polygons)
    back = load_surface(tmp_path / f"a{suffix}")
    assert back.vertices.tobytes() == polygons.vertices.tobytes()
    assert np.array_equal(back.face_counts, polygons.face_counts)
    assert np.array_equal(back.face_indices, polygons.face_indices)
    assert np.array_equal(back.triangles, polygons.triangles)


@pytest.mark.parametrize(("suffix", "dialect"), [(".obj", "text"), (".ply", "binary"), (".ply", "text")])
def test_texture_coordinates_come_back(tmp_path, polygons, suffix, dialect):
    save_surface(tmp_path / f"a{suffix}", polygons, dialect)
    back = load_surface(tmp_path / f"a{suffix}")
    assert np.array_equal(back.uv, polygons.uv)
    assert np.array_equal(back.face_counts, polygons.face_counts)


def test_obj_keeps_groups(tmp_path, polygons):
    grouped = replace(polygons, groups=np.array([1, 0, 0, 2, 2], np.int32), group_names=("side", "the base", "back"))
    save_surface(tmp_path / "a.obj", grouped)
    back = load_surface(tmp_path / "a.obj")
    assert [back.group_names[number] for number in back.groups] == ["the base", "side", "side", "back", "back"]
    assert np.array_equal(back.face_indices, polygons.face_indices)


@pytest.mark.parametrize(("suffix", "dialect"), [(".stl", "binary"), (".stl", "text"), (".glb", "binary")])
def test_triangles_of_32_bit_formats_come_back(tmp_path, polygons, suffix, dialect):
    save_surface(tmp_path / f"a{suffix}", polygons, dialect)
    back = load_surface(tmp_path / f"a{suffix}")
    assert len(back.vertices) == 5  # joined again
    corners = polygons.vertices[polygons.triangles]
    exact = corners if dialect == "text" else corners.astype(np.float32)
    assert np.array_equal(back.vertices[back.triangles], exact)


def test_gltf_keeps_texture_coordinates_across_seams(tmp_path, polygons):
    save_surface(tmp_path / "a.glb", polygons)
    back = load_surface(tmp_path / "a.glb")
    assert back.uv == pytest.approx(polygons.uv[polygons.triangle_corners().reshape(-1)], abs=1e-6)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off"])
def test_triangles_come_back_as_triangles(tmp_path, tets, suffix):
    surface = tets.surface()
    save_surface(tmp_path / f"a{suffix}", surface)
    back = load_surface(tmp_path / f"a{suffix}")
    assert back.face_counts is None
    assert np.array_equal(back.triangles, surface.triangles)
    assert back.vertices.tobytes() == surface.vertices.tobytes()


#: What meshio does not read: Gmsh 1, raw VTU, Vega, .tobj; and the pair of TetGen's it reads by either name.
NOT_MESHIO = {(".msh", "1"), (".vtu", "raw"), (".veg", "text"), (".tobj", "text"), (".npz", "stored")}


@pytest.mark.parametrize(("suffix", "dialect"), [form for form in TET_FORMS if form not in NOT_MESHIO])
def test_meshio_reads_what_supple_writes(tmp_path, tets, suffix, dialect):
    save_tets(tmp_path / f"a{suffix}", tets, dialect)
    other = meshio.read(tmp_path / f"a{suffix}")
    order = np.argsort(tets.regions, kind="stable") if dialect.startswith("4.1") else np.arange(len(tets.tets))
    assert np.array_equal(other.points, tets.vertices)
    assert np.array_equal(other.cells_dict["tetra"], tets.tets[order])
    names = {".msh": "gmsh:physical", ".mesh": "medit:ref", ".vtu": "region", ".vtk": "region"}
    if suffix in names:
        assert np.array_equal(other.cell_data_dict[names[suffix]]["tetra"].ravel(), tets.regions[order])


@pytest.mark.parametrize(
    ("suffix", "dialect"),
    [(suffix, dialect) for suffix, dialects in SURFACE_DIALECTS.items() for dialect in dialects if suffix != ".glb"],
)
def test_meshio_reads_surfaces_supple_writes(tmp_path, tets, suffix, dialect):
    surface = tets.surface()
    save_surface(tmp_path / f"a{suffix}", surface, dialect)
    other = meshio.read(tmp_path / f"a{suffix}")
    corners = other.points[other.cells_dict["triangle"]]
    assert np.allclose(corners, surface.vertices[surface.triangles], rtol=0, atol=1e-7)


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
    with pytest.raises(OutputError, match=r"no dialect '3' of it; use one of 2\.2, 2\.2-binary"):
        save_tets(tmp_path / "a.msh", tets, "3")


def test_saving_over_a_directory_is_refused(tmp_path, tets):
    (tmp_path / "a.npz").mkdir()
    with pytest.raises(OutputError, match="is a directory"):
        save_tets(tmp_path / "a.npz", tets)


def test_one_missing_folder_is_made_and_more_are_named(tmp_path, tets):
    save_tets(tmp_path / "new" / "a.msh", tets)
    assert load_tets(tmp_path / "new" / "a.msh").tets.shape == tets.tets.shape
    with pytest.raises(OutputError, match=r"there is no folder .*slip.*make that folder first"):
        save_tets(tmp_path / "slip" / "new" / "a.msh", tets)
    assert not (tmp_path / "slip").exists()
