"""A USD file read back as a run, also one of another program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.frames import Cache, CacheInfo
from supple.io.raw import RawSurface, to_indices
from supple.io.source import Source, check_readable
from supple.io.usd_colliders import COLLIDERS
from supple.io.usd_layers import NOTE, TIME
from supple.io.views import PolygonView
from supple.mesh import TriMesh

__all__ = ["UsdCache"]


class UsdCache(Cache):
    """The first mesh of a stage whose points move, or else its first mesh, in world space."""

    def __init__(self, path: Path) -> None:
        check_readable(path)
        self._path = path
        self._stage = _open_stage(path)
        self._mesh = _pick_mesh(path, self._stage)
        self.info = _read_info(path, self._stage)
        self._codes = self._mesh.GetPointsAttr().GetTimeSamples() or [self._stage.GetStartTimeCode()]
        self.indices = tuple(round(code) for code in self._codes)
        self.times = tuple(self._read_time(code) for code in self._codes)
        self._view = PolygonView(str(path), self._read_polygons())
        self.triangles = self._view.triangles
        self.fields = ("velocity",) if self._mesh.GetVelocitiesAttr().HasAuthoredValue() else ()

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] in frame `i`, shape (s, 3)."""
        matrix = self._to_world(self._mesh, i)
        points = self._vectors(self._mesh.GetPointsAttr(), i) @ matrix[:3, :3] + matrix[3, :3]
        return points * self.info.metres_per_unit

    def point_values(self, name: str, i: int) -> NDArray[np.float64]:
        """The velocities [m/s] in frame `i`, shape (s, 3), where the file has them."""
        if name not in self.fields:
            return super().point_values(name, i)
        velocities = self._vectors(self._mesh.GetVelocitiesAttr(), i) @ self._to_world(self._mesh, i)[:3, :3]
        return velocities * self.info.metres_per_unit

    def colliders(self, i: int) -> list[TriMesh]:
        """The colliders' surfaces [m] in frame `i`, where supple wrote the file."""
        from pxr import UsdGeom

        holder = self._stage.GetPrimAtPath(COLLIDERS)
        meshes = [UsdGeom.Mesh(prim) for prim in holder.GetChildren()] if holder else []
        return [self._collider(mesh, i) for mesh in meshes]

    def _collider(self, mesh: Any, i: int) -> TriMesh:
        code = self._codes[i]
        points = _array(mesh.GetPointsAttr(), code, np.float64).reshape(-1, 3)
        corners = _array(mesh.GetFaceVertexIndicesAttr(), code, np.int32)
        matrix = self._to_world(mesh, i)
        try:
            placed = (points @ matrix[:3, :3] + matrix[3, :3]) * self.info.metres_per_unit
            return TriMesh.clean(placed, corners.reshape(-1, 3))
        except (MeshError, ValueError):
            raise self._damaged(f"its collider {mesh.GetPath()} is no surface of triangles") from None

    def _read_time(self, code: float) -> float:
        """Time [s] that supple noted, or that follows from the time codes."""
        noted = self._mesh.GetPrim().GetAttribute(TIME)
        time = noted.Get(code) if noted else None
        rate = self._stage.GetTimeCodesPerSecond()
        return time if isinstance(time, float) else (code - self._codes[0]) / rate

    def _to_world(self, mesh: Any, i: int) -> NDArray[np.float64]:
        """Matrix (4, 4) that carries row vectors of a mesh to the world."""
        from pxr import UsdGeom

        matrix = UsdGeom.XformCache(self._codes[i]).GetLocalToWorldTransform(mesh.GetPrim())
        return np.array(matrix, dtype=np.float64)

    def _vectors(self, attribute: Any, i: int) -> NDArray[np.float64]:
        values = _array(attribute, self._codes[i], np.float64).reshape(-1, 3)
        if not np.isfinite(values).all():
            raise self._damaged(f"frame {self.indices[i]} holds a number that is not finite")
        return self._view.of_points(f"{self._path}, frame {self.indices[i]},", values)

    def _read_polygons(self) -> RawSurface:
        code = self._codes[0]
        points = _array(self._mesh.GetPointsAttr(), code, np.float64).reshape(-1, 3)
        counts = _array(self._mesh.GetFaceVertexCountsAttr(), code, np.int32)
        corners = _array(self._mesh.GetFaceVertexIndicesAttr(), code, np.int64)
        if (counts < 0).any() or counts.sum(dtype=np.int64) != len(corners) or not np.isfinite(points).all():
            raise self._damaged("its points and faces do not fit each other")
        source = Source(str(self._path), b"")
        return RawSurface(points, counts, to_indices(source, corners, len(points), "faces"))

    def _damaged(self, what: str) -> FileFormatError:
        return FileFormatError(f"{self._path}: {what}; export it again.")


def _array(attribute: Any, code: float, dtype: type) -> NDArray[Any]:
    values = attribute.Get(code)
    return np.empty(0, dtype=dtype) if values is None else np.array(values, dtype=dtype)


def _open_stage(path: Path) -> Any:
    """The stage, read anew when the process has loaded an earlier state of the file."""
    from pxr import Tf, Usd

    try:
        stage = Usd.Stage.Open(str(path))
        stage.Reload()
    except Tf.ErrorException as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise FileFormatError(f"{path} cannot be read as USD ({reason}); export it again.") from None
    return stage


def _pick_mesh(path: Path, stage: Any) -> Any:
    from pxr import UsdGeom

    meshes = [UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    if not meshes:
        raise FileFormatError(f"{path} has no mesh; export the surface as a USD mesh.")
    return next((mesh for mesh in meshes if mesh.GetPointsAttr().GetTimeSamples()), meshes[0])


def _read_info(path: Path, stage: Any) -> CacheInfo:
    """What supple noted of the run, or what the stage says."""
    from pxr import UsdGeom

    note = stage.GetRootLayer().customLayerData.get(NOTE)
    if isinstance(note, str):
        return CacheInfo.from_json(note, str(path))[0]
    return CacheInfo(
        fps=stage.GetTimeCodesPerSecond(),
        up_axis="z" if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z else "y",
        metres_per_unit=UsdGeom.GetStageMetersPerUnit(stage),
        start_frame=round(stage.GetStartTimeCode()),
        title=stage.GetRootLayer().documentation,
    )
