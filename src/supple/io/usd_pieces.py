"""The drawn surface as the meshes that a USD file has of it: one of each body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.io.drawn import DrawnSurface
from supple.mesh import TetMesh

__all__ = ["BODY", "MESH", "Piece", "split_surface", "whole_surface"]

BODY, MESH = "/body", "/body/surface"


class Piece(NamedTuple):
    """A mesh of the file."""

    path: str
    points: slice
    """Among the vertices of the drawn surface."""
    counts: NDArray[np.int32]
    """Corners of every polygon, (p,)."""
    indices: NDArray[np.int32]
    """Corners of all polygons in turn, counted from the first of the points."""
    uv: NDArray[np.float64] | None
    """Texture coordinates of every corner, (len(indices), 2)."""


def whole_surface(surface: DrawnSurface) -> tuple[Piece]:
    """All of it as one mesh."""
    return (Piece(MESH, slice(None), surface.counts, surface.indices, surface.uv),)


def split_surface(surface: DrawnSurface, mesh: TetMesh, bodies: Mapping[str, slice]) -> tuple[Piece, ...]:
    """A mesh called after each of several bodies, whose vertices in the tet mesh follow each other."""
    if not bodies:
        return whole_surface(surface)
    number = np.zeros((len(mesh.vertices), 3))
    for place, vertices in enumerate(bodies.values()):
        number[vertices] = place
    owner = np.rint(surface.lift(number)[:, 0])  # a point lies between vertices of one body
    of_corner = owner[surface.indices]
    of_polygon = of_corner[np.cumsum(surface.counts) - 1]
    pieces = []
    for place, path in enumerate(_name_paths(bodies)):
        first, last = np.searchsorted(owner, [place, place + 1]).tolist()
        corners = of_corner == place
        uv = None if surface.uv is None else surface.uv[corners]
        indices = (surface.indices[corners] - first).astype(np.int32)
        pieces.append(Piece(path, slice(first, last), surface.counts[of_polygon == place], indices, uv))
    return tuple(pieces)


def _name_paths(bodies: Mapping[str, slice]) -> list[str]:
    """Paths called after the bodies, as USD may spell them."""
    paths: list[str] = []
    for name in bodies:
        plain = re.sub(r"^(?=\d)|[^\w]", "_", name, flags=re.ASCII)
        number, path = 1, f"{BODY}/{plain}"
        while path in paths:
            number += 1
            path = f"{BODY}/{plain}_{number}"
        paths.append(path)
    return paths
