"""Vertices in front of a surface of the body they belong to, as near as its thickness."""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.contact.neighbourhood import Neighbourhood, are_kin, is_beside, may_touch
from supple.contact.touched import Fans, approach, area_vector
from supple.linalg.jit import njit

__all__ = ["find_before"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
Vector = tuple[float, float, float]
_FACES = 0.25  # cosine between the way to a touched point and a normal around the vertex: else it looks elsewhere
_EQUAL = 1e-9  # squared distances this near to each other, as a share, are the same


@njit(cache=True, parallel=True)
def find_before(
    vertices: IntArray,
    reach: float,
    start: NDArray[np.int64],
    listed: IntArray,
    tets: IntArray,
    first: IntArray,
    triangles: IntArray,
    x: FloatArray,
    rest: FloatArray,
    fans: Fans,
    around: Neighbourhood,
) -> IntArray:
    """The surface triangle that each vertex is nearest to and in front of, or -1 if none is within `reach` [m], (k,).

    Vertex k is tested against triangles first[t] to first[t + 1] of its tets t, listed[start[k] : start[k + 1]]. One
    that no triangle around the vertex looks at is on its far side, beyond a part thinner than the reach. Of two
    that share the nearest point the one whose plane is farther away is taken, of equal ones the first: the order of
    tests does not matter.
    """
    found = np.full(len(vertices), -1, np.int32)
    for k in prange(len(vertices)):
        vertex = vertices[k]
        point = x[vertex, 0], x[vertex, 1], x[vertex, 2]
        least, height, best = reach * reach, 0.0, -1
        for entry in range(start[k], start[k + 1]):
            for number in range(first[listed[entry]], first[listed[entry] + 1]):
                _, way, squared = approach(point, triangles, number, x)
                if not squared < (1.0 + _EQUAL) * least:
                    continue
                tall = _height(point, triangles, number, x)
                nearer = squared < (1.0 - _EQUAL) * least or abs(tall) > (1.0 + _EQUAL) * abs(height)
                nearer |= number < best and abs(tall) >= (1.0 - _EQUAL) * abs(height)
                if not nearer or are_kin(vertex, tets, listed[entry], around):
                    continue
                if _may_meet(vertex, number, way, squared, triangles, x, rest, fans, around):
                    best, least, height = number, squared, tall
        if height > 0.0:
            found[k] = best
    return found


@njit(cache=True)
def _height(point: Vector, triangles: IntArray, number: int, x: FloatArray) -> float:
    """Distance of a point in front of the plane of a triangle, [m]; 0 for one without area."""
    n0, n1, n2 = area_vector(triangles, number, x)
    a = triangles[number, 0]
    along = n0 * (point[0] - x[a, 0]) + n1 * (point[1] - x[a, 1]) + n2 * (point[2] - x[a, 2])
    return float(along / max(np.sqrt(n0 * n0 + n1 * n1 + n2 * n2), 1e-300))


@njit(cache=True)
def _may_meet(
    vertex: int,
    number: int,
    way: Vector,
    squared: float,
    triangles: IntArray,
    x: FloatArray,
    rest: FloatArray,
    fans: Fans,
    around: Neighbourhood,
) -> bool:
    """Whether a triangle at the end of a way is not among the vertex's surroundings, and lies where that looks."""
    if not may_touch(vertex, triangles, number, around):
        return False
    there = rest[vertex, 0], rest[vertex, 1], rest[vertex, 2]
    if is_beside(vertex, triangles, number, np.sqrt(approach(there, triangles, number, rest)[2]), around):
        return False
    for entry in range(fans.start[vertex], fans.start[vertex + 1]):
        n0, n1, n2 = area_vector(triangles, fans.triangles[entry], x)
        along = n0 * way[0] + n1 * way[1] + n2 * way[2]
        if along >= _FACES * np.sqrt(squared * (n0 * n0 + n1 * n1 + n2 * n2)):
            return True
    return False
