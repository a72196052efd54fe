"""Checks and colours of the triangles to draw."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import MeshError, OutputError
from supple.picture.colour import to_linear
from supple.picture.hit import COLOUR, NORMAL, VALUE
from supple.picture.normals import find_corner_normals

__all__ = ["Surface", "check_surface", "make_surface"]

BODY_COLOUR = "#d9937b"  # a warm clay
NO_VALUE_COLOUR = "#b9bcc2"


@dataclass(frozen=True)
class Surface:
    """Triangles to draw, with their corners' normals, colours and values."""

    positions: NDArray[np.float64]  # (n, 3) [m]
    triangles: NDArray[np.int32]  # (m, 3)
    corners: NDArray[np.float64]  # (m, 3, 7): normal, linear colour, place in the table or not a number
    table: NDArray[np.float64]  # (k, 3), linear light
    edges: bool  # draw the triangles' edges


def check_surface(positions: ArrayLike, triangles: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Positions [m], (n, 3), and triangles (m, 3), or a MeshError that names the first offender."""
    points = np.ascontiguousarray(positions, dtype=np.float64)
    faces = np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise MeshError(f"Positions to draw have shape {points.shape}: give one row of x, y, z per vertex.")
    if faces.size == 0:
        return points, np.zeros((0, 3), dtype=np.int32)
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise MeshError(f"Triangles to draw have shape {faces.shape}, type {faces.dtype}: give rows of three numbers.")
    bad = ~np.isfinite(points).all(axis=1)
    if bad.any():
        vertex = int(np.argmax(bad))
        raise MeshError(
            f"Position of vertex {vertex} is {points[vertex].tolist()}: draw an earlier frame, "
            "or check the run that wrote this one."
        )
    outside = ((faces < 0) | (faces >= len(points))).any(axis=1)
    if outside.any():
        face = int(np.argmax(outside))
        raise MeshError(
            f"Triangle {face} names vertices {faces[face].tolist()} of {len(points)}: "
            "draw it with the positions of its own mesh."
        )
    return points, np.ascontiguousarray(faces, dtype=np.int32)


def make_surface(
    positions: NDArray[np.float64],
    triangles: NDArray[np.int32],
    colour: str | ArrayLike | None,
    places: NDArray[np.float64] | None,
    table: NDArray[np.float64],
    edges: bool,
) -> Surface:
    """Surface ready to shade, with only the vertices in use; places 0..1 in the table (k, 3), sRGB."""
    plain = BODY_COLOUR if places is None else NO_VALUE_COLOUR
    light = to_linear(plain if colour is None else colour)
    if light.ndim == 1:
        light = np.broadcast_to(light, (len(positions), 3))
    used = np.zeros(len(positions), dtype=bool)
    used[triangles] = True
    faces = (np.cumsum(used) - 1)[triangles].astype(np.int32)
    points = np.ascontiguousarray(positions[used]) if len(triangles) else positions
    corners = np.full((len(triangles), 3, 7), np.nan)
    corners[:, :, NORMAL : NORMAL + 3] = find_corner_normals(points, faces)
    corners[:, :, COLOUR : COLOUR + 3] = _spread(light, positions, triangles, "colour")
    if places is not None:
        corners[:, :, VALUE] = _spread(places, positions, triangles, "value")
    return Surface(points, faces, corners, to_linear(table), edges)


def _spread(
    data: NDArray[np.float64], positions: NDArray[np.float64], triangles: NDArray[np.int32], what: str
) -> NDArray[np.float64]:
    """Data per triangle corner, (m, 3, ...), from data per vertex or per triangle."""
    if len(data) == len(positions):
        return data[triangles]
    if len(data) == len(triangles):
        return np.repeat(data[:, None], 3, axis=1)
    raise OutputError(
        f"There are {len(data)} {what}s for {len(positions)} vertices and {len(triangles)} triangles: "
        f"give one {what} per vertex or per triangle."
    )
