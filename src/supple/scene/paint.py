"""Paints of a scene carried to the body, and the materials they grade."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.errors import SceneError
from supple.io.npz_file import NpzFile
from supple.io.painting import read_character_painting, read_painting
from supple.mesh import Sheet, TetMesh, TriMesh
from supple.mesh.paint import mean_of_points, mean_of_vertices, spread_paint
from supple.scene.marks import Marks, Paint
from supple.scene.mesh_table import MeshTable
from supple.scene.paint_table import PaintedTable, PaintTable
from supple.scene.schema import Scene
from supple.scene.source import Source

__all__ = ["RUN", "describe_grading", "grade_tets", "make_marks", "place_values"]

FloatArray = NDArray[np.float64]
RUN = 0.02  #: of the body's size: how far paint runs where the scene does not say
NEAR = 2.0  #: edges of the body's surface within which a painted point counts for what lies at it
SLACK = 1e-6  #: by which single precision may leave 0 to 1


def make_marks(scene: Scene, source: Source, metres: float) -> Marks:
    """The names that a scene whose lengths are in metres gives to parts of its body, but those of bones."""
    paints: dict[str, Paint] = {}
    for number, table in enumerate(scene.paint):
        if table.name in paints:
            raise SceneError(f"paint[{number}] is called '{table.name}' as another is: give each paint its own name.")
        paints[table.name] = _make_paint(table, f'paint[{number}] "{table.name}"', source, scene.mesh, metres)
    return Marks(source.mesh, None, None if source.render is None else source.render.surface, paints)


def grade_tets(tables: Sequence[PaintedTable], marks: Marks) -> tuple[FloatArray, FloatArray]:
    """Factors on stiffness and on density of every tet, (m,) each; several tables multiply."""
    if isinstance(marks.mesh, Sheet):
        raise SceneError("material.painted grades tetrahedra and a [shell] has none: remove it.")
    logs = {"stiffness": np.zeros(len(marks.mesh.tets)), "density": np.zeros(len(marks.mesh.tets))}
    for number, table in enumerate(tables):
        key = f"material.painted[{number}]"
        values = marks.paint(table.paint, key).tets
        if values.min() < -SLACK or values.max() > 1.0 + SLACK:
            raise SceneError(
                f"{key} takes paint from 0 to 1 and '{table.paint}' has {values.min():.4g} to {values.max():.4g}: give "
                "that [[paint]] a range."
            )
        for name, log in logs.items():
            ends = getattr(table, name)
            if ends is not None:
                log += np.log(ends[0]) + np.clip(values, 0.0, 1.0) * np.log(ends[1] / ends[0])
    return np.exp(logs["stiffness"]), np.exp(logs["density"])


def describe_grading(stiffness: FloatArray, density: FloatArray) -> str:
    """What paint does to the material, in a line."""
    words = [
        f"{name} from {factors.min():.3g} to {factors.max():.3g}"
        for name, factors in (("stiffness", stiffness), ("density", density))
        if factors.min() < factors.max() or factors[0] != 1.0
    ]
    return f"material.painted: {' and '.join(words) or 'nothing changes'} times the material's"


def _make_paint(table: PaintTable, key: str, source: Source, body: MeshTable, metres: float) -> Paint:
    """The paint of a table, its lengths in metres, on the body."""
    mesh, file = source.mesh, table.file or (body.render if isinstance(body.render, str) else body.file)
    if file is None:
        raise SceneError(f"{key} has no file, and a built-in shape brings no paint: name a surface file.")
    run = RUN * mesh.size() if table.smooth is None else table.smooth
    if Path(file).suffix.lower() == ".npz":
        if table.image is not None or table.channel is not None:
            raise SceneError(f"{key} names an .npz, which has neither pictures nor channels: remove image and channel.")
        values = _ranged(_read_numbers(Path(file), table.attribute or table.name), table)
        painted, skin = place_values(file, values, source)
        return _fill(mesh, painted, skin, run)
    wanted = table.attribute, table.channel, None if table.image is None else Path(table.image)
    if table.file is None and source.figure is not None:
        painting, metres = read_character_painting(source.figure.character, *wanted), 1.0
    else:
        painting = read_painting(Path(file), *wanted)
    outside = TriMesh(mesh.vertices, mesh.surface_triangles())
    edge = outside.mean_edge()
    points, values = painting.sample(0.5 * edge / metres)
    if not len(points):
        raise SceneError(f"{key}: {file} has no paint on any of its meshes: paint one, or name another attribute.")
    points, values = points * metres, _ranged(values, table)
    tree = cKDTree(points)
    skin = np.full(len(mesh.vertices), np.nan)
    seen = np.unique(outside.triangles)
    skin[seen] = _nearest(tree, values, mesh.vertices[seen], NEAR * edge)
    if np.isnan(skin).all():
        raise SceneError(f"{key}: {file} is painted nowhere near the body: bring both to one place and unit.")
    painted = np.empty(0) if isinstance(mesh, Sheet) else mean_of_points(mesh, points, values)
    if not isinstance(mesh, Sheet):
        behind = mesh.surface_tets()
        bare = np.isnan(painted[behind])
        centres = mesh.vertices[mesh.surface_triangles()[bare]].mean(axis=1)
        painted[behind[bare]] = _nearest(tree, values, centres, NEAR * edge)
    return _fill(mesh, painted, skin, run)


def _nearest(tree: cKDTree, values: FloatArray, points: FloatArray, reach: float) -> FloatArray:
    """Values of the painted points nearest to others, (k,), NaN where none is within reach."""
    distance, place = tree.query(points, distance_upper_bound=reach)
    found = np.append(values, np.nan)[place]
    return np.where(np.isfinite(distance), found, np.nan)


def _fill(mesh: TetMesh, painted: FloatArray, skin: FloatArray, run: float) -> Paint:
    """Paint of tets, (m,), and of vertices, (n,), with NaN where there is none, carried to all (Eq. (37) of [XB16])."""
    if isinstance(mesh, Sheet):
        return Paint(np.where(np.isnan(skin), np.nanmean(skin), skin), np.empty(0))
    tets = spread_paint(mesh, painted, run)
    tets = np.clip(tets, np.nanmin(painted), np.nanmax(painted))  # beyond which only round-off goes
    volume = np.repeat(mesh.volumes(), 4)
    sums = np.bincount(mesh.tets.ravel(), volume * np.repeat(tets, 4), minlength=len(mesh.vertices))
    means = sums / np.bincount(mesh.tets.ravel(), volume, minlength=len(mesh.vertices))
    return Paint(np.where(np.isnan(skin), means, skin), tets)


def _ranged(values: FloatArray, table: PaintTable) -> FloatArray:
    if table.range is None:
        return values
    low, high = table.range
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def _read_numbers(path: Path, name: str) -> FloatArray:
    with NpzFile(path) as file:
        values = file.read(name)
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise SceneError(f"{path} has '{name}' that is not one finite number for every vertex: correct it.")
    return values.astype(np.float64)


def place_values(path: object, values: FloatArray, source: Source) -> tuple[FloatArray, FloatArray]:
    """Numbers for all vertices of the mesh, of its surface or of the drawn one as those of tets, (m,), and of vertices,
    (n,); NaN where there is none."""
    mesh = source.mesh
    at, skin = np.full(len(mesh.vertices), np.nan), mesh.surface_vertices()
    drawn = None if source.render is None else source.render.surface.vertices
    if len(values) == len(mesh.vertices):
        at[:] = values
    elif len(values) == len(skin):
        at[skin] = values
    elif drawn is not None and len(values) == len(drawn):
        at[skin] = values[cKDTree(drawn).query(mesh.vertices[skin])[1]]
        return mean_of_points(mesh, drawn, values), at
    else:
        more = "" if drawn is None else f", the drawn surface {len(drawn):,}"
        raise SceneError(
            f"{path} paints {len(values):,} vertices where the mesh has {len(mesh.vertices):,}, its surface "
            f"{len(skin):,}{more}: give a number for every vertex of one of them."
        )
    known = np.flatnonzero(np.isfinite(at))
    return mean_of_vertices(mesh, known, at[known]), at
