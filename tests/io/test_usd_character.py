"""UsdSkel characters: what UsdSkel itself says of every vertex in every frame."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from skinned_stage import FRAMES, author
from supple.errors import FileFormatError, SuppleWarning
from supple.io.usd_character import load_usd_character


def skin(path: Path) -> list[np.ndarray]:
    """World positions of the tube by UsdSkel's own functions."""
    stage, cache = Usd.Stage.Open(str(path)), UsdSkel.Cache()
    root = UsdSkel.Root(stage.GetPrimAtPath("/man"))
    cache.Populate(root, Usd.PrimDefaultPredicate)
    (binding,) = cache.ComputeSkelBindings(root, Usd.PrimDefaultPredicate)
    query, (target,) = cache.GetSkelQuery(binding.GetSkeleton()), binding.GetSkinningTargets()
    shapes = UsdSkel.BlendShapeQuery(UsdSkel.BindingAPI(target.GetPrim()))
    found = []
    for code in FRAMES:
        points = UsdGeom.Mesh(target.GetPrim()).GetPointsAttr().Get()
        weights = target.GetBlendShapeMapper().Remap(query.GetAnimQuery().ComputeBlendShapeWeights(code))
        indices, offsets = shapes.ComputeBlendShapePointIndices(), shapes.ComputeSubShapePointOffsets()
        assert shapes.ComputeDeformedPoints(*shapes.ComputeSubShapeWeights(weights), indices, offsets, points)
        assert target.ComputeSkinnedPoints(query.ComputeSkinningTransforms(code), points, code)
        world = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(query.GetPrim()))
        found.append(np.array(points, float) @ world[:3, :3] + world[3, :3])
    return found


@pytest.mark.parametrize(("method", "scale"), [("classicLinear", 1.0), ("classicLinear", 1.5), ("dualQuaternion", 1.0)])
def test_skinned_points_are_those_of_usdskel(tmp_path, method, scale):
    author(tmp_path / "man.usda", method, scale=scale)
    character = load_usd_character(tmp_path / "man.usda")
    (clip,) = character.clips
    assert (clip.name, clip.fps, len(clip.times), character.up_axis) == ("bend", 30.0, 5, "z")
    number = [part.name for part in character.parts].index("flesh")
    assert character.parts[number].counts.max() == 4
    for frame, wanted in enumerate(skin(tmp_path / "man.usda")):
        found = character.points(number, clip, frame)
        assert np.abs(found - 0.01 * wanted).max() < 2e-6 * 0.01 * np.ptp(wanted)


def test_meshes_without_skin_ride_or_stand(tmp_path):
    author(tmp_path / "man.usda")
    character = load_usd_character(tmp_path / "man.usda", metres=1.0)
    places = {part.name: number for number, part in enumerate(character.parts)}
    hats = [character.points(places["hat"], character.clips[0], frame) for frame in (0, 4)]
    np.testing.assert_allclose(hats[1] - hats[0], np.tile([0, 0, 2.0], (4, 1)), atol=1e-9)
    assert character.parts[places["floor"]].influences is None
    assert list(character.parts[places["flesh"]].targets) == ["tall", "wide:half", "wide"]
    assert "tail" not in character.skeleton.names  # which moves nothing


def test_a_stage_without_a_unit_is_in_centimetres_and_says_so(tmp_path):
    author(tmp_path / "man.usda", unit=None)
    with pytest.warns(SuppleWarning, match=r"1 cm, so that it is 0\.\d+ m across; give units"):
        assert load_usd_character(tmp_path / "man.usda").metres_per_unit == 0.01


def change(path: Path, prim: str, attribute: str, value: object) -> None:
    stage = Usd.Stage.Open(str(path))
    stage.GetPrimAtPath(prim).GetAttribute(attribute).Set(value)
    stage.Save()


def test_weights_that_do_not_sum_to_one_are_normalised_and_said(tmp_path):
    author(tmp_path / "man.usda")
    weights = np.full(60, 0.25, np.float32)
    weights[:3] = 0.0
    change(tmp_path / "man.usda", "/man/flesh", "primvars:skel:jointWeights", Vt.FloatArray.FromNumpy(weights))
    character = load_usd_character(tmp_path / "man.usda")
    assert any("summed to 0.75" in note for note in character.notes)
    assert any("1 vertex without weight" in note for note in character.notes)


def test_damaged_rigs_are_named(tmp_path):
    author(tmp_path / "man.usda")
    change(tmp_path / "man.usda", "/man/flesh", "primvars:skel:jointIndices", Vt.IntArray([7] * 60))
    with pytest.raises(FileFormatError, match="follows joint"):
        load_usd_character(tmp_path / "man.usda")
    author(tmp_path / "b.usda")
    change(tmp_path / "b.usda", "/man/bones", "bindTransforms", Vt.Matrix4dArray([Gf.Matrix4d(0.0)] * 4))
    with pytest.raises(FileFormatError, match="cannot be undone"):
        load_usd_character(tmp_path / "b.usda")
    stage = Usd.Stage.CreateNew(str(tmp_path / "c.usda"))
    UsdSkel.Skeleton.Define(stage, "/bones").CreateJointsAttr(["a"])
    stage.Save()
    with pytest.raises(FileFormatError, match="no mesh"):
        load_usd_character(tmp_path / "c.usda")


def test_an_animation_of_a_million_frames_is_refused(tmp_path):
    author(tmp_path / "man.usda")
    stage = Usd.Stage.Open(str(tmp_path / "man.usda"))
    stage.GetPrimAtPath("/man/bend").GetAttribute("blendShapeWeights").Set(Vt.FloatArray([0.0, 1.0]), 1e9)
    stage.Save()
    with pytest.raises(FileFormatError, match="frames, more than"):
        load_usd_character(tmp_path / "man.usda")


def test_a_stage_without_a_skeleton_has_parts_alone(tmp_path):
    stage = Usd.Stage.CreateNew(str(tmp_path / "rock.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    mesh = UsdGeom.Mesh.Define(stage, "/rock")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2])
    stage.GetRootLayer().defaultPrim = Sdf.Path("/rock").name
    stage.Save()
    character = load_usd_character(tmp_path / "rock.usda")
    assert (character.skeleton, character.clips, len(character.parts)) == (None, (), 1)
