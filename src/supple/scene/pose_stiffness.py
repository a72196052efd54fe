"""`[[material.pose]]`: how much stiffer flesh is in some poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Stiffening
from supple.errors import SceneError
from supple.io.npz_file import NpzFile
from supple.mesh.checks import plural
from supple.mesh.paint import mean_of_points, mean_of_vertices, spread_paint
from supple.rig import PoseStiffness
from supple.rig.nearest_bone import nearest_bones
from supple.scene.actor import naming
from supple.scene.material import PoseMaterialTable
from supple.scene.rigging import Rigging
from supple.scene.select import Select, select_tets
from supple.scene.source import Source

__all__ = ["describe_stiffness", "make_stiffness"]

FloatArray = NDArray[np.float64]

RUN = 0.02  #: of the body's size: how far paint runs where the scene does not say


def make_stiffness(
    tables: list[PoseMaterialTable], source: Source, rigging: Rigging, metres: float
) -> PoseStiffness | None:
    """What tables with lengths in metres say of a body and its rig, None where there are none.

    Several tables about one pose are one: where they overlap, the last one counts.
    """
    painted: dict[bytes, tuple[FloatArray, FloatArray]] = {}
    for number, table in enumerate(tables):
        key = f"material.pose[{number}]"
        with naming(key):
            pose = rigging.posing.pose(table.pose)
        logs = painted.get(pose.tobytes(), (pose, np.zeros(len(source.mesh.tets))))[1]
        painted[pose.tobytes()] = pose, _paint(table, key, logs, source, rigging, metres)
    if not painted:
        return None
    poses, logs_of = zip(*painted.values(), strict=True)
    with naming("material.pose"):
        return PoseStiffness(rigging.rig, np.array(poses), np.exp(logs_of))


def describe_stiffness(stiffness: Stiffening) -> str:
    """What poses do to the stiffness, in a line."""
    factors = np.array([stiffness.at(pose) for pose in stiffness.poses])
    words = plural(len(factors), "pose")
    return f"material.pose: stiffness from {factors.min():.3g} to {factors.max():.3g} times the material's in {words}"


def _paint(
    table: PoseMaterialTable, key: str, logs: FloatArray, source: Source, rigging: Rigging, metres: float
) -> FloatArray:
    """Logarithms of the factors of all tets, (m,), painted over those given."""
    mesh = source.mesh
    if table.paint is not None:
        run = RUN * mesh.size() if table.smooth is None else table.smooth
        return spread_paint(mesh, np.log(table.stiffness) + _read_paint(Path(table.paint), source), run)
    if table.bone is not None:
        chosen = _flesh_of(table.bone, key, source, rigging)
    else:
        chosen = select_tets(table.select or Select.model_validate("all"), mesh, key, metres)
    out = logs.copy()
    out[chosen] = np.log(table.stiffness)
    return spread_paint(mesh, out, table.smooth or 0.0)


def _flesh_of(bone: str, key: str, source: Source, rigging: Rigging) -> NDArray[np.int32]:
    """Tets around a bone: nearer to it than to any other."""
    skeleton = rigging.posing.actor.skeleton
    if skeleton is None:
        raise SceneError(f"{key}: bone = '{bone}', and the rig has no bones: select the flesh instead.")
    if bone not in skeleton.names:
        raise SceneError(f"{key}: there is no bone '{bone}': there are {', '.join(skeleton.names)}.")
    shares, _ = nearest_bones(source.mesh, skeleton)
    nearest = shares[source.mesh.tets].mean(axis=1).argmax(axis=1)
    return np.flatnonzero(nearest == skeleton.names.index(bone)).astype(np.int32)


def _read_paint(path: Path, source: Source) -> FloatArray:
    """Logarithms of the painted factors, (m,), NaN where there is no paint."""
    with NpzFile(path) as file:
        values = file.read("stiffness")
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not (np.isfinite(values).all() and (values > 0).all()):
        raise SceneError(f"{path} has 'stiffness' that is not one number above 0 for every vertex: correct it.")
    mesh, logs = source.mesh, np.log(values.astype(np.float64))
    skin = mesh.surface_vertices()
    if len(values) == len(mesh.vertices):
        return mean_of_vertices(mesh, np.arange(len(values)), logs)
    if len(values) == len(skin):
        return mean_of_vertices(mesh, skin, logs)
    drawn = None if source.render is None else source.render.surface.vertices
    if drawn is not None and len(values) == len(drawn):
        return mean_of_points(mesh, drawn, logs)
    more = "" if drawn is None else f", the drawn surface {len(drawn):,}"
    raise SceneError(
        f"{path} paints {len(values):,} vertices where the mesh has {len(mesh.vertices):,}, its surface "
        f"{len(skin):,}{more}: give a number for every vertex of one of them."
    )
