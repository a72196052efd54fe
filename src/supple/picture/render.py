"""A picture of a surface: the room's front door."""

from __future__ import annotations

import math
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import OutputError
from supple.picture.backdrop import add_backdrop
from supple.picture.camera import Bounds, Camera, axis_index, find_bounds
from supple.picture.colormap import find_range, get_table, place_values
from supple.picture.colour import encode_srgb
from supple.picture.ground import hide_below_floor, light_ground
from supple.picture.legend import LEGEND_SHARE, draw_legend, round_up
from supple.picture.light import place_lights
from supple.picture.raster import rasterise
from supple.picture.shade import add_body
from supple.picture.shadow import cast_depth_maps
from supple.picture.surface import Surface, check_surface, make_surface
from supple.picture.text import draw_text, pick_text_size

__all__ = ["HEIGHT", "WIDTH", "GroundChoice", "RenderOptions", "fit_camera", "render"]

GroundChoice = float | Literal["auto"] | None
WIDTH, HEIGHT = 960, 600  #: of a picture when nothing else is said [pixels]
_LARGEST_SIDE = 16384


class RenderOptions(TypedDict, total=False):
    """The settings of `render` that all pictures of an animation share."""

    camera: Camera | None
    colour: str | ArrayLike | None
    vmin: float | None
    vmax: float | None
    colormap: str
    label: str | None
    legend: bool
    ground: GroundChoice
    grid: bool
    edges: bool
    width: int
    height: int
    up_axis: str
    samples: int


def render(
    positions: ArrayLike,
    triangles: ArrayLike,
    *,
    camera: Camera | None = None,
    colour: str | ArrayLike | None = None,
    values: ArrayLike | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    colormap: str = "lagoon",
    label: str | None = None,
    legend: bool = True,
    ground: GroundChoice = "auto",
    grid: bool = False,
    edges: bool = False,
    width: int = WIDTH,
    height: int = HEIGHT,
    up_axis: str = "y",
    caption: str | None = None,
    samples: int = 8,
) -> NDArray[np.uint8]:
    """Picture (height, width, 3), sRGB bytes, of a surface: positions [m], (n, 3); triangles (m, 3).

    camera: None frames the surface. colour: "#rrggbb", or sRGB 0..1 as (3,), per vertex or per triangle.
    values: numbers per vertex or triangle, coloured from vmin to vmax, with a legend called `label`; if one
    is not a number the colour shows. ground: height [m] of the floor, "auto" for the lowest vertex, None for
    none; grid: lines on it. edges: draw the triangles' edges. samples: sub-pixels a pixel is averaged over.
    """
    points, faces = check_surface(positions, triangles)
    check_size(width, height, samples)
    axis = axis_index(up_axis)
    table = get_table(colormap)
    limits = (0.0, 1.0) if values is None else find_range(values, vmin, vmax)
    places = None if values is None else place_values(values, *limits)
    surface = make_surface(points, faces, colour, places, table, edges)
    bounds = find_bounds([surface.positions])
    if camera is None:
        camera = fit_camera(bounds, up_axis, width, height, values is not None and legend)
    floor = float(bounds[0][axis]) if ground == "auto" else ground
    if not (floor is None or np.isfinite(floor)):
        raise OutputError(f'The ground\'s height is {floor}: give metres, "auto" or None.')
    picture = encode_srgb(_draw(surface, camera, axis, floor, grid, width, height, samples))
    if values is not None and legend:
        picture = draw_legend(picture, table, *limits, label)
    if caption:
        size = pick_text_size(width, height)
        picture = draw_text(picture, caption, (1.2 * size, height - 1.2 * size), size)
    return picture


def fit_camera(bounds: Bounds, up_axis: str, width: int, height: int, legend: bool) -> Camera:
    """Camera that frames the box `bounds` [m] in a picture, leaving room for a legend if there is one."""
    return Camera.fit(bounds, up_axis=up_axis, aspect=(1 - 2 * LEGEND_SHARE * legend) * width / height)


def check_size(width: int, height: int, samples: int) -> None:
    for name, value, limit in (
        ("width", width, _LARGEST_SIDE),
        ("height", height, _LARGEST_SIDE),
        ("samples", samples, 64),
    ):
        if not 1 <= value <= limit:
            raise OutputError(f"The picture's {name} is {value}: use 1 to {limit}.")


def _draw(
    surface: Surface,
    camera: Camera,
    axis: int,
    floor: float | None,
    grid: bool,
    width: int,
    height: int,
    samples: int,
) -> NDArray[np.float64]:
    """Linear light (h, w, 3) of a lit surface on its floor."""
    points, triangles = surface.positions, surface.triangles
    lo, hi = points.min(axis=0), points.max(axis=0)
    size = max(float(np.linalg.norm(hi - lo)), 1e-12)
    lights = place_lights(camera, axis)
    keys = len(lights.key_samples)
    maps = cast_depth_maps(points, triangles, np.concatenate([lights.key_samples, lights.sky_samples]))
    views, nearness, texel = maps
    spacing = round_up(0.15 * size) if grid else 0.0
    ground, ground_light = light_ground(points, axis, floor, spacing, views, nearness, keys)
    shifts = _spread_samples(samples)
    lenses = np.array([camera.view(width, height, (x, y)) for x, y in shifts])
    nearest = 1e3 / float(np.linalg.norm(camera.target - camera.eye))
    depth, seen = rasterise(points, triangles, lenses, width, height, nearest)
    rays = camera.rays(width, height)
    if floor is not None:
        hide_below_floor(seen, depth, shifts, rays[:, axis], floor - camera.eye[axis])
    vectors = np.stack([camera.eye, *rays, lights.key, lights.fill, 0.5 * (lo + hi)])
    picture = np.zeros((height, width, 3))
    add_backdrop(seen, vectors, size, ground, ground_light, picture)
    add_body(
        seen, shifts, vectors, size, ground, ground_light, points, triangles, surface.corners, surface.table,
        surface.edges, views, nearness, 1.5 * texel, keys, picture,
    )  # fmt: skip
    return picture


def _spread_samples(count: int) -> NDArray[np.float64]:
    """Sub-pixel shifts, (count, 2), -0.5..0.5: a lattice with no two points in one row or column."""
    step = next(k for k in range(max(1, round(0.618 * count)), count + 1) if math.gcd(k, count) == 1)
    index = np.arange(count)
    return np.stack([(index + 0.5) / count - 0.5, (index * step % count + 0.5) / count - 0.5], axis=1)
