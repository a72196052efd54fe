"""Meshes into files, by suffix and dialect."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from supple.errors import OutputError
from supple.io.files import make_folder, probe_folder, write_atomically
from supple.io.frames import CacheInfo
from supple.io.gltf_pack import pack_gltf
from supple.io.gmsh_pack import pack_gmsh, pack_gmsh_1, pack_gmsh_4
from supple.io.medit import pack_medit
from supple.io.npz import mesh_arrays
from supple.io.npz_zip import pack_npz
from supple.io.obj import pack_obj
from supple.io.off import pack_off
from supple.io.permit import Permit
from supple.io.ply import pack_ply
from supple.io.stl import pack_stl
from supple.io.tetgen import pack_ele, pack_node, tetgen_paths
from supple.io.tobj import pack_tobj
from supple.io.usd_layers import USD_OUT
from supple.io.usd_mesh import write_usd_surface, write_usd_tets
from supple.io.veg import pack_veg
from supple.io.vtk_legacy import pack_legacy
from supple.io.vtu import pack_raw_vtu, pack_vtu
from supple.mesh import TetMesh, TriMesh

__all__ = [
    "SURFACE_DIALECTS",
    "SURFACE_OUT",
    "TET_DIALECTS",
    "TET_OUT",
    "ask_mesh",
    "mesh_files",
    "save_surface",
    "save_tets",
]

Mesh = TypeVar("Mesh", TetMesh, TriMesh)
Pack = Callable[[Mesh], Iterable[bytes | memoryview]]

#: How tets are written, by suffix and dialect; the first dialect is the usual one.
TET_DIALECTS: dict[str, dict[str, Pack[TetMesh]]] = {
    ".npz": {"stored": lambda mesh: pack_npz(mesh_arrays(mesh))},
    ".msh": {
        "2.2": pack_gmsh,
        "2.2-binary": partial(pack_gmsh, binary=True),
        "4.1": pack_gmsh_4,
        "4.1-binary": partial(pack_gmsh_4, binary=True),
        "1": pack_gmsh_1,
    },
    ".mesh": {"text": pack_medit},
    ".vtu": {
        "zlib": pack_vtu,
        "base64": partial(pack_vtu, encoding="base64"),
        "raw": pack_raw_vtu,
        "text": partial(pack_vtu, encoding="text"),
    },
    ".vtk": {"binary": pack_legacy, "text": partial(pack_legacy, binary=False)},
    ".veg": {"text": pack_veg},
    ".ele": {"text": pack_ele},
    ".node": {"text": pack_node},
    ".tobj": {"text": pack_tobj},
}
#: How surfaces are written, by suffix and dialect.
SURFACE_DIALECTS: dict[str, dict[str, Pack[TriMesh]]] = {
    ".obj": {"text": pack_obj},
    ".ply": {"binary": pack_ply, "text": partial(pack_ply, binary=False)},
    ".off": {"text": pack_off},
    ".stl": {"binary": pack_stl, "text": partial(pack_stl, binary=False)},
    ".glb": {"binary": pack_gltf},
}
TET_OUT = (*TET_DIALECTS, *USD_OUT)  #: suffixes that tets are written to
SURFACE_OUT = (*SURFACE_DIALECTS, *USD_OUT)  #: suffixes that surfaces are written to


def save_tets(
    path: str | os.PathLike[str], mesh: TetMesh, dialect: str | None = None, *, info: CacheInfo | None = None
) -> None:
    """Write the tet mesh in the format of the suffix (see TET_DIALECTS, and USD_OUT); all read back to the same bits.

    Both files of TetGen's pair are written, whichever is named. Gmsh 4.1 stores tets region by region. USD, of 32
    bits, also holds the unit of length and the up axis of `info`.
    """
    file = Path(path)
    if file.suffix.lower() in USD_OUT:
        _prepare(file)
        write_usd_tets(file, mesh, info or CacheInfo())
        return
    if file.suffix.lower() in (".node", ".ele"):
        for part in mesh_files(file):
            _save(part, mesh, TET_DIALECTS, "a tet mesh", dialect)
        return
    _save(file, mesh, TET_DIALECTS, "a tet mesh", dialect)


def save_surface(
    path: str | os.PathLike[str], mesh: TriMesh, dialect: str | None = None, *, info: CacheInfo | None = None
) -> None:
    """Write the surface in the format of the suffix (see SURFACE_DIALECTS, and USD_OUT).

    OBJ, PLY, OFF and USD keep polygons; the first three read back to the same bits. STL and glTF hold triangles.
    USD also holds the unit of length and the up axis of `info`.
    """
    if Path(path).suffix.lower() in USD_OUT:
        _prepare(Path(path))
        write_usd_surface(Path(path), mesh, info or CacheInfo())
        return
    _save(Path(path), mesh, SURFACE_DIALECTS, "a surface", dialect)


def mesh_files(path: Path) -> tuple[Path, ...]:
    """The files that a mesh named `path` is written to: two in TetGen's pair."""
    return tetgen_paths(path) if path.suffix.lower() in (".node", ".ele") else (path,)


def ask_mesh(permit: Permit, path: Path) -> str | None:
    """Refuse a mesh that cannot or may not be written; what it replaces, in words."""
    said = None
    for file in mesh_files(path):
        probe_folder(file)
        said = permit.ask(file) or said
    return said


def _save(
    path: Path, mesh: Mesh, known: Mapping[str, Mapping[str, Pack[Mesh]]], what: str, dialect: str | None
) -> None:
    packers = known.get(path.suffix.lower())
    if packers is None:
        suffixes = ", ".join((*known, *USD_OUT))
        raise OutputError(f"{path}: {what} is written as {suffixes}; give the file one of these suffixes.")
    pack = packers.get(dialect or next(iter(packers)))
    if pack is None:
        raise OutputError(f"{path}: there is no dialect '{dialect}' of it; use one of {', '.join(packers)}.")
    _prepare(path)
    write_atomically(path, pack(mesh))


def _prepare(path: Path) -> None:
    """Refuse a path that cannot be written, and make its folder."""
    probe_folder(path)
    make_folder(path)
