"""Runs of meshes out of glTF and USD files go back into copies of these files."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom, UsdShade

from supple.io import open_cache, save_surface
from supple.io.gltf_container import open_gltf
from supple.io.source import read_source
from supple.mesh import TetMesh
from supple.scene.build import build_scene
from supple.scene.launch import Launch, launch
from supple.scene.load import parse_scene
from supple.scene.progress import SilentListener
from supple.scene.record import Recorder
from supple.scene.simulate import simulate
from supple.shape import make_shape


def run(folder: Path, file: str, outputs: list[str], **tables: object) -> TetMesh:
    scene = {
        "mesh": {"file": file, "resolution": 4},
        "pin": [{"select": "min x"}],
        "material": {"young": 3e4},
        "time": {"frames": 3},
        **tables,
    }
    built = build_scene(parse_scene(scene, "scene", folder))
    with Recorder(built, [folder / name for name in outputs]) as recorder:
        for now in simulate(built):
            recorder.write(now)
    return built.mesh


def test_gltf_keeps_its_material_and_plays_the_run(tmp_path: Path) -> None:
    save_surface(tmp_path / "box.glb", make_shape("box", resolution=3).surface())
    before = open_gltf(read_source(tmp_path / "box.glb")).tree
    run(tmp_path, "box.glb", ["out.glb", "out.npz"])
    after = open_gltf(read_source(tmp_path / "out.glb")).tree
    assert after["materials"] == before["materials"]
    glb, npz = open_cache(tmp_path / "out.glb"), open_cache(tmp_path / "out.npz")
    assert glb.indices == npz.indices == (1, 2, 3)
    drop = glb.surface_positions(2)[:, 1].min() - glb.surface_positions(0)[:, 1].min()
    wanted = npz.surface_positions(2)[:, 1].min() - npz.surface_positions(0)[:, 1].min()
    assert np.isclose(drop, wanted, rtol=0.1)
    assert drop < -0.01


def test_usd_keeps_its_paths_bindings_and_unit(tmp_path: Path) -> None:
    stage = Usd.Stage.CreateNew(str(tmp_path / "box.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.Xform.Define(stage, "/set")
    surface = make_shape("box", resolution=3).surface()
    mesh = UsdGeom.Mesh.Define(stage, "/set/box")
    mesh.CreatePointsAttr((100.0 * surface.vertices).tolist())
    mesh.CreateFaceVertexCountsAttr([3] * len(surface.triangles))
    mesh.CreateFaceVertexIndicesAttr(surface.triangles.reshape(-1).tolist())
    material = UsdShade.Material.Define(stage, "/set/rubber")
    UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(material)
    stage.Save()
    body = run(tmp_path, "box.usda", ["out.usdc"], units="cm")
    out = Usd.Stage.Open(str(tmp_path / "out.usdc"))
    flesh = UsdGeom.Mesh(out.GetPrimAtPath("/set/box"))
    assert UsdShade.MaterialBindingAPI(flesh).ComputeBoundMaterial()[0].GetPath() == "/set/rubber"
    codes = flesh.GetPointsAttr().GetTimeSamples()
    assert codes == [1.0, 2.0, 3.0]
    assert np.abs(np.array(flesh.GetPointsAttr().Get()) - 100.0 * surface.vertices).max() < 1e-3
    assert -30.0 < (np.array(flesh.GetPointsAttr().Get(3.0)) - 100.0 * surface.vertices)[:, 1].min() < -1.0
    assert UsdGeom.GetStageMetersPerUnit(out) == 0.01
    assert body.size() < 2.0


@pytest.mark.parametrize("units", ["m", "cm"])
def test_a_rigged_character_comes_back_on_its_own_skin(shared_data, tmp_path: Path, units: str) -> None:
    file = shared_data / "simple" / "RiggedSimple.glb"
    changes = {"units": units, "mesh": {"elements": 300}, "time": {"frames": 4, "preroll": 2}}
    outputs = [tmp_path / "out.glb", tmp_path / "out.pc2"]
    launch(Launch(file, outputs, changes=changes), SilentListener(), lambda line: None, lambda line: None)
    glb, pc2 = (open_cache(path) for path in outputs)
    size = np.linalg.norm(np.ptp(pc2.surface_positions(0), axis=0))
    assert glb.indices == pc2.indices == (0, 1, 2, 3, 4)
    for k in range(5):
        assert np.abs(glb.surface_positions(k) - pc2.surface_positions(k)).max() < 1.1e-4 * size
    before, after = (open_gltf(read_source(path)).tree for path in (file, outputs[0]))
    assert after["skins"] == before["skins"]
    assert [node.get("name") for node in after["nodes"]] == [node.get("name") for node in before["nodes"]]
