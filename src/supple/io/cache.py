"""Recording a run and reading it back, in the format that the file's suffix names."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from supple.errors import FileFormatError, OutputError
from supple.io.character import Character
from supple.io.drawn import RenderMesh
from supple.io.files import holds_mark, make_folder, probe_folder
from supple.io.frames import Cache, CacheInfo, Frame, FrameWriter
from supple.io.load import MESH_SUFFIXES
from supple.io.npz_file import NpzFile
from supple.io.pointcache_mesh import mesh_path
from supple.io.pvd import MARK as PVD_MARK
from supple.io.raw import Lacking
from supple.io.record_character import CharacterWriter, keeps_character
from supple.io.record_gltf import TOLERANCE, GltfWriter
from supple.io.record_npz import NpzWriter
from supple.io.record_obj import MARK as OBJ_MARK
from supple.io.record_obj import ObjWriter, find_sequence
from supple.io.record_points import MddWriter, Pc2Writer, part_cache
from supple.io.record_usd import UsdWriter
from supple.io.record_vtu import PvdWriter, list_sides
from supple.io.replay_gltf import GltfCache
from supple.io.replay_mesh import MeshCache
from supple.io.replay_npz import NpzCache
from supple.io.replay_obj import ObjCache
from supple.io.replay_points import PointCache
from supple.io.replay_usd import UsdCache
from supple.io.replay_vtu import PvdCache
from supple.io.replay_worn import WornCache, is_worn
from supple.io.source import mesh_suffix
from supple.io.usd_layers import USD_OUT
from supple.io.usd_read import USD_SUFFIXES
from supple.io.vtu_series import find_series
from supple.io.watched import WatchedWriter
from supple.mesh import TetMesh, TriMesh

__all__ = [
    "CACHE_SUFFIXES",
    "Cache",
    "CacheInfo",
    "Frame",
    "FrameWriter",
    "list_recording",
    "open_cache",
    "open_writer",
    "probe",
]

SURFACE_WRITERS: dict[str, Callable[..., FrameWriter]] = {
    ".obj": ObjWriter,
    ".pc2": Pc2Writer,
    ".mdd": MddWriter,
    ".glb": GltfWriter,
}
CACHE_SUFFIXES = (*USD_OUT, ".pvd", ".npz", *SURFACE_WRITERS)  #: suffixes that a run is recorded as


def probe(path: str | os.PathLike[str]) -> None:
    """Refuse a `path` where no run can be recorded: unknown suffix, a directory, a folder not writable."""
    file = Path(path)
    if file.suffix.lower() not in CACHE_SUFFIXES:
        known = ", ".join(CACHE_SUFFIXES)
        raise OutputError(f"{file}: a run is recorded as {known}; give the file one of these suffixes.")
    probe_folder(file)


def open_writer(
    path: str | os.PathLike[str],
    mesh: TetMesh,
    info: CacheInfo,
    *,
    render: RenderMesh | None = None,
    colliders: Mapping[str, TriMesh] | None = None,
    resume_at: int | None = None,
    character: Character | None = None,
    clip: str | None = None,
    tolerance: float = TOLERANCE,
    bodies: Mapping[str, slice] | None = None,
) -> FrameWriter:
    """A writer for the format of the suffix, in place of an older recording.

    PVD and NPZ hold all tets, the others the surface, or the `render` mesh when given; USD, PVD and NPZ also hold the
    surfaces of `colliders`, by name. With `resume_at`, an existing recording goes on: its frames from that number on
    are dropped, the earlier ones stay. A `character` that went through a `clip` is written back into a copy of
    its file where that is of the same kind. Vertices of a .glb are off by at most `tolerance` times the body's size.
    Of several `bodies`, with their vertices by name, USD holds a mesh each.
    """
    file = Path(path)
    probe(file)
    make_folder(file)
    suffix = file.suffix.lower()

    def choose() -> FrameWriter:
        if character is not None and keeps_character(file, Path(character.file)):
            return CharacterWriter(file, mesh, info, character, render, resume_at, clip, tolerance)
        if suffix == ".npz":
            return NpzWriter(file, mesh, info, colliders or {}, resume_at)
        if suffix == ".pvd":
            return PvdWriter(file, mesh, info, colliders or {}, resume_at)
        if suffix == ".glb":
            return GltfWriter(file, mesh, info, render, resume_at, tolerance)
        if suffix in SURFACE_WRITERS:
            return SURFACE_WRITERS[suffix](file, mesh, info, render, resume_at)
        return UsdWriter(file, mesh, info, render, colliders or {}, resume_at, bodies)

    try:
        return WatchedWriter(choose())
    except FileFormatError as error:  # in what is there to go on with
        raise OutputError(f"the recording cannot go on: {error}") from None


def list_recording(path: Path, frames: int) -> tuple[list[Path], list[Path]]:
    """What lies beside `path` of an earlier recording there, and what of others one of so many frames would replace."""
    suffix, part = path.suffix.lower(), part_cache(path)
    if suffix in (".obj", ".pvd"):
        numbered, mark = (find_sequence(path), OBJ_MARK) if suffix == ".obj" else (find_series(path), PVD_MARK)
        ours = [file for file in numbered.values() if holds_mark(file, mark)]
        foreign = [file for index, file in numbered.items() if index <= frames and file not in ours]
        return ours + (list_sides(path) if suffix == ".pvd" else []), foreign
    beside = {".pc2": [mesh_path(path)], ".mdd": [mesh_path(path), part], ".npz": []}
    return beside.get(suffix, [part, path.with_name(f"{path.name}.frames")]), []


def open_cache(path: str | os.PathLike[str]) -> Cache:
    """A recorded run, or a plain mesh file as a run of one frame."""
    file = Path(path)
    suffix = mesh_suffix(file)
    if suffix in USD_SUFFIXES:
        try:
            return UsdCache(file)
        except Lacking:  # tets alone
            return MeshCache(file)
    if suffix == ".pvd":
        return PvdCache(file)
    if suffix in (".pc2", ".mdd"):
        return PointCache(file)
    if suffix in (".glb", ".gltf"):
        if is_worn(file):
            return WornCache(file)
        try:
            return GltfCache(file)
        except Lacking:  # a mesh that stands still
            return MeshCache(file)
    if suffix == ".obj" and not file.exists() and find_sequence(file):
        return ObjCache(file)
    if suffix == ".npz" and _is_recording(file):
        return NpzCache(file)
    if suffix in MESH_SUFFIXES:
        return MeshCache(file)
    known = ", ".join(dict.fromkeys((*CACHE_SUFFIXES, *MESH_SUFFIXES)))
    raise FileFormatError(f"{file}: recordings and meshes are read from {known}; convert it to one of these.")


def _is_recording(path: Path) -> bool:
    with NpzFile(path) as file:
        return "info" in file
