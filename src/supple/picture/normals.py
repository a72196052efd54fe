"""Normals for shading: smooth over rounded parts, sharp at creases."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.vector import cross, dot, get_row, subtract

__all__ = ["find_corner_normals"]

# Faces that meet below the first angle share their normal, above the second they do not; in between the share
# changes gradually, so that a crease that opens or closes during a film does not pop.
_SMOOTH = math.cos(math.radians(50.0))
_SHARP = math.cos(math.radians(78.0))


def find_corner_normals(positions: NDArray[np.float64], triangles: NDArray[np.int32]) -> NDArray[np.float64]:
    """Unit normal at each corner of each triangle, (m, 3, 3); zero where no triangle around has an area."""
    corners = triangles.ravel()
    starts = np.zeros(len(positions) + 1, dtype=np.int64)
    np.cumsum(np.bincount(corners, minlength=len(positions)), out=starts[1:])
    around = np.argsort(corners, kind="stable")  # corners grouped by vertex, in order
    normals, angles = _find_faces(positions, triangles)
    return _sum_around(triangles, starts, around, normals, angles)


@njit(cache=True)
def _find_faces(
    positions: NDArray[np.float64], triangles: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Unit normal (m, 3) and corner angles [rad], (m, 3), of every triangle."""
    normals = np.zeros((len(triangles), 3))
    angles = np.zeros((len(triangles), 3))
    for t in range(len(triangles)):
        for k in range(3):
            start = get_row(positions, triangles[t, k])
            a = subtract(get_row(positions, triangles[t, (k + 1) % 3]), start)
            b = subtract(get_row(positions, triangles[t, (k + 2) % 3]), start)
            normal = cross(a, b)
            doubled = math.sqrt(dot(normal, normal))  # twice the area
            if doubled > 0.0:
                for i in range(3):
                    normals[t, i] = normal[i] / doubled
                angles[t, k] = math.atan2(doubled, dot(a, b))
    return normals, angles


@njit(cache=True)
def _sum_around(
    triangles: NDArray[np.int32],
    starts: NDArray[np.int64],
    around: NDArray[np.int64],
    normals: NDArray[np.float64],
    angles: NDArray[np.float64],
) -> NDArray[np.float64]:
    result = np.zeros((len(triangles), 3, 3))
    for t in range(len(triangles)):
        nx, ny, nz = normals[t, 0], normals[t, 1], normals[t, 2]
        for k in range(3):
            vertex = triangles[t, k]
            x, y, z = 0.0, 0.0, 0.0
            for entry in range(starts[vertex], starts[vertex + 1]):
                other, corner = around[entry] // 3, around[entry] % 3
                ox, oy, oz = normals[other, 0], normals[other, 1], normals[other, 2]
                share = (nx * ox + ny * oy + nz * oz - _SHARP) / (_SMOOTH - _SHARP)
                share = min(max(share, 0.0), 1.0)
                weight = angles[other, corner] * share * share * (3.0 - 2.0 * share)
                x, y, z = x + weight * ox, y + weight * oy, z + weight * oz
            length = math.sqrt(x * x + y * y + z * z)
            if length > 0.0:
                result[t, k, 0], result[t, k, 1], result[t, k, 2] = x / length, y / length, z / length
    return result
