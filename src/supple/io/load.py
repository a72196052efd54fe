"""Meshes out of files, by suffix and content."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError, MeshError
from supple.io.gmsh import parse_gmsh
from supple.io.medit import parse_medit
from supple.io.npz import read_npz_tets
from supple.io.obj import parse_obj
from supple.io.off import parse_off
from supple.io.ply import parse_ply
from supple.io.raw import RawSurface, RawTets, drop_thin, select_polygons
from supple.io.source import Source, mesh_suffix, read_source
from supple.io.vtu import parse_vtu
from supple.mesh import TetMesh, TriMesh

__all__ = [
    "SURFACE_SUFFIXES",
    "TET_SUFFIXES",
    "load_mesh",
    "load_surface",
    "load_tets",
    "read_surface",
    "read_tets",
]

TET_PARSERS: dict[str, Callable[[Source], RawTets]] = {
    ".msh": parse_gmsh,
    ".mesh": parse_medit,
    ".vtu": parse_vtu,
}
SURFACE_PARSERS: dict[str, Callable[[Source], RawSurface]] = {
    ".obj": parse_obj,
    ".ply": parse_ply,
    ".off": parse_off,
}

TET_SUFFIXES = (".npz", *TET_PARSERS)  #: suffixes that tet meshes are read from
SURFACE_SUFFIXES = tuple(SURFACE_PARSERS)  #: suffixes that surfaces are read from; `.gz` may follow

FAR = 1e30  # no length, in any unit; volumes of what lies farther overflow


def read_tets(path: Path) -> RawTets:
    """Tets of the file as plain arrays, not yet put right."""
    suffix = mesh_suffix(path)
    if suffix == ".npz":
        return read_npz_tets(path)
    if suffix not in TET_PARSERS:
        raise _unknown(path, "tet meshes", TET_SUFFIXES)
    return TET_PARSERS[suffix](read_source(path))


def read_surface(path: Path) -> RawSurface:
    """Polygons of the file as plain arrays, not yet put right."""
    suffix = mesh_suffix(path)
    if suffix not in SURFACE_PARSERS:
        raise _unknown(path, "surfaces", SURFACE_SUFFIXES)
    return SURFACE_PARSERS[suffix](read_source(path))


def load_tets(path: str | os.PathLike[str]) -> TetMesh:
    """Tet mesh of a .npz, .msh, .mesh or .vtu file, put right with notes; positions in the file's unit."""
    file = Path(path)
    raw = read_tets(file)
    _refuse_far(file, raw.vertices)
    try:
        return TetMesh.clean(raw.vertices, raw.tets, raw.regions, raw.region_names, raw.notes)
    except MeshError as error:
        raise MeshError(f"{file}: {error}") from None


def load_surface(path: str | os.PathLike[str], groups: Sequence[str] | None = None) -> TriMesh:
    """Surface of an .obj, .ply or .off file, its polygons kept; with `groups`, only those of an OBJ."""
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
    return replace(mesh, notes=raw.notes + mesh.notes)


def load_mesh(path: str | os.PathLike[str]) -> TetMesh | TriMesh:
    """Tet mesh or surface of the file, whichever its format holds."""
    suffix = mesh_suffix(Path(path))
    if suffix in TET_SUFFIXES:
        return load_tets(path)
    if suffix in SURFACE_SUFFIXES:
        return load_surface(path)
    raise _unknown(Path(path), "meshes", (*TET_SUFFIXES, *SURFACE_SUFFIXES))


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
