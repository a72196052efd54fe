"""`[[material.pose]]`: how much stiffer flesh is in some poses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Stiffening
from supple.errors import SceneError
from supple.io.npz_file import NpzFile
from supple.mesh.checks import plural
from supple.mesh.paint import spread_paint
from supple.rig import PoseStiffness
from supple.scene.actor import naming
from supple.scene.marks import Marks
from supple.scene.material import PoseMaterialTable
from supple.scene.paint import RUN, place_values
from supple.scene.rigging import Rigging
from supple.scene.select import Select, select_tets
from supple.scene.source import Source

__all__ = ["describe_stiffness", "make_stiffness"]

FloatArray = NDArray[np.float64]


def make_stiffness(
    tables: list[PoseMaterialTable], source: Source, rigging: Rigging, marks: Marks, metres: float
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
        painted[pose.tobytes()] = pose, _paint(table, key, logs, source, marks, metres)
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
    table: PoseMaterialTable, key: str, logs: FloatArray, source: Source, marks: Marks, metres: float
) -> FloatArray:
    """Logarithms of the factors of all tets, (m,), painted over those given."""
    mesh = source.mesh
    if table.paint is not None:
        run = RUN * mesh.size() if table.smooth is None else table.smooth
        return spread_paint(mesh, np.log(table.stiffness) + _read_paint(Path(table.paint), source), run)
    whole = {"all": True} if table.bone is None else {"bone": table.bone}
    chosen = select_tets(table.select or Select.model_validate(whole), mesh, key, metres, marks)
    out = logs.copy()
    out[chosen] = np.log(table.stiffness)
    return spread_paint(mesh, out, table.smooth or 0.0)


def _read_paint(path: Path, source: Source) -> FloatArray:
    """Logarithms of the painted factors, (m,), NaN where there is no paint."""
    with NpzFile(path) as file:
        values = file.read("stiffness")
    if values.ndim != 1 or values.dtype.kind not in "fiu" or not (np.isfinite(values).all() and (values > 0).all()):
        raise SceneError(f"{path} has 'stiffness' that is not one number above 0 for every vertex: correct it.")
    return place_values(path, np.log(values.astype(np.float64)), source)[0]
