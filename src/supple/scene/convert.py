"""A mesh or recording turned into another format: what `supple convert` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError, SceneError
from supple.io import (
    CACHE_SUFFIXES,
    SURFACE_OUT,
    TET_OUT,
    Cache,
    CacheInfo,
    Frame,
    RenderMesh,
    load_mesh,
    load_surface,
    open_cache,
    open_writer,
    probe,
    save_surface,
    save_tets,
)
from supple.io.axes import Axis, turn_up
from supple.io.permit import Permit
from supple.io.replay_mesh import MeshCache
from supple.io.save import ask_mesh, mesh_files
from supple.io.source import mesh_suffix
from supple.io.usd_read import USD_SUFFIXES, read_usd_info
from supple.mesh import Embedding, Sheet, TetMesh, TriMesh
from supple.scene.permission import ask_outputs, stamped
from supple.scene.units import UNITS

__all__ = ["Conversion", "convert_file"]

GLTF = (".glb", ".gltf")
TET_RECORDINGS = (".npz", ".pvd")  # hold tets, where there are any


@dataclass(frozen=True)
class Conversion:
    """What is asked for; None leaves it as the source has it."""

    units: str | None = None
    to_units: str | None = None
    up_axis: Axis | None = None
    to_up_axis: Axis | None = None
    fps: float | None = None
    frame: int | None = None
    groups: Sequence[str] = ()
    dialect: str | None = None


@dataclass(frozen=True)
class _Border:
    """How lengths and axes of the source become those of the target."""

    metres: float  # of one unit of the source
    to_metres: float  # of one unit of the target
    up_axis: Axis
    to_up_axis: Axis

    def place(self, metres: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions [m] of the source, which thought its unit to be the metre, as metres with the target's up axis."""
        return turn_up(metres, self.up_axis, self.to_up_axis).astype(np.float64, copy=False)


def convert_file(source: Path, target: Path, asked: Conversion, *, overwrite: bool = False) -> dict[str, Any]:
    """Write the source as the target; facts about what was written by name.

    A target that is there is replaced where it was converted from the same source before, or with `overwrite`.
    """
    permit = Permit(source, "convert", overwrite)
    facts = _convert(source, target, asked, permit)
    replaced = facts.pop("replaced")
    facts["notes"] += [] if replaced is None else [replaced]
    for path in mesh_files(target):
        permit.done(stamped(path) if "frames" in facts else path)
    return facts


def _convert(source: Path, target: Path, asked: Conversion, permit: Permit) -> dict[str, Any]:
    cache = None if asked.groups else open_cache(source)
    suffix = target.suffix.lower()
    if cache is None or isinstance(cache, MeshCache) or _is_still(cache, source):
        if asked.frame is not None or asked.fps is not None:
            raise SceneError(f"{source} is a mesh that stands still: --frame and --fps are for recordings.")
        return {"replaced": ask_mesh(permit, target), **_convert_mesh(source, target, asked)}
    if asked.frame is not None:
        return {"replaced": ask_mesh(permit, target), **_convert_frame(cache, source, target, asked)}
    if suffix not in CACHE_SUFFIXES:
        known = ", ".join(CACHE_SUFFIXES)
        raise OutputError(f"{target}: a recording is written as {known}; use one of these, or pick a --frame.")
    replaced = ask_outputs(permit, [target], max(cache.indices, default=0))
    return {"replaced": replaced[0] if replaced else None, **_convert_frames(cache, source, target, asked)}


def _is_still(cache: Cache, source: Path) -> bool:
    """Whether a stage is a mesh without frames of its own."""
    return mesh_suffix(source) in USD_SUFFIXES and cache.frames == 1 and not cache.fields


def _border(info: CacheInfo, target: Path, asked: Conversion) -> _Border:
    metres = _unit(asked.units, "--units") or info.metres_per_unit
    up_axis = asked.up_axis or info.up_axis
    to_metres, to_up = _unit(asked.to_units, "--to-units"), asked.to_up_axis
    if target.suffix.lower() in GLTF:
        if to_metres not in (None, 1.0) or to_up not in (None, "y"):
            raise SceneError(f"{target}: glTF is in metres with y up: leave --to-units and --to-up-axis away.")
        to_metres, to_up = 1.0, "y"
    return _Border(metres, to_metres or metres, up_axis, to_up or up_axis)


def _unit(name: str | None, option: str) -> float | None:
    if name is not None and name not in UNITS:
        raise SceneError(f"{option} {name} is no unit supple knows: use one of {', '.join(UNITS)}.")
    return None if name is None else UNITS[name]


def _said(source: Path) -> CacheInfo:
    """Unit and up axis that a mesh file states, or else metres with y up."""
    return read_usd_info(source) if mesh_suffix(source) in USD_SUFFIXES else CacheInfo()


def _convert_mesh(source: Path, target: Path, asked: Conversion) -> dict[str, Any]:
    mesh: TetMesh | TriMesh
    mesh = load_surface(source, asked.groups) if asked.groups else load_mesh(source)
    border = _border(_said(source), target, asked)
    moved = replace(mesh, vertices=border.place(mesh.vertices * border.metres))
    return _save(moved, target, border, asked, list(mesh.notes))


