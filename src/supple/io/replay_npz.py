"""A run recorded as .npz, read back; its members are described in record_npz.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.frames import Cache, CacheInfo
from supple.io.npz import read_npz_tets
from supple.io.npz_file import NpzFile
from supple.io.record_npz import LAST_MEMBER
from supple.io.views import TetView
from supple.mesh import Sheet, TetMesh, TriMesh

__all__ = ["NpzCache"]

COLLIDER = re.compile(r"collider/(.+)/triangles")


class NpzCache(Cache):
    """A run recorded as .npz."""

    def __init__(self, path: Path) -> None:
        self._file = NpzFile(path)
        sheet = self._file.read("triangles") if "triangles" in self._file else None
        self._view = TetView(str(path), read_npz_tets(path), sheet)
        self._path = path
        self.info, _ = CacheInfo.from_json(str(self._file.read("info")), str(path))
        self.triangles = self._view.triangles
        self.indices = tuple(int(found[1]) for name in self._file.names if (found := LAST_MEMBER.fullmatch(name)))
        self.times = tuple(float(self._read(i, "time", ())) for i in range(self.frames))
        first = f"frame/{self.indices[0]:04d}/" if self.indices else "frame/"
        names = [name.removeprefix(first) for name in self._file.names if self.indices and name.startswith(first)]
        self._members = {name.removeprefix("point/").removeprefix("cell/"): name for name in names}
        stored = tuple(name for name, member in self._members.items() if member.startswith(("point/", "cell/")))
        velocity = ("velocity",) if "velocities" in self._members else ()
        self.fields = tuple(dict.fromkeys(("displacement", *velocity, *stored)))

    def body(self) -> TetMesh | None:
        """The tets [m] at rest."""
        mesh = self._view.mesh
        return None if isinstance(mesh, Sheet) else mesh

    def surface_positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of the surface of the tets in frame `i`, shape (s, 3)."""
        return self._view.of_points(self.positions(i))

    def positions(self, i: int) -> NDArray[np.float64]:
        """Positions [m] of all tet vertices in frame `i`, shape (n, 3)."""
        return self._read(i, "positions", (len(self._view.mesh.vertices), 3))

    def point_values(self, name: str, i: int) -> NDArray[np.float64]:
        """A field at the surface's vertices in frame `i`; one of tets is averaged over the tets around."""
        points, cells = len(self._view.mesh.vertices), len(self._view.mesh.tets)
        if name == "displacement" and name not in self._members:
            return self._view.of_points(self.positions(i) - self._view.mesh.vertices)
        member = "velocities" if name == "velocity" else self._members.get(name, "")
        if member.startswith("cell/"):
            return self._view.of_cells(self._read(i, member, (cells,)))
        if member.startswith("point/") or member == "velocities":
            return self._view.of_points(self._read(i, member, (points,)))
        return super().point_values(name, i)

    def colliders(self, i: int) -> list[TriMesh]:
        """The colliders' surfaces [m] in frame `i`."""
        names = [found[1] for name in self._file.names if (found := COLLIDER.fullmatch(name))]
        return [self._collider(name, i) for name in names]

    def _collider(self, name: str, i: int) -> TriMesh:
        place = self._read(i, f"collider/{name}", (3, 4))
        points, triangles = (self._file.read(f"collider/{name}/{part}") for part in ("vertices", "triangles"))
        try:
            return TriMesh.clean(points @ place[:, :3].T + place[:, 3], triangles)
        except (MeshError, ValueError):
            raise FileFormatError(f"{self._path}: its collider '{name}' is damaged; record the run again.") from None

    def _read(self, i: int, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        values = self._file.read(f"frame/{self.indices[i]:04d}/{name}")
        fits = values.shape[: len(shape)] == shape and (shape or not values.ndim) and values.dtype.kind in "fiu"
        if not fits or not np.isfinite(values).all():
            raise FileFormatError(f"{self._path}: {name} of frame {self.indices[i]} is damaged; record the run again.")
        return values.astype(np.float64)
