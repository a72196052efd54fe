"""A small UsdSkel stage that tests write: a skinned tube with blend shapes, a mesh that moves, one that does not."""

from pathlib import Path

import numpy as np
from pxr import Gf, Usd, UsdGeom, UsdSkel, Vt

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
