"""A character put together from a mesh, bones, weights and a motion in files of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.binding import bind_weights, hang_parts
from supple.io.bone_file import Bones, load_bones, read_json
from supple.io.character import Character, Clip, Part
from supple.io.dmat import parse_dmat
from supple.io.load import TET_SUFFIXES, load_tets, read_surface
from supple.io.raw import RawSurface, drop_thin, select_polygons
from supple.io.rig_weights_file import load_rig_weights
from supple.io.source import Source, mesh_suffix, read_source
from supple.rig import Skeleton

__all__ = ["MOVE_SUFFIXES", "RigFiles", "assemble_character"]

FloatArray = NDArray[np.float64]
FPS = 30.0  #: of motions that tell no rate
MOVE_SUFFIXES = (".dmat", ".json")  #: suffixes that motions of bones one by one are read from


@dataclass(frozen=True)
class RigFiles:
    """What moves a mesh, each in a file of its own."""

    skeleton: Path
    weights: Path | None = None
    motion: Path | None = None


def assemble_character(
    mesh: Path, rig: RigFiles, metres: float = 1.0, groups: Sequence[str] | None = None
) -> Character:
    """The character of a surface or tet mesh and its rig; the unit of all files is of `metres`.

    Groups of an OBJ file are parts of their own, of which only some may be wanted. Of tetrahedra the surface counts.
    """
    raws, points = _read_parts(mesh)
    bones = load_bones(rig.skeleton, points)
    heads, tails = metres * bones.heads, metres * bones.tails
    parts = [
        Part(name, "", metres * points[vertices], raw.counts, raw.indices, uv=raw.uv)
        for name, raw, vertices in raws
        if groups is None or name in groups
    ]
    if rig.weights is None:
        skeleton: Skeleton | None = Skeleton.of(bones.names, bones.parents, heads, tails)
        assert skeleton is not None
        order = np.array([bones.names.index(name) for name in skeleton.names], np.intp)
        notes: list[str] = []
    else:
        table = load_rig_weights(rig.weights, bones, points)
        wanted = [vertices for name, _, vertices in raws if groups is None or name in groups]
        parts, notes = _bind(rig.weights, parts, [table[vertices] for vertices in wanted])
        skeleton, order, parts = hang_parts(bones.names, bones.parents, heads, parts, tails)
    clips = () if rig.motion is None else (_read_clip(rig.motion, bones, order, metres),)
    return Character(str(mesh), tuple(parts), skeleton, clips, "y", metres, tuple(notes))


def _bind(path: Path, parts: list[Part], tables: list[FloatArray]) -> tuple[list[Part], list[str]]:
    """The parts with their weights, and what was set right."""
    source, bound, notes = Source(str(path), b""), [], []
    for part, table in zip(parts, tables, strict=True):
        who = np.broadcast_to(np.arange(table.shape[1]), table.shape)
        found, said = bind_weights(source, part.name, who, table, table.shape[1], part.vertices)
        if found is not None:  # rows are as long as there are bones, most of them without weight
            used = max(1, int((found.weights > 0.0).sum(axis=1).max()))
            found = replace(found, joints=found.joints[:, :used], weights=found.weights[:, :used])
        bound.append(replace(part, influences=found))
        notes += said
    return bound, notes


def _read_parts(mesh: Path) -> tuple[list[tuple[str, RawSurface, NDArray[np.int64]]], FloatArray]:
    """Name, polygons and vertices of every part, and all vertices of the file, (n, 3)."""
    if mesh_suffix(mesh) in TET_SUFFIXES:
        tets = load_tets(mesh)
        surface = tets.surface()
        raw = RawSurface(
            surface.vertices, np.full(len(surface.triangles), 3, np.int32), surface.triangles.ravel(), None
        )
        return [(mesh.stem, raw, tets.surface_vertices().astype(np.int64))], tets.vertices
    whole = drop_thin(read_surface(mesh))
    numbers = np.zeros(len(whole.counts), np.int64) if whole.groups is None else whole.groups
    names = whole.group_names if whole.groups is not None else (mesh.stem,)
    found = []
    for number, name in enumerate(names):
        raw = select_polygons(whole, numbers == number, "")
        if len(raw.counts):
            vertices, places = np.unique(raw.indices, return_inverse=True)
            fresh = RawSurface(whole.vertices[vertices], raw.counts, places.astype(np.int32), raw.uv)
            found.append((name or mesh.stem, fresh, vertices.astype(np.int64)))
    return found, whole.vertices


def _read_clip(path: Path, bones: Bones, order: NDArray[np.intp], metres: float) -> Clip:
    """Affine motions of all bones, frame by frame: stacked [A^T; t^T] in columns of a DMAT, or P in JSON."""
    source, count = read_source(path), len(bones.names)
    with source.parsing("a motion of bones"):
        if path.suffix.lower() == ".dmat":
            columns = parse_dmat(source)
            blocks = columns.T.reshape(columns.shape[1], 3, count, 4).transpose(0, 2, 3, 1)  # (k, j, 4, 3)
            turns, shifts = blocks[:, :, :3].transpose(0, 1, 3, 2), blocks[:, :, 3]
        elif path.suffix.lower() == ".json":
            placed = np.array(read_json(source)["P"], np.float64).reshape(-1, count, 3, 4)
            source.check_finite(placed, "frames")
            rest = np.zeros((count, 4, 4))
            rest[:, :3], rest[:, 3, 3] = np.eye(3, 4) if bones.places is None else bones.places, 1.0
            moves = placed @ np.linalg.inv(rest)
            turns, shifts = moves[..., :3], moves[..., 3]
        else:
            raise FileFormatError(f"{path}: motions of bones are read from {', '.join(MOVE_SUFFIXES)}; convert it.")
        times = np.arange(len(turns)) / FPS
        return Clip(path.stem, FPS, times, np.ascontiguousarray(turns[:, order]), metres * shifts[:, order])
