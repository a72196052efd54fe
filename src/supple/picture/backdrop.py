"""The floor that fades into a pale backdrop."""

from __future__ import annotations

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.ground import Ground, look_up_light
from supple.picture.shot import Shot, aim, make_shot
from supple.picture.vector import Vector, add_scaled, blend, dot, subtract

__all__ = ["add_backdrop"]

# Linear light.
_BACKDROP = (0.700, 0.745, 0.800)  # at the top of the picture
_FLOOR = (0.900, 0.895, 0.885)
_KEY_SHADE = (0.42, 0.395, 0.37)  # share of the floor's light that the key's shadow takes away
_SKY_SHADE = (0.56, 0.54, 0.52)
_GRID_SHADE = 0.16
_REACH = 2.2  # the floor has faded into the backdrop at about twice this many body sizes


@njit(cache=True, parallel=True)
def add_backdrop(
    seen: NDArray[np.int32],
    vectors: NDArray[np.float64],
    size: float,
    ground: Ground,
    ground_light: NDArray[np.float64],
    picture: NDArray[np.float64],
) -> None:
    """Add the floor's and the backdrop's light to `picture` (h, w, 3), for the samples `seen` (s, h, w) below 0.

    vectors (7, 3), size and ground make a Shot; ground_light (2, r, r) is the light on the floor.
    """
    samples, height, width = seen.shape
    for row in prange(height):
        shot = make_shot(vectors, size, ground)  # here, as threads take no tuples of tuples
        for column in range(width):
            behind = 0
            for s in range(samples):
                behind += seen[s, row, column] < 0
            if behind > 0:  # one colour for all of them: nothing is sharp back there
                ray = aim(shot, column + 0.5, row + 0.5)
                colour = _shade(shot, ground_light, ray, (row + 0.5) / height)
                for k in range(3):
                    picture[row, column, k] += colour[k] * behind / samples


@njit(cache=True)
def _shade(shot: Shot, ground_light: NDArray[np.float64], ray: Vector, drop: float) -> Vector:
    """Colour (linear) seen along a ray that misses the body; drop runs from 0 at the picture's top to 1."""
    ground = shot.ground
    wall = blend(_BACKDROP, drop * drop * (3.0 - 2.0 * drop), _FLOOR)
    above = shot.eye[ground.axis] - ground.height
    if not ground.present or above <= 0.0 or ray[ground.axis] >= 0.0:
        return wall
    point = _hit(shot, ray, above)
    away = subtract(point, shot.centre)
    fade = math.exp(-dot(away, away) / (_REACH * shot.size) ** 2)
    key, sky = look_up_light(ground, ground_light, point)
    line = 1.0
    if ground.grid > 0.0:
        line -= _GRID_SHADE * fade * _cover_by_grid(shot, ray, above)
    red, green, blue = blend(wall, fade, _FLOOR)
    return (
        red * line * (1.0 - (1.0 - key) * _KEY_SHADE[0]) * (1.0 - (1.0 - sky) * _SKY_SHADE[0]),
        green * line * (1.0 - (1.0 - key) * _KEY_SHADE[1]) * (1.0 - (1.0 - sky) * _SKY_SHADE[1]),
        blue * line * (1.0 - (1.0 - key) * _KEY_SHADE[2]) * (1.0 - (1.0 - sky) * _SKY_SHADE[2]),
    )


@njit(cache=True)
def _hit(shot: Shot, ray: Vector, above: float) -> Vector:
    return add_scaled(shot.eye, -above / ray[shot.ground.axis], ray)


@njit(cache=True)
def _cover_by_grid(shot: Shot, ray: Vector, above: float) -> float:
    """Share 0..1 of a pixel that grid lines cover, from how far the floor moves from pixel to pixel."""
    ground = shot.ground
    beside = add_scaled(ray, 1.0, shot.right)
    below = add_scaled(ray, 1.0, shot.down)
    if beside[ground.axis] >= 0.0 or below[ground.axis] >= 0.0:
        return 0.0
    here, along, under = _hit(shot, ray, above), _hit(shot, beside, above), _hit(shot, below, above)
    cover = 0.0
    for k in (1, 2):
        axis = (ground.axis + k) % 3
        footprint = abs(along[axis] - here[axis]) + abs(under[axis] - here[axis]) + 1e-300
        place = here[axis] / ground.grid
        gap = abs(place - math.floor(place + 0.5)) * ground.grid / footprint  # pixels to the nearest line
        fine = min(ground.grid / footprint / 6.0, 1.0)  # lines too close to tell apart melt away
        cover = max(cover, fine * min(max(1.1 - gap, 0.0), 1.0))
    return cover
