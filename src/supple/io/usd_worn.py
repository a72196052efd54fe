"""A run put back into the stage it came from: hierarchy, materials and texture coordinates stay, points move.

The stage is flattened into one layer. Meshes get time-sampled points in their own space; roots of skeletons become
plain transforms, so that nothing deforms the points a second time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.character import Character, Part
from supple.io.frames import CacheInfo
from supple.io.usd_layers import NOTE, export_layer
from supple.mesh import TriMesh
from supple.mesh.trimesh import fan_corners, proper_triangles

__all__ = ["read_worn", "write_worn"]

FloatArray = NDArray[np.float64]


def write_worn(
    path: Path,
    character: Character,
    points: Sequence[NDArray[np.floating]],
    times: FloatArray,
    info: CacheInfo,
) -> None:
    """Write the stage of a character with its parts at points [m], (frames, n, 3) each, at times [s] from its start."""
    from pxr import Usd

    stage = Usd.Stage.Open(str(Path(character.file).absolute()))
    layer = stage.Flatten(addSourceFileComment=False)
    _point_beside(layer, path)
    flat = Usd.Stage.Open(layer)
    codes = (_begin(flat, character) + times * flat.GetTimeCodesPerSecond()).tolist()
    for part, frames in zip(character.parts, points, strict=True):
        _move(flat, part, frames, codes, character.metres_per_unit)
    _still_skeletons(flat, character)
    flat.SetStartTimeCode(codes[0])
    flat.SetEndTimeCode(codes[-1])
    noted = replace(info, metres_per_unit=character.metres_per_unit, up_axis=character.up_axis)
    layer.customLayerData = {**layer.customLayerData, NOTE: noted.to_json()}
    export_layer(layer, path)


def read_worn(path: Path, character: Character, info: CacheInfo) -> tuple[list[int], NDArray[np.float32]]:
    """Numbers of the frames of such a file, and the points [m] of all parts in them, (frames, n, 3)."""
    from pxr import Tf, Usd, UsdGeom

    try:
        stage = Usd.Stage.Open(str(path.absolute()))
    except Tf.ErrorException:
        raise OutputError(f"{path} is not a whole USD file, so it cannot go on; run again without resuming.") from None
    prims = [stage.GetPrimAtPath(part.place) for part in character.parts]
    if not all(prims) or NOTE not in stage.GetRootLayer().customLayerData:
        raise OutputError(f"{path} is a recording of another mesh; run again without resuming.")
    codes = UsdGeom.PointBased(prims[0]).GetPointsAttr().GetTimeSamples()
    frames = []
    for code in codes:
        cache = UsdGeom.XformCache(code)
        here = []
        for prim in prims:
            own = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(code), np.float64).reshape(-1, 3)
            matrix = np.array(cache.GetLocalToWorldTransform(prim), np.float64)
            here.append(own @ matrix[:3, :3] + matrix[3, :3])
        frames.append(character.metres_per_unit * np.concatenate(here))
    seconds = (np.array(codes) - _begin(stage, character)) / stage.GetTimeCodesPerSecond()
    return [round(time * info.fps) for time in seconds.tolist()], np.array(frames, np.float32)


def _begin(stage: Any, character: Character) -> float:
    """The time code at which a run of the character begins."""
    clip = character.clip()
    return float(stage.GetStartTimeCode() if clip is None else clip.times[0] * stage.GetTimeCodesPerSecond())


def _move(stage: Any, part: Part, frames: NDArray[np.floating], codes: list[float], metres: float) -> None:
    """Time-sampled points, extent and, where the mesh has normals, normals of a part."""
    from pxr import UsdGeom, Vt

    prim = stage.GetPrimAtPath(part.place)
    mesh = UsdGeom.Mesh(prim)
    for name in ("velocities", "accelerations", "primvars:normals"):
        if prim.HasAttribute(name):
            prim.RemoveProperty(name)
    shaded = mesh.GetNormalsAttr().HasAuthoredValue()
    if shaded:
        prim.RemoveProperty("normals")
        mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    triangles = part.corners[fan_corners(part.counts)].astype(np.int32)
    triangles = triangles[proper_triangles(triangles)]
    for code, frame in zip(codes, frames, strict=True):
        place = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(prim), np.float64)
        world = np.asarray(frame, np.float64) / metres
        own = np.column_stack([world, np.ones(len(world))]) @ np.linalg.inv(place)
        local = np.ascontiguousarray(own[:, :3], np.float32)
        if not np.isfinite(local).all():
            raise OutputError(f"{part.place} stands where its points exceed USD's 32 bits; move it nearer.")
        mesh.GetPointsAttr().Set(Vt.Vec3fArray.FromNumpy(local), code)
        ends = np.stack([local.min(axis=0), local.max(axis=0)])
        mesh.CreateExtentAttr().Set(Vt.Vec3fArray.FromNumpy(ends), code)
        if shaded:
            normals = TriMesh(own[:, :3], triangles).vertex_normals().astype(np.float32)
            mesh.GetNormalsAttr().Set(Vt.Vec3fArray.FromNumpy(normals), code)


def _still_skeletons(stage: Any, character: Character) -> None:
    """Make plain transforms of the roots of skeletons above the parts: these are where they are to be."""
    from pxr import UsdSkel

    for part in character.parts:
        prim = stage.GetPrimAtPath(part.place)
        while prim and not prim.IsPseudoRoot():
            if prim.IsA(UsdSkel.Root):
                prim.SetTypeName("Xform")
            prim = prim.GetParent()


def _point_beside(layer: Any, path: Path) -> None:
    """Name pictures and other files, whose paths flattening makes absolute, as they are seen from the new file."""
    from pxr import UsdUtils

    folder = path.absolute().parent

    def beside(name: str) -> str:
        if not os.path.isabs(name):
            return name
        try:
            return Path(os.path.relpath(name, folder)).as_posix()
        except ValueError:  # on another drive
            return name

    UsdUtils.ModifyAssetPaths(layer, beside)
