"""Vertices inside the body they belong to: which tet each lies in, and at which triangle it came through.

A vertex in a deformed tet is carried to the same place of the rest tet, and from there to the nearest point of the
rest surface ([TOK14] 5.1).
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.contact.neighbourhood import Neighbourhood, are_kin, is_beside, may_touch
from supple.contact.rest_surface import RestSurface, closest_point, find_nearest
from supple.linalg.jit import njit

__all__ = ["FLAT", "ON_FACE", "come_through", "find_inside"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Vector = tuple[float, float, float]
Weights = tuple[float, float, float, float]
ON_FACE = -1e-12  #: weight of a point on a face: round-off must not let it slip between two tets
FLAT = 1e-9  #: a tet below this share of its rest volume, or inside out, holds nothing


@njit(cache=True, parallel=True)
def find_inside(
    points: FloatArray,
    vertices: IntArray,
    start: NDArray[np.int64],
    listed: IntArray,
    tets: IntArray,
    x: FloatArray,
    rest: FloatArray,
    triangles: IntArray,
    surface: RestSurface,
    around: Neighbourhood,
) -> tuple[IntArray, IntArray]:
    """Tet that holds each point, or -1, (k,), and the surface triangle nearest to it at rest, (k,).

    Point k stands for vertex vertices[k], and is tested against the tets listed[start[k] : start[k + 1]]. Of several
    tets the one that is deepest at rest is taken, of equal ones the first: the order of tests does not matter.
    """
    tet = np.full(len(points), -1, np.int32)
    triangle = np.full(len(points), -1, np.int32)
    for k in prange(len(points)):
        depth = -1.0
        for entry in range(start[k], start[k + 1]):
            number = listed[entry]
            held, weights = _locate(points, k, tets, number, x, rest)
            if held:
                found, squared = come_through(vertices[k], weights, number, tets, rest, triangles, surface, around)
                if found >= 0 and (squared > depth or (squared == depth and number < tet[k])):
                    tet[k], triangle[k], depth = number, found, squared
    return tet, triangle


@njit(cache=True)
def _locate(
    points: FloatArray, k: int, tets: IntArray, number: int, x: FloatArray, rest: FloatArray
) -> tuple[bool, Weights]:
    """Whether a deformed tet holds point k, and where: its barycentric coordinates."""
    nowhere = (0.0, 0.0, 0.0, 0.0)
    a, b, c, d = tets[number, 0], tets[number, 1], tets[number, 2], tets[number, 3]
    u, v, w = _edge(x, a, b), _edge(x, a, c), _edge(x, a, d)
    p = points[k, 0] - x[a, 0], points[k, 1] - x[a, 1], points[k, 2] - x[a, 2]
    normal = _cross(v, w)
    volume = _dot(u, normal)
    least = ON_FACE * volume
    second = _dot(p, normal)
    if volume <= 0.0 or second < least:
        return False, nowhere
    third = _dot(p, _cross(w, u))
    if third < least:
        return False, nowhere
    fourth = _dot(p, _cross(u, v))
    if fourth < least or volume - second - third - fourth < least:
        return False, nowhere
    if volume <= FLAT * _dot(_edge(rest, a, b), _cross(_edge(rest, a, c), _edge(rest, a, d))):
        return False, nowhere
    second, third, fourth = second / volume, third / volume, fourth / volume
    return True, (1.0 - second - third - fourth, second, third, fourth)


@njit(cache=True)
def _edge(x: FloatArray, a: int, b: int) -> Vector:
    return x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]


@njit(cache=True)
def _cross(u: Vector, v: Vector) -> Vector:
    return u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]


@njit(cache=True)
def _dot(u: Vector, v: Vector) -> float:
    return u[0] * v[0] + u[1] * v[1] + u[2] * v[2]


@njit(cache=True)
def come_through(
    vertex: int,
    weights: Weights,
    number: int,
    tets: IntArray,
    rest: FloatArray,
    triangles: IntArray,
    surface: RestSurface,
    around: Neighbourhood,
) -> tuple[int, float]:
    """Triangle nearest at rest to a place of a tet, or -1 if the vertex may not touch it; its squared distance [m²]."""
    if are_kin(vertex, tets, number, around):
        return -1, 0.0
    y0 = y1 = y2 = 0.0
    for corner in range(4):
        there, weight = tets[number, corner], weights[corner]
        y0, y1, y2 = y0 + weight * rest[there, 0], y1 + weight * rest[there, 1], y2 + weight * rest[there, 2]
    found, squared = find_nearest(y0, y1, y2, surface.seeds[number], surface)
    if not may_touch(vertex, triangles, found, around):
        return -1, squared
    y0, y1, y2 = closest_point(surface.corners, found, y0, y1, y2)
    away = np.sqrt((y0 - rest[vertex, 0]) ** 2 + (y1 - rest[vertex, 1]) ** 2 + (y2 - rest[vertex, 2]) ** 2)
    return (-1 if is_beside(vertex, triangles, found, away, around) else found), squared
