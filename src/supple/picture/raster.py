"""Which triangle is seen in every pixel of a view: a z-buffer filled without clipping.

The edge functions are homogeneous (Olano and Greer 1997): a triangle that reaches behind the camera needs no
clipping. A view is a matrix (4, 4) from (x, y, z, 1) to (column·w, row·w, w, s); s/w is compared, larger is
nearer. A perspective view has s = 1 and compares 1/depth; a parallel one has w = 1 and compares s.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["rasterise"]

_ROUNDING = 1e-13  # what rounding leaves of the volume of three points in line, in terms of their coordinates


def rasterise(
    positions: NDArray[np.float64],
    triangles: NDArray[np.int32],
    views: NDArray[np.float64],
    width: int,
    height: int,
    nearest: float = np.inf,
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Nearness, -inf where nothing is seen, and triangle number, -1 there, (views, height, width) each.

    positions [m], (n, 3); triangles (m, 3); views (v, 4, 4). What has a nearness above `nearest` is cut away.
    """
    nearness = np.full((len(views), height, width), -np.inf, dtype=np.float32)
    seen = np.full((len(views), height, width), -1, dtype=np.int32)
    _fill_views(positions, triangles, views, nearest, nearness, seen)
    return nearness, seen


@njit(cache=True, parallel=True)
def _fill_views(
    positions: NDArray[np.float64],
    triangles: NDArray[np.int32],
    views: NDArray[np.float64],
    nearest: float,
    nearness: NDArray[np.float32],
    seen: NDArray[np.int32],
) -> None:
    for v in prange(len(views)):  # one view is one thread's: the result cannot depend on their number
        points, places = _project(positions, views[v])
        _fill_view(points, places, triangles, nearest, nearness[v], seen[v])


@njit(cache=True)
def _project(
    positions: NDArray[np.float64], view: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Homogeneous points (n, 4) and their column and row in the picture, (n, 2), infinite behind the eye."""
    points = np.empty((len(positions), 4))
    places = np.empty((len(positions), 2))
    for i in range(len(positions)):
        x, y, z = positions[i, 0], positions[i, 1], positions[i, 2]
        for k in range(4):
            points[i, k] = view[k, 0] * x + view[k, 1] * y + view[k, 2] * z + view[k, 3]
        ahead = points[i, 2] > 0.0
        places[i, 0] = points[i, 0] / points[i, 2] if ahead else np.inf
        places[i, 1] = points[i, 1] / points[i, 2] if ahead else np.inf
    return points, places


@njit(cache=True)
def _pixel_range(a: float, b: float, c: float, count: int) -> tuple[int, int]:
    """First and one past the last pixel whose centre lies between the least and greatest of three numbers.

    All pixels if one is infinite, a corner behind the eye, unless all are.
    """
    low, high = min(a, b, c), max(a, b, c)
    if high == math.inf:
        return 0, count if low < math.inf else 0
    first = min(max(math.ceil(low - 0.5), 0.0), float(count))
    last = min(max(math.floor(high - 0.5), -1.0), count - 1.0)
    return int(first), int(last) + 1


@njit(cache=True)
def _fill_view(
    points: NDArray[np.float64],
    places: NDArray[np.float64],
    triangles: NDArray[np.int32],
    nearest: float,
    nearness: NDArray[np.float32],
    seen: NDArray[np.int32],
) -> None:
    height, width = seen.shape
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        left, right = _pixel_range(places[i, 0], places[j, 0], places[k, 0], width)
        top, bottom = _pixel_range(places[i, 1], places[j, 1], places[k, 1], height)
        if left >= right or top >= bottom:
            continue
        x0, y0, w0, s0 = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
        x1, y1, w1, s1 = points[j, 0], points[j, 1], points[j, 2], points[j, 3]
        x2, y2, w2, s2 = points[k, 0], points[k, 1], points[k, 2], points[k, 3]
        # Edge functions: columns of the adjugate of the matrix whose rows are the three points.
        a0, b0, c0 = y1 * w2 - w1 * y2, w1 * x2 - x1 * w2, x1 * y2 - y1 * x2
        a1, b1, c1 = y2 * w0 - w2 * y0, w2 * x0 - x2 * w0, x2 * y0 - y2 * x0
        a2, b2, c2 = y0 * w1 - w0 * y1, w0 * x1 - x0 * w1, x0 * y1 - y0 * x1
        volume = x0 * a0 + y0 * b0 + w0 * c0
        bulk = max(abs(x0), abs(x1), abs(x2)) * max(abs(y0), abs(y1), abs(y2)) * max(abs(w0), abs(w1), abs(w2))
        if not abs(volume) > _ROUNDING * bulk:
            continue  # no area, seen from its side, or beyond all numbers
        scale = 1.0 / volume
        along = (a0 * s0 + a1 * s1 + a2 * s2) * scale
        down = (b0 * s0 + b1 * s1 + b2 * s2) * scale
        origin = (c0 * s0 + c1 * s1 + c2 * s2) * scale
        if volume < 0.0:
            a0, b0, c0, a1, b1, c1, a2, b2, c2 = -a0, -b0, -c0, -a1, -b1, -c1, -a2, -b2, -c2
        for row in range(top, bottom):
            y = row + 0.5
            r0, r1, r2 = b0 * y + c0, b1 * y + c1, b2 * y + c2
            for column in range(left, right):
                x = column + 0.5
                near = np.float32(along * x + down * y + origin)
                inside = (a0 * x + r0 >= 0.0) & (a1 * x + r1 >= 0.0) & (a2 * x + r2 >= 0.0)
                if inside & (near > nearness[row, column]) & (near <= nearest):  # one branch: few are foreseen
                    nearness[row, column] = near
                    seen[row, column] = t
