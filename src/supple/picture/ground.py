"""The floor under a body and the light that reaches it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.picture.shadow import gather_light
from supple.picture.vector import Vector

__all__ = ["Ground", "hide_below_floor", "light_ground", "look_up_light"]

_RESOLUTION = 256
_FADE = 0.12  # share of the shaded rectangle over which its shade fades out, so that no edge can be seen


class Ground(NamedTuple):
    """Floor at `height` along `axis`, its shaded rectangle and its grid's spacing, 0 for none, in [m]."""

    present: bool
    axis: int
    height: float
    first: float  # corner of the rectangle along axis + 1
    second: float  # and along axis + 2
    length: float  # its sides
    breadth: float
    grid: float


def light_ground(
    positions: NDArray[np.float64],
    axis: int,
    height: float | None,
    grid: float,
    views: NDArray[np.float64],
    nearness: NDArray[np.float32],
    keys: int,
) -> tuple[Ground, NDArray[np.float64]]:
    """Floor at `height` [m], or none, and the key's and the sky's light 0..1 on its rectangle, (2, r, r).

    views and nearness are depth maps, the first `keys` of them of the key lamp.
    """
    if height is None:
        return Ground(False, axis, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0), np.ones((2, 2, 2))
    corner, size = _find_shaded_rectangle(positions, axis, height, views[:keys, 3, :3])
    ground = Ground(True, axis, height, corner[0], corner[1], size[0], size[1], grid)
    light = np.ones((2, _RESOLUTION, _RESOLUTION))
    _fill_light(light, ground, views, nearness, keys)
    light = np.stack([_blur(light[0], 1.8), _blur(light[1], 7.0)])
    return ground, 1.0 - (1.0 - light) * _make_window(_RESOLUTION)


def _find_shaded_rectangle(
    positions: NDArray[np.float64], axis: int, height: float, directions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Corner and size [m], (2,) each, of the part of the floor that the body's shade can reach."""
    level = [(axis + 1) % 3, (axis + 2) % 3]
    lo, hi = positions.min(axis=0), positions.max(axis=0)
    points = [lo[level], hi[level]]
    for direction in directions:
        slide = max(hi[axis] - height, 0.0) / direction[axis] * direction[level]
        points += [lo[level] - slide, hi[level] - slide]
    reach = 0.5 * float(np.max(hi - lo)) + 1e-12  # what the sky's shade needs around the body
    first, last = np.min(points, axis=0) - reach, np.max(points, axis=0) + reach
    spare = _FADE * (last - first)
    return first - spare, last - first + 2.0 * spare


@njit(cache=True, parallel=True)
def _fill_light(
    light: NDArray[np.float64],
    ground: Ground,
    views: NDArray[np.float64],
    nearness: NDArray[np.float32],
    keys: int,
) -> None:
    count = light.shape[1]
    upward = _place(ground.axis, 1.0, 0.0, 0.0)
    for i in prange(count):
        for j in range(count):
            first = ground.first + (j + 0.5) / count * ground.length
            second = ground.second + (i + 0.5) / count * ground.breadth
            point = _place(ground.axis, ground.height, first, second)
            light[0, i, j] = gather_light(views, nearness, 0, keys, point, upward)
            light[1, i, j] = gather_light(views, nearness, keys, len(views), point, upward)


@njit(cache=True)
def _place(axis: int, height: float, first: float, second: float) -> Vector:
    """Point from its coordinates along axis, axis + 1 and axis + 2."""
    if axis == 1:
        return second, height, first
    return first, second, height


def _blur(image: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """The image (r, r) blurred by a Gaussian of `sigma` texels, its edge repeated."""
    reach = math.ceil(3 * sigma)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    kernel /= kernel.sum()
    for _ in range(2):
        padded = np.pad(image, ((reach, reach), (0, 0)), mode="edge")
        blurred = np.zeros_like(image)
        for k, weight in enumerate(kernel):
            blurred += weight * padded[k : k + len(image)]
        image = blurred.T
    return image


def _make_window(count: int) -> NDArray[np.float64]:
    """Weight (count, count) that is 1 inside and falls smoothly to 0 at the edge."""
    place = (np.arange(count) + 0.5) / count
    ramp = np.clip(np.minimum(place, 1.0 - place) / _FADE, 0.0, 1.0)
    smooth = ramp * ramp * (3.0 - 2.0 * ramp)
    return np.outer(smooth, smooth)


@njit(cache=True)
def hide_below_floor(
    seen: NDArray[np.int32],
    nearness: NDArray[np.float32],
    shifts: NDArray[np.float64],
    slopes: NDArray[np.float64],
    drop: float,
) -> None:
    """Set `seen` (s, h, w) to -1 where the floor, at `drop` [m] along the up axis from the eye, is in front.

    nearness is 1/depth [1/m]; slopes (3,) are the up components of the camera's rays.
    """
    if drop >= 0.0:
        return  # a floor above the eye is not drawn
    samples, height, width = seen.shape
    for s in range(samples):
        for row in range(height):
            for column in range(width):
                x, y = column + 0.5 + shifts[s, 0], row + 0.5 + shifts[s, 1]
                slope = slopes[0] * x + slopes[1] * y + slopes[2]
                if nearness[s, row, column] * drop > slope * (1.0 - 1e-6):
                    seen[s, row, column] = -1


@njit(cache=True)
def look_up_light(ground: Ground, light: NDArray[np.float64], point: Vector) -> tuple[float, float]:
    """The key's and the sky's light 0..1 on the floor straight below or above a point [m], bilinear."""
    if not ground.present:
        return 1.0, 1.0
    first, second = (point[2], point[0]) if ground.axis == 1 else (point[0], point[1])
    count = light.shape[1]
    column = (first - ground.first) / ground.length * count - 0.5
    row = (second - ground.second) / ground.breadth * count - 0.5
    if not (0.0 <= column < count - 1 and 0.0 <= row < count - 1):
        return 1.0, 1.0
    i, j = int(row), int(column)
    p, q = row - i, column - j
    a, b, c, d = (1.0 - p) * (1.0 - q), (1.0 - p) * q, p * (1.0 - q), p * q
    key = a * light[0, i, j] + b * light[0, i, j + 1] + c * light[0, i + 1, j] + d * light[0, i + 1, j + 1]
    sky = a * light[1, i, j] + b * light[1, i, j + 1] + c * light[1, i + 1, j] + d * light[1, i + 1, j + 1]
    return key, sky
