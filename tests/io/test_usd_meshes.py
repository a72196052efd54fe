"""Meshes as USD, and files that mean harm to its reader."""

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom

from supple.errors import FileFormatError
from supple.io import CacheInfo, load_mesh, load_surface, load_tets, open_cache, save_surface, save_tets
from supple.io.limits import limited
from supple.mesh import TetMesh, TriMesh


def test_tets_come_back_with_their_regions(tmp_path, tets):
    save_tets(tmp_path / "a.usdc", tets, info=CacheInfo(metres_per_unit=0.01, up_axis="z"))
    back = load_mesh(tmp_path / "a.usdc")
    assert isinstance(back, TetMesh)
    assert np.array_equal(back.vertices, tets.vertices.astype(np.float32))
    assert np.array_equal(back.tets, tets.tets)
    assert np.array_equal(back.regions, tets.regions)
    assert back.region_names == tets.region_names
    assert back.notes == ("its stage counts in units of 0.01 m with z up: give the scene the same",)


def test_usd_core_sees_a_tet_mesh(tmp_path, tets):
    save_tets(tmp_path / "a.usda", tets)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    (prim,) = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.TetMesh)]
    mesh = UsdGeom.TetMesh(prim)
    assert np.array_equal(np.array(mesh.GetTetVertexIndicesAttr().Get()), tets.tets)
    assert UsdGeom.TetMesh.FindInvertedElements(mesh) == []
    assert np.array(mesh.GetSurfaceFaceVertexIndicesAttr().Get()).shape == tets.surface_triangles().shape
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0


def test_polygons_and_texture_come_back(tmp_path, polygons):
    save_surface(tmp_path / "a.usdc", polygons)
    back = load_mesh(tmp_path / "a.usdc")
    assert isinstance(back, TriMesh)
    assert np.array_equal(back.face_counts, polygons.face_counts)
    assert np.array_equal(back.face_indices, polygons.face_indices)
    assert back.uv == pytest.approx(polygons.uv, abs=1e-6)


def make_stage(path):
    stage = Usd.Stage.CreateNew(str(path))
    mesh = UsdGeom.Mesh.Define(stage, "/a/one")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2])
    return stage, mesh


def test_left_handed_and_mirrored_meshes_are_turned_and_parts_are_groups(tmp_path):
    stage, one = make_stage(tmp_path / "a.usda")
    one.CreateOrientationAttr(UsdGeom.Tokens.leftHanded)
    UsdGeom.Xform(stage.DefinePrim("/a", "Xform")).AddScaleOp().Set((2, 2, 2))
    two = UsdGeom.Mesh.Define(stage, "/a/two")
    two.CreatePointsAttr([(0, 0, 1), (1, 0, 1), (0, 1, 1)])
    two.CreateFaceVertexCountsAttr([3])
    two.CreateFaceVertexIndicesAttr([0, 1, 2])
    two.AddScaleOp().Set((-1, 1, 1))
    stage.GetRootLayer().Save()
    mesh = load_surface(tmp_path / "a.usda")
    assert mesh.group_names == ("one", "two")
    corners = mesh.vertices[mesh.triangles]
    assert corners[0].tolist() == [[0, 2, 0], [2, 0, 0], [0, 0, 0]]
    assert corners[1].tolist() == [[0, 2, 2], [-2, 0, 2], [0, 0, 2]]
    assert len(load_surface(tmp_path / "a.usda", groups=["two"]).triangles) == 1


def test_a_mesh_with_tetra_indices_gives_tets(tmp_path):
    stage, mesh = make_stage(tmp_path / "a.usda")
    mesh.GetPointsAttr().Set([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    mesh.GetPrim().CreateAttribute("tetraIndices", Sdf.ValueTypeNames.IntArray).Set([0, 1, 2, 3])
    stage.GetRootLayer().Save()
    assert load_tets(tmp_path / "a.usda").tets.tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("name", ["/etc/passwd", "../other.usda", "http://host/a.usda", "b/../../c.usda"])
def test_a_stage_does_not_reach_outside_its_folder(tmp_path, name):
    stage, mesh = make_stage(tmp_path / "a.usda")
    mesh.GetPrim().GetReferences().AddReference(name)
    stage.GetRootLayer().Save()
    with pytest.raises(FileFormatError, match="outside its folder; keep all in one folder"):
        load_surface(tmp_path / "a.usda")


def test_a_file_that_crashes_the_reader_is_an_error(tmp_path, monkeypatch):
    """A stand-in for a reader that damaged bytes have led astray."""
    stage, _ = make_stage(tmp_path / "a.usda")
    stage.GetRootLayer().Save()
    script = tmp_path / "crash.py"
    for body, reason in (
        ("import os; os.kill(os.getpid(), 11)", r"crashed \(SIGSEGV\)"),
        ("x = bytearray(1 << 60)", "needed more memory than it may have"),
        ("raise SystemExit('no good')", "failed .code 1.*no good"),
    ):
        script.write_text(body)
        monkeypatch.setattr("supple.io.usd_read.SCRIPT", script)
        with pytest.raises(FileFormatError, match=rf"USD's reader {reason}.*export it again"):
            open_cache(tmp_path / "a.usda")


def test_the_limits_hold_for_usd(tmp_path):
    stage, _ = make_stage(tmp_path / "a.usda")
    stage.GetRootLayer().Save()
    with limited(vertices=3), pytest.raises(FileFormatError, match="4 vertices, more than the 3 read at most"):
        load_surface(tmp_path / "a.usda")
