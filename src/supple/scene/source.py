"""The meshes a scene names: tetrahedra, from a file, surface or shape, and the surface that is drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError, SceneError
from supple.io import TET_SUFFIXES, RenderMesh, load_mesh, load_surface
from supple.io.assembled import RigFiles
from supple.io.source import mesh_suffix
from supple.mesh import Embedding, Sheet, TetMesh, TriMesh, tetrahedralise
from supple.scene.figure import Figure, make_figure
from supple.scene.kept import Kept, recall
from supple.scene.mesh_table import MeshTable
from supple.scene.select import select_vertices
from supple.scene.shell_table import ShellTable
from supple.shape import make_shape

__all__ = ["Source", "make_source"]

DEFAULT_ELEMENTS = 5000
Y_UP_TO_Z_UP = ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0))


@dataclass(frozen=True)
class Source:
    """A body's tetrahedra, or sheet, and the surface that is drawn in their place when there is one."""

    mesh: TetMesh
    render: RenderMesh | None = None
    notes: tuple[str, ...] = ()
    figure: Figure | None = None  #: the character whose body it is, if it is one's


def make_source(
    table: MeshTable,
    metres: float,
    up_axis: str = "y",
    shell: ShellTable | None = None,
    rig: RigFiles | None = None,
) -> Source:
    """The meshes of a `[mesh]` table whose lengths are in metres; files are in units of `metres`.

    Built-in shapes stand along the up axis; files are taken as they are. With a `shell` only their surface counts.
    A `rig` in files of its own makes the mesh a character.
    """
    if shell is not None:
        return _make_sheet(table, shell, metres, up_axis)
    notes: list[str] = []
    surface: TriMesh | None = None
    figure: Figure | None = None
    if table.shape is not None:
        mesh = _make_named_shape(table)
        if up_axis == "z":
            mesh = mesh.transformed(Y_UP_TO_Z_UP)
    else:
        loaded: TetMesh | TriMesh
        file = Path(table.file or "")
        if table.parts is not None or rig is not None:
            figure = make_figure(file, table.parts, metres, rig)
        if figure is None or (rig is not None and mesh_suffix(file) in TET_SUFFIXES):
            loaded = load_mesh(file)
            notes += [] if figure is None else figure.notes
        else:
            loaded, metres = replace(figure.body, notes=()), 1.0
            notes += figure.notes
        notes += loaded.notes
        if isinstance(loaded, TetMesh):
            mesh = _take_tets(loaded, table).scaled(metres)
        else:
            surface = loaded.moved(loaded.vertices * metres)
            mesh, kept = _fill(surface, table)
            notes.append(f"filled the surface with {len(mesh.tets)} tetrahedra{kept.words}")
            notes += mesh.notes
    drawn = _drawn_surface(table, surface if figure is None or surface is None else figure.drawn, metres)
    return Source(mesh, None if drawn is None else _carry(mesh, drawn, notes), tuple(notes), figure)


def _make_sheet(table: MeshTable, shell: ShellTable, metres: float, up_axis: str) -> Source:
    """The surface of a file or shape as a sheet, less what the shell leaves open."""
    if isinstance(table.render, str):
        raise SceneError("mesh.render has nothing to follow in a [shell], which is drawn itself: remove it.")
    loaded: TetMesh | TriMesh
    if table.shape is not None:
        loaded = _make_named_shape(table)
        loaded = loaded.transformed(Y_UP_TO_Z_UP) if up_axis == "z" else loaded
    else:
        loaded = load_mesh(Path(table.file or ""))
        if table.resolution is not None or table.elements is not None:
            key = "resolution" if table.resolution is not None else "elements"
            raise SceneError(f"mesh.{key} has no meaning for a [shell], whose triangles are the file's: remove it.")
    surface = loaded.surface() if isinstance(loaded, TetMesh) else loaded
    surface = surface if table.shape is not None else surface.moved(surface.vertices * metres)
    sheet = Sheet.of(surface)
    if shell.open is not None:
        chosen = np.zeros(len(sheet.vertices), np.bool_)
        chosen[select_vertices(shell.open, sheet, "shell.open", metres)] = True
        kept = sheet.triangles[~chosen[sheet.triangles].all(axis=1)]
        if not len(kept):
            raise SceneError("shell.open leaves nothing of the surface: select a smaller part.")
        sheet = Sheet.of(TriMesh.clean(sheet.vertices, kept))
    return Source(sheet, None, loaded.notes)


def _carry(mesh: TetMesh, surface: TriMesh, notes: list[str]) -> RenderMesh:
    """The surface following the tetrahedra."""
    kept = recall("drawn", [], [mesh.vertices, mesh.tets, surface.vertices], lambda: _embed(mesh, surface))
    render = RenderMesh(surface, Embedding(kept["tets"], kept["weights"], mesh.tets[kept["tets"]]))
    outside = int(render.embedding.outside().sum())
    if outside:
        notes.append(
            f"the drawn surface has {len(surface.vertices)} vertices; {outside} lie just outside the tetrahedra and "
            "follow the nearest one, as is usual"
        )
    return render


def _embed(mesh: TetMesh, surface: TriMesh) -> dict[str, NDArray[Any]]:
    found = RenderMesh.build(mesh, surface).embedding
    return {"tets": found.tets, "weights": found.weights}


def _make_named_shape(table: MeshTable) -> TetMesh:
    try:
        return make_shape(table.shape or "", resolution=table.resolution, elements=table.elements, **table.size)
    except SceneError as error:
        raise SceneError(f"mesh: {error}") from None


def _take_tets(mesh: TetMesh, table: MeshTable) -> TetMesh:
    if table.resolution is not None or table.elements is not None:
        key = "resolution" if table.resolution is not None else "elements"
        raise SceneError(
            f"mesh.{key} has no meaning for {table.file}, which already holds tetrahedra: remove the key, "
            "or give a surface file."
        )
    return mesh


def _fill(surface: TriMesh, table: MeshTable) -> tuple[TetMesh, Kept]:
    """Tetrahedra inside a surface, as many as the table asks for, and where they come from."""

    def fill() -> dict[str, NDArray[Any]]:
        mesh = tetrahedralise(surface, **asked)
        return {"vertices": mesh.vertices, "tets": mesh.tets, "notes": np.array(mesh.notes, np.str_)}

    asked: dict[str, int] = {"resolution": table.resolution} if table.resolution is not None else {}
    asked = asked or {"elements": table.elements or DEFAULT_ELEMENTS}
    try:
        kept = recall("filled", [asked], [surface.vertices, surface.triangles], fill)
    except MeshError as error:
        raise MeshError(f"{str(error).removesuffix('.')}, or simulate it as it is: add a [shell].") from None
    regions = np.zeros(len(kept["tets"]), np.int32)
    return TetMesh(kept["vertices"], kept["tets"], regions, {}, tuple(kept["notes"].tolist())), kept


def _drawn_surface(table: MeshTable, surface: TriMesh | None, metres: float) -> TriMesh | None:
    """The surface to carry along: a file's, the filled one, or none."""
    if isinstance(table.render, str):
        loaded = load_surface(Path(table.render))
        return loaded.moved(loaded.vertices * metres)
    return surface if table.render else None
