"""Meshes out of files, by suffix and content."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.gltf_surface import read_gltf
from supple.io.gmsh import parse_gmsh
from supple.io.limits import check_count
from supple.io.medit import parse_medit
from supple.io.npz import read_npz_tets
from supple.io.obj import parse_obj
from supple.io.off import parse_off
from supple.io.ply import parse_ply
from supple.io.raw import Lacking, RawSurface, RawTets, drop_thin, select_polygons
from supple.io.source import Source, mesh_suffix, read_source
from supple.io.stl import parse_stl
from supple.io.tetgen import read_tetgen
from supple.io.tobj import parse_tobj
from supple.io.usd_read import USD_SUFFIXES, read_usd_surface, read_usd_tets
from supple.io.veg import parse_veg
from supple.io.vtk_legacy import parse_legacy_surface, parse_legacy_tets
from supple.io.vtu import parse_vtu
from supple.mesh import TetMesh, TriMesh

__all__ = [
    "MESH_SUFFIXES",
    "SURFACE_SUFFIXES",
    "TET_SUFFIXES",
    "load_mesh",
    "load_surface",
    "load_tets",
    "read_surface",
    "read_tets",
]

Tets = Callable[[Path, bool], RawTets]  # of a file, leniently or not
Surface = Callable[[Path, bool], RawSurface]


def _tets(parse: Callable[[Source], RawTets]) -> Tets:
    return lambda path, lenient: parse(read_source(path, lenient=lenient))


def _surface(parse: Callable[[Source], RawSurface]) -> Surface:
    return lambda path, lenient: parse(read_source(path, lenient=lenient))


TET_READERS: dict[str, Tets] = {
    ".npz": lambda path, lenient: read_npz_tets(path, lenient=lenient),
    ".msh": _tets(parse_gmsh),
    ".mesh": _tets(parse_medit),
    ".vtu": _tets(parse_vtu),
    ".vtk": _tets(parse_legacy_tets),
    ".veg": _tets(parse_veg),
    ".ele": lambda path, lenient: read_tetgen(path, lenient=lenient),
    ".node": lambda path, lenient: read_tetgen(path, lenient=lenient),
    ".tobj": _tets(parse_tobj),
}
SURFACE_READERS: dict[str, Surface] = {
    ".obj": _surface(parse_obj),
    ".ply": _surface(parse_ply),
    ".off": _surface(parse_off),
    ".stl": _surface(parse_stl),
    ".glb": lambda path, lenient: read_gltf(path, lenient=lenient),
    ".gltf": lambda path, lenient: read_gltf(path, lenient=lenient),
}
TET_READERS |= {suffix: lambda path, lenient: read_usd_tets(path, lenient=lenient) for suffix in USD_SUFFIXES}
EITHER: dict[str, Surface] = {
    ".vtk": _surface(parse_legacy_surface),
    **{suffix: lambda path, lenient: read_usd_surface(path, lenient=lenient) for suffix in USD_SUFFIXES},
}
"""Readers of surfaces for suffixes that hold tets or else a surface."""

TET_SUFFIXES = tuple(TET_READERS)  #: suffixes that tet meshes are read from; `.gz` may follow most
MESH_SUFFIXES = tuple(dict.fromkeys((*TET_READERS, *SURFACE_READERS)))  #: those of both
SURFACE_SUFFIXES = (*SURFACE_READERS, *EITHER)  #: suffixes that surfaces are read from; `.gz` may follow

FAR = 1e30  # no length, in any unit; volumes of what lies farther overflow


def read_tets(path: Path, *, lenient: bool = False) -> RawTets:
    """Tets of the file as plain arrays, not yet put right; lenient keeps what is not finite or out of range."""
    suffix = mesh_suffix(path)
    if suffix not in TET_READERS:
        raise _unknown(path, "tet meshes", TET_SUFFIXES)
    raw = TET_READERS[suffix](path, lenient)
    check_count(str(path), len(raw.vertices), "vertices")
    check_count(str(path), len(raw.tets), "tets")
    return raw


def read_surface(path: Path, *, lenient: bool = False) -> RawSurface:
    """Polygons of the file as plain arrays, not yet put right; lenient keeps what is not finite or out of range."""
    suffix = mesh_suffix(path)
    if suffix not in SURFACE_SUFFIXES:
        raise _unknown(path, "surfaces", SURFACE_SUFFIXES)
    raw = (SURFACE_READERS.get(suffix) or EITHER[suffix])(path, lenient)
    check_count(str(path), len(raw.vertices), "vertices")
    return raw


def load_tets(path: str | os.PathLike[str]) -> TetMesh:
    """Tet mesh of a file (see TET_SUFFIXES), put right with notes; positions in the file's unit."""
    file = Path(path)
    raw = read_tets(file)
    _refuse_far(file, raw.vertices)
    try:
        return TetMesh.clean(raw.vertices, raw.tets, raw.regions, raw.region_names, raw.notes)
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from None


