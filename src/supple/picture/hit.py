"""What a ray meets on a triangle: the point, its normals and its colour."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.shot import Shot
from supple.picture.vector import Vector, add_scaled, blend, cross, dot, get_row, normalise, scale, subtract

__all__ = ["COLOUR", "NORMAL", "VALUE", "meet"]

# Columns of the corner data of a surface, (m, 3, 7).
NORMAL, COLOUR, VALUE = 0, 3, 6
_EDGE_SHADE = 0.5  # what an edge line leaves of the colour
_EDGE_WIDTH = 0.55  # half its width, in pixels


@njit(cache=True)
def meet(
    triangle: int,
    ray: Vector,
    shot: Shot,
    positions: NDArray[np.float64],
    triangles: NDArray[np.int32],
    corners: NDArray[np.float64],
    table: NDArray[np.float64],
    edges: bool,
) -> tuple[float, Vector, Vector, Vector, Vector]:
    """Depth [m], point [m], face normal, shading normal and albedo where a ray from the eye meets a triangle.

    The normals look at the viewer, so that the inside of an open surface is lit as its outside.
    """
    start = get_row(positions, triangles[triangle, 0])
    first = subtract(get_row(positions, triangles[triangle, 1]), start)
    second = subtract(get_row(positions, triangles[triangle, 2]), start)
    away = subtract(shot.eye, start)
    across = cross(ray, second)
    volume = dot(first, across)
    factor = 1.0 / volume if volume != 0.0 else 0.0
    b1 = min(max(dot(away, across) * factor, 0.0), 1.0)
    b2 = min(max(dot(ray, cross(away, first)) * factor, 0.0), 1.0 - b1)
    bary = (1.0 - b1 - b2, b1, b2)
    point = add_scaled(add_scaled(start, b1, first), b2, second)
    depth = dot(subtract(point, shot.eye), ray) / dot(ray, ray)
    face = normalise(cross(first, second))
    normal = _interpolate(corners, triangle, NORMAL, bary)
    normal = normalise(normal) if dot(normal, normal) > 0.0 else face
    if dot(face, ray) > 0.0:
        face, normal = scale(face, -1.0), scale(normal, -1.0)
    albedo = _pick_albedo(corners, triangle, bary, table)
    if edges:
        pixel = depth * math.sqrt(dot(shot.right, shot.right))
        albedo = scale(albedo, _darken_edge(first, second, bary, pixel))
    return depth, point, face, normal, albedo


@njit(cache=True)
def _interpolate(corners: NDArray[np.float64], triangle: int, column: int, bary: Vector) -> Vector:
    x, y, z = 0.0, 0.0, 0.0
    for k in range(3):
        x += bary[k] * corners[triangle, k, column]
        y += bary[k] * corners[triangle, k, column + 1]
        z += bary[k] * corners[triangle, k, column + 2]
    return x, y, z


@njit(cache=True)
def _pick_albedo(corners: NDArray[np.float64], triangle: int, bary: Vector, table: NDArray[np.float64]) -> Vector:
    """The value's colour from the table, or where it is not a number the corners' colour."""
    value = 0.0
    for k in range(3):
        value += bary[k] * corners[triangle, k, VALUE]
    if not math.isfinite(value):
        return _interpolate(corners, triangle, COLOUR, bary)
    place = min(max(value, 0.0), 1.0) * (len(table) - 1)
    index = min(int(place), len(table) - 2)
    return blend(get_row(table, index), place - index, get_row(table, index + 1))


@njit(cache=True)
def _darken_edge(first: Vector, second: Vector, bary: Vector, pixel: float) -> float:
    """Share of the colour left near an edge; lines of triangles of a few pixels fade away."""
    third, normal = subtract(second, first), cross(first, second)
    doubled = dot(normal, normal)  # over a squared side, this is the square of the height on it
    height0 = math.sqrt(doubled / dot(third, third)) / pixel
    height1 = math.sqrt(doubled / dot(second, second)) / pixel
    height2 = math.sqrt(doubled / dot(first, first)) / pixel
    if min(bary[0] * height0, bary[1] * height1, bary[2] * height2) > _EDGE_WIDTH:
        return 1.0
    return 1.0 - (1.0 - _EDGE_SHADE) * min(min(height0, height1, height2) / 8.0, 1.0)
