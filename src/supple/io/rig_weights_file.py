"""Weights of bones in the formats that rigs come in: DMAT, Pinocchio's attachment, MakeHuman's .mhw, JSON."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from supple.errors import FileFormatError
from supple.io.bone_file import Bones, read_json
from supple.io.dmat import parse_dmat
from supple.io.npz_file import NpzFile
from supple.io.raw import to_whole
from supple.io.source import Source, read_source
from supple.io.text import parse_floats, tokens_per_line

__all__ = ["WEIGHT_SUFFIXES", "load_rig_weights"]

FloatArray = NDArray[np.float64]
WEIGHT_SUFFIXES = (".dmat", ".out", ".mhw", ".json", ".npz")
NEAR = 1e-4  #: share of a mesh's size within which points that bring their places are its vertices


def load_rig_weights(path: Path, bones: Bones, points: FloatArray) -> FloatArray:
    """Weights of the bones on the vertices at `points` (n, 3), (n, j), as the file has them."""
    suffix = path.suffix.lower()
    if suffix == ".npz":
        with NpzFile(path) as file:
            table = np.asarray(file.read("skin_weights"), np.float64)
        return _fit(Source(str(path), b""), table, bones, points)
    source = read_source(path)
    with source.parsing("weights"):
        if suffix == ".dmat":
            table = parse_dmat(source)
        elif suffix == ".out":
            rows = tokens_per_line(source.data)
            table = parse_floats(source, source.data, "weights").reshape(int((rows > 0).sum()), -1)
        elif suffix == ".mhw":
            table = _read_makehuman(source, bones, len(points))
        elif suffix == ".json":
            tree = read_json(source)
            table = np.array(tree["W"], np.float64)
            table = _place(source, table, np.array(tree["V"], np.float64).reshape(-1, 3), points)
        else:
            raise FileFormatError(f"{path}: weights are read from {', '.join(WEIGHT_SUFFIXES)}; convert it.")
        return _fit(source, table, bones, points)


def _fit(source: Source, table: FloatArray, bones: Bones, points: FloatArray) -> FloatArray:
    """The table with a column for every bone."""
    if bones.columns is not None and table.ndim == 2 and table.shape[1] == len(bones.columns):
        given, table = table, np.zeros((len(table), len(bones.names)))
        table[:, list(bones.columns)] = given
    if table.shape != (len(points), len(bones.names)):
        raise source.damaged(
            f"it has weights of shape {table.shape} for {len(points):,} vertices and {len(bones.names)} bones",
            "give those of this mesh and skeleton",
        )
    source.check_finite(table, "weights")
    return table


def _read_makehuman(source: Source, bones: Bones, count: int) -> FloatArray:
    table = np.zeros((count, len(bones.names)))
    for name, pairs in read_json(source)["weights"].items():
        rows = np.array(pairs, np.float64).reshape(-1, 2)
        who = to_whole(source, rows[:, 0], "weights")
        if name not in bones.names or (len(who) and (who.min() < 0 or who.max() >= count)):
            raise source.damaged(f"'{str(name)[:40]}' is no bone, or weighs vertices that are not there")
        table[who, bones.names.index(name)] = rows[:, 1]
    return table


def _place(source: Source, table: FloatArray, own: FloatArray, points: FloatArray) -> FloatArray:
    """Weights of vertices by where they are; those that the file has not, as the inside of a body, get none."""
    if len(own) != len(table):
        raise source.damaged(f"it has {len(table):,} weights for {len(own):,} vertices")
    away, near = cKDTree(own).query(points)
    there = away <= NEAR * float(np.ptp(own, axis=0).max())
    if len(np.unique(near[there])) < len(own) / 2:
        raise source.damaged("its vertices are not those of the mesh", "give the mesh that it was made for")
    return np.where(there[:, None], table[near], 0.0)
