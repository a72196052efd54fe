"""How the studio's light falls on the body."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.ground import Ground, look_up_light
from supple.picture.hit import meet
from supple.picture.shadow import gather_light
from supple.picture.shot import Shot, aim, make_shot
from supple.picture.vector import Vector, add_scaled, dot, normalise, subtract

__all__ = ["add_body"]

# Light on a white surface that faces it, linear: a warm key, a cool fill and sky, the floor's bounce.
_KEY = (1.10, 1.05, 0.98)
_FILL = (0.19, 0.205, 0.215)
_SKY = (0.43, 0.45, 0.47)
_BOUNCE = (0.30, 0.29, 0.28)
_SHINE, _SHINE_POWER = 0.15, 24
_SHEEN = 0.12


@njit(cache=True, parallel=True)
def add_body(
    seen: NDArray[np.int32],
    shifts: NDArray[np.float64],
    vectors: NDArray[np.float64],
    size: float,
    ground: Ground,
    ground_light: NDArray[np.float64],
    positions: NDArray[np.float64],
    triangles: NDArray[np.int32],
    corners: NDArray[np.float64],
    table: NDArray[np.float64],
    edges: bool,
    views: NDArray[np.float64],
    nearness: NDArray[np.float32],
    offset: float,
    keys: int,
    picture: NDArray[np.float64],
) -> None:
    """Add the body's light to `picture` (h, w, 3): triangles `seen` (s, h, w) at sub-pixel `shifts` (s, 2).

    vectors, size and ground make a Shot; positions to edges are a Surface; views and nearness are depth maps,
    the first `keys` of the key lamp, which a point looks at from `offset` [m] above its surface.
    """
    samples, height, width = seen.shape
    for row in prange(height):
        shot = make_shot(vectors, size, ground)  # here, as threads take no tuples of tuples
        for column in range(width):
            shown = 0
            for s in range(samples):
                shown += seen[s, row, column] >= 0
            if shown > 0:
                line: Any = np.int64(row)  # threads count without a sign: one kind of number, one copy to compile
                light = _sum_light(
                    seen, shifts, line, column, shot, ground_light, positions, triangles, corners, table, edges,
                    views, nearness, offset, keys,
                )  # fmt: skip
                for k in range(3):
                    picture[row, column, k] += light[k] / samples


@njit(cache=True)
def _sum_light(
    seen: NDArray[np.int32],
    shifts: NDArray[np.float64],
    row: int,
    column: int,
    shot: Shot,
    ground_light: NDArray[np.float64],
    positions: NDArray[np.float64],
    triangles: NDArray[np.int32],
    corners: NDArray[np.float64],
    table: NDArray[np.float64],
    edges: bool,
    views: NDArray[np.float64],
    nearness: NDArray[np.float32],
    offset: float,
    keys: int,
) -> Vector:
    """Sum of the light, linear, of a pixel's samples that show the body."""
    total = (0.0, 0.0, 0.0)
    wide = 9.0 * dot(shot.right, shot.right)  # three pixels at unit depth, squared
    place, facing, light = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (-1.0, 0.0)
    for s in range(len(shifts)):
        triangle = seen[s, row, column]
        across, along, count = _average_shifts(seen, shifts, s, row, column, edges)
        if triangle < 0 or count == 0:
            continue
        ray = aim(shot, column + 0.5 + across, row + 0.5 + along)
        depth, point, face, normal, albedo = meet(triangle, ray, shot, positions, triangles, corners, table, edges)
        step = subtract(point, place)
        if light[0] < 0.0 or dot(step, step) > wide * depth * depth or dot(face, facing) < 0.9:
            place, facing = point, face  # gathering light is the costly part: neighbouring samples share it
            lifted = add_scaled(point, offset, face)
            key = gather_light(views, nearness, 0, keys, lifted, normal)
            light = (key, gather_light(views, nearness, keys, len(views), lifted, normal))
        floor = look_up_light(shot.ground, ground_light, point)
        total = add_scaled(total, float(count), _reflect(normal, normalise(ray), albedo, light, floor, shot))
    return total


@njit(cache=True)
def _average_shifts(
    seen: NDArray[np.int32], shifts: NDArray[np.float64], s: int, row: int, column: int, edges: bool
) -> tuple[float, float, int]:
    """Mean shift and number of the samples that show the triangle of sample s; 0 if an earlier one does.

    So a triangle is shaded once in a pixel; with edge lines, at every sample.
    """
    if edges:
        return shifts[s, 0], shifts[s, 1], 1
    across, along, count = 0.0, 0.0, 0
    for other in range(len(shifts)):
        if seen[other, row, column] == seen[s, row, column]:
            if other < s:
                return 0.0, 0.0, 0
            across, along, count = across + shifts[other, 0], along + shifts[other, 1], count + 1
    return across / count, along / count, count


@njit(cache=True)
def _reflect(
    normal: Vector,
    ray: Vector,
    albedo: Vector,
    light: tuple[float, float],
    floor: tuple[float, float],
    shot: Shot,
) -> Vector:
    """Light sent to the eye, linear: key, fill, sky and the floor's bounce, a soft highlight and sheen."""
    upward = normal[shot.ground.axis]
    lamp = max(dot(normal, shot.key), 0.0) * light[0]
    fill = max(0.4 + 0.6 * dot(normal, shot.fill), 0.0) * (0.3 + 0.7 * light[1])
    sky = (0.5 + 0.5 * upward) * light[1]
    bounce = (0.5 - 0.5 * upward) * (0.5 * floor[0] + 0.5 * floor[1] * floor[1])
    half = normalise(subtract(shot.key, ray))
    gloss = _SHINE * max(dot(normal, half), 0.0) ** _SHINE_POWER * min(4.0 * lamp, 1.0)
    edge = 1.0 - max(-dot(normal, ray), 0.0)
    gloss += _SHEEN * edge * edge * edge * (0.3 + 0.7 * max(upward, 0.0)) * light[1]
    return (
        _soften(albedo[0] * (lamp * _KEY[0] + fill * _FILL[0] + sky * _SKY[0] + bounce * _BOUNCE[0]) + gloss),
        _soften(albedo[1] * (lamp * _KEY[1] + fill * _FILL[1] + sky * _SKY[1] + bounce * _BOUNCE[1]) + gloss),
        _soften(albedo[2] * (lamp * _KEY[2] + fill * _FILL[2] + sky * _SKY[2] + bounce * _BOUNCE[2]) + gloss),
    )


@njit(cache=True)
def _soften(light: float) -> float:
    """Light below 1: a highlight above 0.8 bends over instead of clipping."""
    return 1.0 - 0.2 * math.exp(-(light - 0.8) / 0.2) if light > 0.8 else light
