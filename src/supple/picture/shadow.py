"""What stands in the light: depth maps of the body seen from many directions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.raster import rasterise
from supple.picture.vector import Vector

__all__ = ["cast_depth_maps", "gather_light"]

_RESOLUTION = 192
_RIM = 2  # empty texels around the body, so that a lookup beside it finds light


def cast_depth_maps(
    positions: NDArray[np.float64], triangles: NDArray[np.int32], directions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float32], float]:
    """Views (v, 4, 4), nearness [m] (v, r, r) and largest side of a texel [m]: the body as lights see it.

    positions [m], (n, 3); directions are unit vectors towards the lights, (v, 3), and row 3 of their views.
    """
    helper = np.eye(3)[np.argmin(np.abs(directions), axis=1)]
    across = np.cross(directions, helper)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    frames = np.stack([across, np.cross(directions, across)], axis=1)  # (v, 2, 3)
    placed = frames.reshape(-1, 3) @ positions.T
    lo = placed.min(axis=1).reshape(-1, 2)
    hi = placed.max(axis=1).reshape(-1, 2)
    least = 1e-9 * float(np.abs(positions).max()) + 1e-30  # a flat body seen from its side still has a width
    scale = (_RESOLUTION - 2 * _RIM) / np.maximum(hi - lo, least)
    views = np.zeros((len(directions), 4, 4))
    views[:, :2, :3] = frames * scale[:, :, None]
    views[:, :2, 3] = _RIM - lo * scale
    views[:, 2, 3] = 1.0
    views[:, 3, :3] = directions
    nearness, _ = rasterise(positions, triangles, views, _RESOLUTION, _RESOLUTION)
    return views, nearness, float((1.0 / scale).max())


@njit(cache=True)
def gather_light(
    views: NDArray[np.float64],
    nearness: NDArray[np.float32],
    first: int | np.int64,
    last: int,
    point: Vector,
    normal: Vector,
) -> float:
    """Share 0..1 of the light of views first..last-1 that reaches a point [m] with a normal.

    Each view counts by the cosine of its direction and is filtered over four texels. One function, as a call
    per view would spend its time counting references to the arrays.
    """
    x, y, z = point
    end = nearness.shape[1] - 1
    light, weight = 0.0, 0.0
    for v in range(first, last):
        cosine = normal[0] * views[v, 3, 0] + normal[1] * views[v, 3, 1] + normal[2] * views[v, 3, 2]
        if cosine <= 0.0:
            continue
        weight += cosine
        column = views[v, 0, 0] * x + views[v, 0, 1] * y + views[v, 0, 2] * z + views[v, 0, 3] - 0.5
        row = views[v, 1, 0] * x + views[v, 1, 1] * y + views[v, 1, 2] * z + views[v, 1, 3] - 0.5
        if not (0.0 <= column < end and 0.0 <= row < end):
            light += cosine
            continue
        height = views[v, 3, 0] * x + views[v, 3, 1] * y + views[v, 3, 2] * z
        i, j = int(row), int(column)
        p, q = row - i, column - j
        upper = (1.0 - q) * (nearness[v, i, j] <= height) + q * (nearness[v, i, j + 1] <= height)
        lower = (1.0 - q) * (nearness[v, i + 1, j] <= height) + q * (nearness[v, i + 1, j + 1] <= height)
        light += cosine * ((1.0 - p) * upper + p * lower)
    return light / weight if weight > 0.0 else 0.0
