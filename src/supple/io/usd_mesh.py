"""Meshes written as USD: tets as a TetMesh with a subset for every region, surfaces as a Mesh."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from supple.io.drawn import DrawnSurface, surface_polygons
from supple.io.frames import CacheInfo
from supple.io.usd_layers import describe_layer, export_layer, make_still
from supple.io.usd_pieces import BODY, MESH, whole_surface
from supple.mesh import TetMesh, TriMesh

__all__ = ["write_usd_surface", "write_usd_tets"]

TETS = f"{BODY}/tets"


def write_usd_tets(path: Path, mesh: TetMesh, info: CacheInfo) -> None:
    """Write the tets, in the unit and with the up axis of `info`."""
    from pxr import Sdf, Usd, UsdGeom, Vt

    layer = Sdf.Layer.CreateAnonymous(".usdc")
    describe_layer(layer, info)
    stage = Usd.Stage.Open(layer)
    UsdGeom.Xform.Define(stage, BODY)
    tets = UsdGeom.TetMesh.Define(stage, TETS)
    tets.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(mesh.vertices.astype(np.float32)))
    tets.CreateTetVertexIndicesAttr(Vt.Vec4iArray.FromNumpy(np.ascontiguousarray(mesh.tets)))
    faces = np.ascontiguousarray(mesh.surface_triangles())
    tets.CreateSurfaceFaceVertexIndicesAttr(Vt.Vec3iArray.FromNumpy(faces))
    tets.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack(mesh.bounds()).astype(np.float32)))
    if mesh.region_names or mesh.regions.any():
        _add_regions(stage, mesh)
    export_layer(layer, path)


def _add_regions(stage: Any, mesh: TetMesh) -> None:
    """A subset for every region; its number and name, which USD may not spell as it is, are noted on it."""
    from pxr import UsdGeom, Vt

    named = {number: name for name, number in mesh.region_names.items()}
    for number in np.unique(mesh.regions).tolist():
        name = named.get(number, "")
        plain = re.sub(r"\W", "_", name, flags=re.ASCII) or "region"
        subset = UsdGeom.Subset.Define(stage, f"{TETS}/region_{number if number >= 0 else f'm{-number}'}_{plain}")
        subset.CreateElementTypeAttr(UsdGeom.Tokens.tetrahedron)
        subset.CreateIndicesAttr(Vt.IntArray.FromNumpy(np.flatnonzero(mesh.regions == number).astype(np.int32)))
        subset.GetPrim().SetCustomDataByKey("region", number)
        subset.GetPrim().SetCustomDataByKey("name", name)


def write_usd_surface(path: Path, mesh: TriMesh, info: CacheInfo) -> None:
    """Write the surface, its polygons and texture coordinates kept, in the unit and with the up axis of `info`."""
    from pxr import Usd, UsdGeom, Vt

    drawn = DrawnSurface(*surface_polygons(mesh), mesh.uv, lambda values: values)
    layer = make_still(info, whole_surface(drawn), {})
    stage = Usd.Stage.Open(layer)
    shape = UsdGeom.Mesh(stage.GetPrimAtPath(MESH))
    shape.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(mesh.vertices.astype(np.float32)))
    shape.CreateExtentAttr(Vt.Vec3fArray.FromNumpy(np.stack(mesh.bounds()).astype(np.float32)))
    export_layer(layer, path)
