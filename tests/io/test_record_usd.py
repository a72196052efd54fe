"""Recorded USD as usd-core sees it."""

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom, UsdUtils

from supple.errors import FileFormatError
from supple.io import CacheInfo, RenderMesh, open_cache, open_writer
from supple.mesh import TriMesh

INFO = CacheInfo(fps=25.0, up_axis="z", metres_per_unit=0.01, start_frame=3, title="a beam")
SUFFIXES = [".usd", ".usda", ".usdc"]


def record(path, tets, frames, *, close, render=None):
    writer = open_writer(path, tets, INFO, render=render)
    for frame in frames:
        writer.write(frame)
    if close:
        writer.close()


def find_mesh(stage):
    return UsdGeom.Mesh(next(prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("close", [True, False])
def test_stage_metadata_and_samples(tmp_path, tets, make_frames, suffix, close):
    frames = make_frames(3, 6)
    record(tmp_path / f"run{suffix}", tets, frames, close=close)
    stage = Usd.Stage.Open(str(tmp_path / f"run{suffix}"))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01
    assert UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetTimeCodesPerSecond() == 25.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (3.0, 6.0)
    assert stage.GetDefaultPrim().IsValid()
    assert stage.GetRootLayer().documentation == "a beam"
    mesh = find_mesh(stage)
    assert mesh.GetPrim().GetPath().HasPrefix(stage.GetDefaultPrim().GetPath())
    assert mesh.GetSubdivisionSchemeAttr().Get() == "none"
    assert len(mesh.GetDisplayColorAttr().Get()) == 1
    assert mesh.GetPointsAttr().GetTimeSamples() == [3.0, 4.0, 5.0, 6.0]
    used, scale = tets.surface_vertices(), 100.0
    for frame in frames:
        points = np.array(mesh.GetPointsAttr().Get(frame.index))
        assert np.array_equal(points, (frame.positions[used] / 0.01).astype(np.float32))
        velocities = np.array(mesh.GetVelocitiesAttr().Get(frame.index))
        assert velocities == pytest.approx(scale * frame.velocities[used], rel=1e-6)
        extent = np.array(mesh.GetExtentAttr().Get(frame.index))
        assert np.array_equal(extent, [points.min(axis=0), points.max(axis=0)])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_closed_run_is_one_file_without_other_assets(tmp_path, tets, make_frames, suffix):
    record(tmp_path / f"run{suffix}", tets, make_frames(3, 40), close=True)
    assert [file.name for file in tmp_path.iterdir()] == [f"run{suffix}"]
    layers, assets, missing = UsdUtils.ComputeAllDependencies(str(tmp_path / f"run{suffix}"))
    assert (len(layers), len(assets), len(missing)) == (1, 0, 0)
    text = (tmp_path / f"run{suffix}").read_bytes()[:8]
    assert text == (b"#usda 1." if suffix == ".usda" else b"PXR-USDC")
    assert open_cache(tmp_path / f"run{suffix}").frames == 38


def test_the_end_is_right_after_every_frame(tmp_path, tets, make_frames):
    writer = open_writer(tmp_path / "run.usdc", tets, INFO)
    for frame in make_frames(3, 5):
        writer.write(frame)
        layer = Sdf.Layer.OpenAsAnonymous(str(tmp_path / "run.usdc"))
        assert (layer.startTimeCode, layer.endTimeCode) == (3, frame.index)


@pytest.mark.parametrize("close", [True, False])
def test_a_render_mesh_keeps_its_polygons_and_texture_coordinates(tmp_path, tets, polygons, make_frames, close):
    inside = TriMesh.from_polygons(
        polygons.vertices * 0.05 + 0.02, polygons.face_counts, polygons.face_indices, polygons.uv
    )
    render = RenderMesh.build(tets, inside)
    frame = make_frames(3, 3)[0]
    record(tmp_path / "run.usda", tets, [frame], close=close, render=render)
    stage = Usd.Stage.Open(str(tmp_path / "run.usda"))
    mesh = find_mesh(stage)
    assert list(mesh.GetFaceVertexCountsAttr().Get()) == [4, 3, 3, 3, 3]
    uv = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    assert uv.GetInterpolation() == "faceVarying"
    assert np.array(uv.Get()) == pytest.approx(polygons.uv, abs=1e-7)
    points = 100.0 * render.embedding.apply(frame.positions)
    assert np.array(mesh.GetPointsAttr().Get(3)) == pytest.approx(points, rel=1e-6)


def test_a_stage_of_another_program_is_read_in_metres_and_world_space(tmp_path):
    stage = Usd.Stage.CreateNew(str(tmp_path / "other.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.1)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    stage.SetTimeCodesPerSecond(10)
    parent = UsdGeom.Xform.Define(stage, "/world")
    parent.AddTranslateOp().Set((10.0, 0.0, 0.0))
    mesh = UsdGeom.Mesh.Define(stage, "/world/cloth")
    mesh.CreateFaceVertexCountsAttr([4])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 3])
    for code in (5, 7):
        mesh.CreatePointsAttr().Set([(0, 0, code), (1, 0, code), (1, 1, code), (0, 1, code)], code)
    stage.GetRootLayer().Save()
    cache = open_cache(tmp_path / "other.usda")
    assert (cache.indices, cache.times, cache.info.up_axis) == ((5, 7), (0.0, 0.2), "z")
    assert cache.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert cache.surface_positions(1)[2] == pytest.approx([1.1, 0.1, 0.7])


@pytest.mark.parametrize("content", [b"#usda 1.0\ndef Mesh {", b"PXR-USDC" + bytes(80), b"nothing", b"#usda 1.0\n"])
def test_a_damaged_or_empty_stage_is_refused(tmp_path, content):
    (tmp_path / "a.usd").write_bytes(content)
    with pytest.raises(FileFormatError, match=r"a\.usd: .*; export"):
        open_cache(tmp_path / "a.usd")
