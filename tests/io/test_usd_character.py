"""UsdSkel characters: what UsdSkel itself says of every vertex in every frame."""

from pathlib import Path

import numpy as np
import pytest
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel, Vt

from supple.errors import FileFormatError, SuppleWarning
from supple.io.usd_character import load_usd_character

JOINTS = ["hip", "hip/knee", "hip/knee/toe", "hip/tail"]
FRAMES = range(1, 6)


def tube() -> tuple[np.ndarray, list[int], list[int]]:
    """An open tube of squares along z, 5 rings of 4."""
    rings = [[[x, y, z] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))] for z in range(5)]
    corners = [c for r in range(4) for k in range(4)
               for c in (4 * r + k, 4 * r + (k + 1) % 4, 4 * r + 4 + (k + 1) % 4, 4 * r + 4 + k)]  # fmt: skip
    return np.array(rings, float).reshape(-1, 3), [4] * 16, corners


def author(path: Path, method: str = "classicLinear", unit: float | None = 0.01, scale: float = 1.0) -> None:
    """A stage, z up, with a skinned tube, two blend shapes, an unskinned mesh that moves and one that does not."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    if unit is not None:
        UsdGeom.SetStageMetersPerUnit(stage, unit)
    stage.SetTimeCodesPerSecond(30.0)
    stage.SetStartTimeCode(FRAMES[0])
    stage.SetEndTimeCode(FRAMES[-1])
    root = UsdSkel.Root.Define(stage, "/man")
    skeleton = UsdSkel.Skeleton.Define(stage, "/man/bones")
    UsdGeom.XformCommonAPI(skeleton).SetTranslate(Gf.Vec3d(5, 0, 0), FRAMES[0])
    UsdGeom.XformCommonAPI(skeleton).SetTranslate(Gf.Vec3d(9, 1, 0), FRAMES[-1])
    skeleton.CreateJointsAttr(JOINTS)
    places = [(0, 0, 0.2), (0, 0, 1.5), (0, 0, 3.3), (0, 0.5, 0.2)]
    binds = [Gf.Matrix4d().SetTranslate(Gf.Vec3d(*place)) for place in places]
    parents = [-1, 0, 1, 0]
    rests = [
        bind * binds[parent].GetInverse() if parent >= 0 else bind for bind, parent in zip(binds, parents, strict=True)
    ]
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray(binds))
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray(rests))
    animation = UsdSkel.Animation.Define(stage, "/man/bend")
    animation.CreateJointsAttr(["hip/knee", "hip"])  # the others stay at rest
    animation.CreateBlendShapesAttr(["wide", "tall"])
    turns, moves = animation.CreateRotationsAttr(), animation.CreateTranslationsAttr()
    sizes, weights = animation.CreateScalesAttr(), animation.CreateBlendShapeWeightsAttr()
    for frame in FRAMES[::2]:
        spin = [Gf.Rotation(Gf.Vec3d(1, 0.3, 0), 20.0 * frame), Gf.Rotation(Gf.Vec3d(0, 0, 1), -9.0 * frame)]
        turns.Set([Gf.Quatf(one.GetQuat()) for one in spin], frame)
        moves.Set([Gf.Vec3f(0, 0, 1.3), Gf.Vec3f(0.1 * frame, 0, 0.2)], frame)
        sizes.Set([Gf.Vec3h(scale)] * 2, frame)
        weights.Set([0.25 * frame - 0.3, 0.1 * frame], frame)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([animation.GetPath()])
    mesh = UsdGeom.Mesh.Define(stage, "/man/flesh")
    points, counts, corners = tube()
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy((points / 2.0 - [0, 0, 1]).astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr(counts)
    mesh.CreateFaceVertexIndicesAttr(corners)
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateSkinningMethodAttr(method)
    binding.CreateGeomBindTransformAttr(
        Gf.Matrix4d(np.array([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 2, 1.0]]))
    )
    binding.CreateJointsAttr(["hip/knee/toe", "hip", "hip/knee"])  # an order of its own
    heights = np.clip(points[:, 2] / 4.0, 0.0, 1.0)
    table = np.column_stack([heights**2, (1 - heights) ** 2, 2 * heights * (1 - heights)])
    binding.CreateJointIndicesPrimvar(False, 3).Set(Vt.IntArray(list(range(3)) * len(points)))
    binding.CreateJointWeightsPrimvar(False, 3).Set(Vt.FloatArray.FromNumpy(table.astype(np.float32).ravel()))
    wide = UsdSkel.BlendShape.Define(stage, "/man/flesh/wide")
    wide.CreateOffsetsAttr(Vt.Vec3fArray.FromNumpy((0.4 * points * [1, 1, 0]).astype(np.float32)))
    between = wide.CreateInbetween("half")
    between.SetWeight(0.5)
    between.SetOffsets(Vt.Vec3fArray.FromNumpy((0.4 * points * [1, 0, 0]).astype(np.float32)))
    tall = UsdSkel.BlendShape.Define(stage, "/man/flesh/tall")
    tall.CreatePointIndicesAttr([17, 18])
    tall.CreateOffsetsAttr([Gf.Vec3f(0, 0, 1), Gf.Vec3f(0, 0.5, 1)])
    binding.CreateBlendShapesAttr(["tall", "wide"])
    binding.CreateBlendShapeTargetsRel().SetTargets([tall.GetPath(), wide.GetPath()])
    for name, moves_along in (("hat", True), ("floor", False)):
        plain = UsdGeom.Mesh.Define(stage, f"/{name}")
        plain.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
        plain.CreateFaceVertexCountsAttr([3, 3, 3, 3])
        plain.CreateFaceVertexIndicesAttr([0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3])
        if moves_along:
            for frame in FRAMES:
                UsdGeom.XformCommonAPI(plain).SetTranslate(Gf.Vec3d(0, 0, 0.5 * frame), frame)
    stage.SetDefaultPrim(root.GetPrim())
    stage.Save()


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