def load_surface(path: str | os.PathLike[str], groups: Sequence[str] | None = None) -> TriMesh:
    """Surface of a file (see SURFACE_SUFFIXES), its polygons kept; with `groups`, only those of an OBJ or glTF."""
    file = Path(path)
    raw = read_surface(file)
    if groups is not None:
        raw = _pick_groups(file, raw, groups)
    raw = drop_thin(raw)
    _refuse_far(file, raw.vertices)
    try:
        if (raw.counts == 3).all():
            mesh = TriMesh.clean(raw.vertices, raw.indices.reshape(-1, 3), raw.uv)
        else:
            mesh = TriMesh.from_polygons(raw.vertices, raw.counts, raw.indices, raw.uv)
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from None
    return replace(_with_groups(mesh, raw), notes=raw.notes + mesh.notes)


def _with_groups(mesh: TriMesh, raw: RawSurface) -> TriMesh:
    """The mesh with the groups of its file, where every polygon of the file is still there."""
    faces = len(mesh.triangles) if mesh.face_counts is None else len(mesh.face_counts)
    if raw.groups is None or len(raw.groups) != faces:
        return mesh
    return replace(mesh, groups=raw.groups, group_names=raw.group_names)


def load_mesh(path: str | os.PathLike[str]) -> TetMesh | TriMesh:
    """Tet mesh or surface of the file, whichever its format holds."""
    suffix = mesh_suffix(Path(path))
    if suffix in EITHER:
        try:
            return load_tets(path)
        except Lacking:
            return load_surface(path)
    if suffix in TET_SUFFIXES:
        return load_tets(path)
    if suffix in SURFACE_SUFFIXES:
        return load_surface(path)
    raise _unknown(Path(path), "meshes", MESH_SUFFIXES)


def _unknown(path: Path, what: str, suffixes: Sequence[str]) -> FileFormatError:
    return FileFormatError(f"{path}: {what} are read from {', '.join(suffixes)}; convert it to one of these.")


def _refuse_far(path: Path, vertices: NDArray[np.float64]) -> None:
    far = np.flatnonzero((np.abs(vertices) > FAR).any(axis=1))
    if far.size:
        raise MeshError(f"{path}: vertex {far[0]} lies {FAR:g} or more away; export the mesh again.")


def _pick_groups(path: Path, raw: RawSurface, groups: Sequence[str]) -> RawSurface:
    missing = [name for name in groups if name not in raw.group_names]
    if missing or raw.groups is None:
        known = ", ".join(name for name in raw.group_names[:12] if name) or "none"
        raise FileFormatError(f"{path}: it has no group '{', '.join(missing)}'; it has {known}: name one of these.")
    numbers = [raw.group_names.index(name) for name in groups]
    keep = np.isin(raw.groups, numbers)
    return select_polygons(raw, keep, f"took {int(keep.sum()):,} of {len(keep):,} polygons: group {', '.join(groups)}")
