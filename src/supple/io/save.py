"""Meshes into files, by suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from supple.errors import OutputError
from supple.io.files import probe_folder, write_atomically, writing
from supple.io.gmsh_pack import pack_gmsh
from supple.io.medit import pack_medit
from supple.io.npz import mesh_arrays
from supple.io.npz_zip import pack_npz
from supple.io.obj import pack_obj
from supple.io.off import pack_off
from supple.io.ply import pack_ply
from supple.io.vtu import pack_vtu
from supple.mesh import TetMesh, TriMesh

__all__ = ["save_surface", "save_tets"]

Mesh = TypeVar("Mesh", TetMesh, TriMesh)

TET_PACKERS: dict[str, Callable[[TetMesh], Iterable[bytes | memoryview]]] = {
    ".npz": lambda mesh: pack_npz(mesh_arrays(mesh)),
    ".msh": pack_gmsh,
    ".mesh": pack_medit,
    ".vtu": pack_vtu,
}
SURFACE_PACKERS: dict[str, Callable[[TriMesh], Iterable[bytes | memoryview]]] = {
    ".obj": pack_obj,
    ".ply": pack_ply,
    ".off": pack_off,
}


def save_tets(path: str | os.PathLike[str], mesh: TetMesh) -> None:
    """Write the tet mesh as .npz, .msh (2.2), .mesh or .vtu; all read back to the same bits."""
    _save(Path(path), mesh, TET_PACKERS, "a tet mesh")


def save_surface(path: str | os.PathLike[str], mesh: TriMesh) -> None:
    """Write the surface as .obj, .ply or .off, its polygons kept; all read back to the same bits."""
    _save(Path(path), mesh, SURFACE_PACKERS, "a surface")


def _save(
    path: Path, mesh: Mesh, packers: dict[str, Callable[[Mesh], Iterable[bytes | memoryview]]], what: str
) -> None:
    pack = packers.get(path.suffix.lower())
    if pack is None:
        raise OutputError(f"{path}: {what} is written as {', '.join(packers)}; give the file one of these suffixes.")
    probe_folder(path)
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, pack(mesh))
