"""The mesh that belongs to a point cache: an OBJ beside it."""

from __future__ import annotations

from pathlib import Path

from supple.errors import FileFormatError
from supple.io.drawn import DrawnSurface
from supple.io.files import write_atomically
from supple.io.frames import CacheInfo
from supple.io.load import read_surface
from supple.io.obj import pack_obj_faces
from supple.io.raw import RawSurface
from supple.io.record_obj import MARK, read_note
from supple.io.text import format_rows
from supple.mesh import TetMesh

__all__ = ["find_mesh", "mesh_path", "write_mesh"]

BESIDE = (".obj", ".ply", ".off", ".usdc", ".usda", ".usd")  # where the mesh of another program's cache may lie


def mesh_path(path: Path) -> Path:
    """Where supple puts the mesh of a cache: NAME.pc2.obj, which is nobody's own mesh."""
    return path.with_name(f"{path.name}.obj")


def write_mesh(path: Path, mesh: TetMesh, surface: DrawnSurface, info: CacheInfo) -> None:
    """Write the drawn surface at rest, with what a reader must know of the run in its first line."""
    points = surface.lift(mesh.vertices) / info.metres_per_unit
    faces = pack_obj_faces(surface.counts, surface.indices, surface.uv)
    write_atomically(path, [MARK, info.to_json().encode(), b"\n", format_rows("v %r %r %r", points), faces])


def find_mesh(path: Path, vertices: int) -> tuple[RawSurface, CacheInfo]:
    """The mesh of a cache of so many vertices, and what its first line says of the run."""
    tried = []
    for file in (mesh_path(path), *(path.with_suffix(suffix) for suffix in BESIDE)):
        if file.is_file():
            raw = read_surface(file)
            if len(raw.vertices) == vertices:
                return raw, read_note(file)[0] if file.suffix == ".obj" else CacheInfo(start_frame=0)
            tried.append(f"{file.name} has {len(raw.vertices):,}")
    found = f"; {', '.join(tried)}" if tried else ""
    raise FileFormatError(
        f"{path} holds {vertices:,} positions a frame and no mesh{found}: put the mesh they belong to beside it "
        f"as {path.stem}.obj."
    )