def _convert_frame(cache: Cache, source: Path, target: Path, asked: Conversion) -> dict[str, Any]:
    if asked.frame not in cache.indices:
        raise SceneError(f"{source} has no frame {asked.frame}: use {cache.indices[0]} to {cache.indices[-1]}.")
    i = cache.indices.index(asked.frame)
    border = _border(cache.info, target, asked)
    scale = border.metres / cache.info.metres_per_unit
    body, suffix = cache.body(), target.suffix.lower()
    mesh: TetMesh | TriMesh
    if body is not None and (suffix in TET_OUT and suffix not in SURFACE_OUT):
        mesh = replace(body, vertices=border.place(cache.positions(i) * scale))
    else:
        mesh = cache.surface().moved(border.place(cache.surface_positions(i) * scale))
    return _save(mesh, target, border, asked, [])


def _save(
    mesh: TetMesh | TriMesh, target: Path, border: _Border, asked: Conversion, notes: list[str]
) -> dict[str, Any]:
    """Write a mesh whose positions are in metres."""
    suffix, info = target.suffix.lower(), CacheInfo(metres_per_unit=border.to_metres, up_axis=border.to_up_axis)
    if isinstance(mesh, TetMesh) and suffix not in TET_OUT and suffix in SURFACE_OUT:
        mesh = mesh.surface()
        notes.append(f"wrote the surface alone: {suffix} holds no tets")
    if isinstance(mesh, TriMesh) and suffix not in SURFACE_OUT and suffix in TET_OUT:
        raise OutputError(f"{target} holds tets and the source is a surface; fill it first:  supple mesh.")
    scaled = replace(mesh, vertices=mesh.vertices / border.to_metres)
    if isinstance(scaled, TetMesh):
        save_tets(target, scaled, asked.dialect, info=info)
    else:
        save_surface(target, scaled, asked.dialect, info=info)
    cells = len(mesh.tets) if isinstance(mesh, TetMesh) else len(mesh.triangles)
    kind = "tetrahedra" if isinstance(mesh, TetMesh) else "triangles"
    return {"vertices": len(mesh.vertices), kind: cells, **_facts(border), "notes": notes}


def _facts(border: _Border) -> dict[str, Any]:
    return {
        "metres_per_unit": border.metres,
        "written_metres_per_unit": border.to_metres,
        "up_axis": border.up_axis,
        "written_up_axis": border.to_up_axis,
    }


def _convert_frames(cache: Cache, source: Path, target: Path, asked: Conversion) -> dict[str, Any]:
    if asked.dialect is not None:
        raise SceneError("--dialect is for meshes: a recording has one form for each suffix.")
    if target.resolve() == source.resolve():
        raise OutputError(f"{target} is the source itself; name another file.")
    probe(target)
    border = _border(cache.info, target, asked)
    scale = border.metres / cache.info.metres_per_unit
    fps = asked.fps or cache.info.fps
    start = cache.indices[0] if cache.frames else 0
    info = CacheInfo(fps, border.to_up_axis, border.to_metres, start, cache.info.title)
    notes: list[str] = []
    body, suffix = cache.body(), target.suffix.lower()
    whole = body is not None and suffix in TET_RECORDINGS
    if body is None and suffix == ".pvd":
        raise OutputError(f"{target} holds tets and the source is a surface; name it .usdc, .npz, .glb, .pc2 or .obj.")
    mesh, render = _carrier(cache, border, scale)
    if body is not None and whole:
        mesh, render = replace(body, vertices=border.place(body.vertices * scale)), None
    others = [name for name in cache.fields if name not in ("velocity", "displacement")]
    if others:
        notes.append(f"left out {', '.join(others)}: only positions and velocities are carried over")
    writer = open_writer(target, mesh, info, render=render)
    for i, index in enumerate(cache.indices):
        points = (cache.positions(i) if whole else cache.surface_positions(i)) * scale
        velocities = None
        if "velocity" in cache.fields and not whole:
            velocities = border.place(cache.point_values("velocity", i) * scale)
        time = cache.times[i] if asked.fps is None else index / fps
        writer.write(Frame(index, time, border.place(points), velocities))
    writer.close()
    rates = {"fps": cache.info.fps, "written_fps": fps, "frames": cache.frames}
    return {"vertices": len(mesh.vertices), **rates, **_facts(border), "notes": notes}


def _carrier(cache: Cache, border: _Border, scale: float) -> tuple[TetMesh, RenderMesh | None]:
    """The drawn surface as a mesh without tets, and as what is written of it: polygons and texture as they are."""
    surface = cache.surface()
    surface = surface.moved(border.place(surface.vertices * scale))
    count = len(surface.vertices)
    corners = np.repeat(np.arange(count, dtype=np.int32)[:, None], 4, axis=1)
    same = Embedding(np.zeros(count, np.int32), np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)), corners)
    none = np.zeros((0, 4), np.int32)
    sheet = Sheet(surface.vertices, none, np.zeros(0, np.int32), {}, triangles=surface.triangles)
    return sheet, RenderMesh(surface, same)
