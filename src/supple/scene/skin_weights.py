"""Skinning weights of a scene's body: found from its bones, or read from a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.io.npz_file import NpzFile
from supple.io.rig_weights_file import WEIGHT_SUFFIXES
from supple.mesh import TetMesh, TriMesh, embed
from supple.rig import Influences, Skeleton, biharmonic_weights, heat_weights, transfer_weights
from supple.scene.figure import filled
from supple.scene.kept import recall
from supple.scene.source import Source

__all__ = ["find_surface_weights", "find_weights"]

FINDERS: dict[str, Callable[[TetMesh, Skeleton], Influences]] = {"heat": heat_weights, "biharmonic": biharmonic_weights}


def find_weights(how: str, source: Source, skeleton: Skeleton) -> Influences:
    """Influences of the skeleton's joints on the tetrahedra's vertices, by the name of a way or of a file."""
    if how in FINDERS:
        return FINDERS[how](source.mesh, skeleton)
    if how == "file" or (how not in FINDERS and Path(how).suffix.lower() in WEIGHT_SUFFIXES and source.figure):
        return _carry_weights(source, skeleton)
    path = Path(how)
    if path.suffix.lower() != ".npz":
        raise SceneError(f'weights = "{how}" is neither {" nor ".join(FINDERS)} nor an .npz file: use one of them.')
    table = _read_weights(path, skeleton)
    if len(table) == len(source.mesh.vertices):
        return Influences.from_dense(table)
    if source.render is not None and len(table) == len(source.render.surface.vertices):
        return transfer_weights(source.render.surface, Influences.from_dense(table), source.mesh, len(skeleton))
    drawn = "" if source.render is None else f" and the drawn surface {len(source.render.surface.vertices):,}"
    raise SceneError(
        f"{path} has weights of {len(table):,} vertices where the mesh has {len(source.mesh.vertices):,}{drawn}: "
        "give a row for every vertex of one of them."
    )


def _carry_weights(source: Source, skeleton: Skeleton) -> Influences:
    """The weights that a character has on its body's surface, carried inside."""
    figure = source.figure
    if figure is None or figure.influences is None:
        raise SceneError(
            'weights = "file" are those of a rigged character: name its meshes in mesh.parts, or use heat.'
        )
    body, given, mesh = figure.body, figure.influences, source.mesh

    def carry() -> dict[str, NDArray[Any]]:
        with filled():
            found = transfer_weights(body, given, mesh, len(skeleton))
        return {"joints": found.joints, "weights": found.weights}

    arrays: list[NDArray[Any] | None] = [
        body.vertices,
        body.triangles,
        given.joints,
        given.weights,
        mesh.vertices,
        mesh.tets,
    ]
    kept = recall("weights", [len(skeleton)], arrays, carry)
    return Influences(kept["joints"], kept["weights"])  # what was set right is said of the file


def find_surface_weights(how: str, source: Source, surface: TriMesh, skeleton: Skeleton) -> Influences:
    """Influences on the vertices of a surface around the body: its own from a file, else those of the body in it."""
    if how not in FINDERS and Path(how).suffix.lower() == ".npz":
        table = _read_weights(Path(how), skeleton)
        if len(table) == len(surface.vertices):
            return Influences.from_dense(table)
    inside = embed(source.mesh, surface.vertices)
    weights = find_weights(how, source, skeleton).dense(len(skeleton))[inside.corners]
    shares = np.clip(inside.weights, 0.0, 1.0)  # what sticks out takes what is nearest
    shares /= shares.sum(axis=1, keepdims=True)
    return Influences.from_dense(np.einsum("kc,kcj->kj", shares, weights))


def _read_weights(path: Path, skeleton: Skeleton) -> NDArray[np.float64]:
    """Weights of a file with a column for every joint of the skeleton, in its order, (n, j)."""
    with NpzFile(path) as file:
        weights, names = file.read("weights"), file.read("joints")
    if (
        weights.ndim != 2
        or weights.dtype.kind not in "fiu"
        or names.shape != weights.shape[1:]
        or names.dtype.kind != "U"
    ):
        raise SceneError(
            f"{path} has weights of shape {weights.shape} for joints of shape {names.shape}: store numbers with a "
            "column for every name in joints."
        )
    table = np.zeros((len(weights), len(skeleton)))
    table[:, [skeleton.number(name) for name in names.tolist()]] = weights
    return table
