"""Colliders in USD: a mesh each, placed frame by frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from supple.mesh import TriMesh
from supple.solve import Placement

__all__ = ["COLLIDERS", "add_colliders", "place_colliders", "read_places"]

COLLIDERS = "/colliders"
_ATTRIBUTE = "xformOp:transform"
COLOUR = (0.68, 0.70, 0.74)
Places = Mapping[int, Sequence[Placement]]  #: of all colliders, by time code


def add_colliders(stage: Any, colliders: Mapping[str, TriMesh], unit: float) -> None:
    """Add the surfaces [m] as meshes that wait to be placed, in units of `unit` [m]."""
    from pxr import Gf, UsdGeom, Vt

    for name, surface in colliders.items():
        mesh = UsdGeom.Mesh.Define(stage, f"{COLLIDERS}/{name}")
        mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
        mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy((surface.vertices / unit).astype(np.float32)))
        mesh.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(surface.triangles), 3, np.int32)))
        mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(np.ascontiguousarray(surface.triangles.reshape(-1))))
        mesh.CreateDisplayColorAttr([Gf.Vec3f(*COLOUR)])
        mesh.AddTransformOp()


def place_colliders(layer: Any, names: Sequence[str], places: Places, unit: float) -> None:
    """Tell a layer where the colliders stand at every time code."""
    from pxr import Gf, Sdf

    for number, name in enumerate(names):
        prim = Sdf.CreatePrimInLayer(layer, f"{COLLIDERS}/{name}")
        if _ATTRIBUTE not in prim.attributes:
            Sdf.AttributeSpec(prim, _ATTRIBUTE, Sdf.ValueTypeNames.Matrix4d)
        for code, placed in places.items():
            matrix = np.eye(4)  # of row vectors
            matrix[:3, :3], matrix[3, :3] = placed[number].rotation.T, placed[number].translation / unit
            layer.SetTimeSample(_path(name), code, Gf.Matrix4d(matrix.tolist()))


def read_places(layer: Any, names: Sequence[str], codes: Iterable[int], unit: float) -> dict[int, list[Placement]]:
    """Where the colliders stood at these time codes; one that is not in the layer stands where it was made."""
    places = {}
    for code in codes:
        samples = [layer.QueryTimeSample(_path(name), code) for name in names]
        matrices = [np.eye(4) if found is None else np.array(found, dtype=np.float64) for found in samples]
        places[code] = [Placement(matrix[:3, :3].T.copy(), matrix[3, :3] * unit) for matrix in matrices]
    return places


def _path(name: str) -> str:
    return f"{COLLIDERS}/{name}.{_ATTRIBUTE}"
