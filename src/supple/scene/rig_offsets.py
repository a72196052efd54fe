"""Shapes in files, as offsets of the points that a rig moves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.io import load_mesh
from supple.io.npz_file import NpzFile
from supple.rig.inside import extend_inside, sample_surface
from supple.scene.source import Source

__all__ = ["Canvas", "read_offsets", "read_positions"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """Places that a file may describe, in the order of its vertices."""

    at: Callable[[FloatArray], FloatArray]
    """Where they are [m], (k, 3), when the rig's points are at x [m], (n, 3)."""
    spread: Callable[[FloatArray], FloatArray]
    """Offsets of the rig's points (n, 3) from those of the places (k, 3)."""


@dataclass(frozen=True, eq=False)
class Canvas:
    """The points of a rig, and what else of the body files may have been drawn on."""

    points: FloatArray
    """At rest [m], (n, 3)."""
    source: Source

    def find(self, count: int, path: Path) -> Part:
        """What a file with so many vertices describes."""
        if count == len(self.points):
            return Part(np.asarray, np.asarray)
        mesh, render = self.source.mesh, self.source.render
        told = f"the rig moves {len(self.points):,}"
        if len(self.points) == len(mesh.vertices):
            skin = mesh.surface_vertices()
            if count == len(skin):
                return Part(lambda x: x[skin], lambda offsets: extend_inside(mesh, offsets))
            told += f", their surface has {len(skin):,}"
        if len(self.points) == len(mesh.vertices) and render is not None:
            drawn = render.surface
            if count == len(drawn.vertices):
                return Part(
                    render.embedding.apply,
                    lambda offsets: extend_inside(
                        mesh, sample_surface(drawn, offsets, mesh.vertices[skin], mesh.size())
                    ),
                )
            told += f", the drawn surface {len(drawn.vertices):,}"
        raise SceneError(f"{path} has {count:,} vertices where {told}: give the same vertices.")


def read_offsets(path: Path, metres: float) -> dict[str, FloatArray] | None:
    """Offsets [m], (k, 3), by name, of an .npz file that is no mesh; None for other files."""
    if path.suffix.lower() != ".npz":
        return None
    with NpzFile(path) as file:
        if "vertices" in file.names:
            return None
        found = file.read_all()
    for name, offsets in found.items():
        if offsets.ndim != 2 or offsets.shape[1] != 3 or offsets.dtype.kind not in "fiu":
            raise SceneError(f"{path} has '{name}' of shape {offsets.shape}: store offsets of shape (n, 3).")
        if not np.isfinite(offsets).all():
            raise SceneError(f"{path} has an offset in '{name}' that is not a finite number: correct it.")
    return {name: metres * offsets.astype(np.float64) for name, offsets in found.items()}


def read_positions(path: Path, metres: float) -> FloatArray:
    """Vertices [m], (k, 3), of a mesh or a surface."""
    return metres * load_mesh(path).vertices
