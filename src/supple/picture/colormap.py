"""Colour maps: a number becomes a colour of evenly changing lightness."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import OutputError
from supple.picture.colour import compress_light

__all__ = ["COLORMAPS", "find_range", "get_table", "map_colours", "place_values"]

# Lightness, chroma and hue [degrees] in OKLCH (Ottosson 2020) at even steps; lightness rises evenly, or for
# the two-sided map falls from the middle.
COLORMAPS: dict[str, NDArray[np.float64]] = {
    "dusk": np.array(
        [
            [0.36, 0.130, 285.0],
            [0.45, 0.165, 305.0],
            [0.54, 0.180, 335.0],
            [0.63, 0.175, 370.0],
            [0.72, 0.155, 400.0],
            [0.81, 0.130, 430.0],
            [0.92, 0.100, 455.0],
        ]
    ),
    "lagoon": np.array(
        [
            [0.34, 0.095, 275.0],
            [0.44, 0.100, 250.0],
            [0.54, 0.100, 222.0],
            [0.64, 0.105, 190.0],
            [0.74, 0.120, 162.0],
            [0.84, 0.130, 130.0],
            [0.93, 0.115, 105.0],
        ]
    ),
    "balance": np.array(
        [
            [0.44, 0.130, 255.0],
            [0.62, 0.110, 248.0],
            [0.80, 0.060, 240.0],
            [0.94, 0.006, 150.0],
            [0.80, 0.075, 48.0],
            [0.62, 0.140, 36.0],
            [0.44, 0.150, 26.0],
        ]
    ),
}
_STEPS = 256


def get_table(name: str) -> NDArray[np.float64]:
    """sRGB colours 0..1, (256, 3), of one of COLORMAPS or of any colour map matplotlib knows."""
    if name in COLORMAPS:
        return _make_table(COLORMAPS[name])
    import matplotlib

    if name not in matplotlib.colormaps:
        known = ", ".join(COLORMAPS)
        raise OutputError(f'There is no colour map "{name}": use {known} or a name that matplotlib knows.')
    return np.asarray(matplotlib.colormaps[name](np.linspace(0.0, 1.0, _STEPS)), dtype=np.float64)[:, :3]


def _make_table(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB colours 0..1, (256, 3), through control points in OKLCH."""
    lightness, chroma, hue = points[:, 0], points[:, 1], np.radians(points[:, 2])
    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=1)
    place = np.linspace(0.0, len(points) - 1.0, _STEPS)
    lab = np.stack([np.interp(place, np.arange(len(points)), lab[:, k]) for k in range(3)], axis=1)
    cone = lab @ np.array(
        [
            [1, 1, 1],
            [0.3963377774, -0.1055613458, -0.0894841775],
            [0.2158037573, -0.0638541728, -1.2914855480],
        ]
    )
    light = cone**3 @ np.array(
        [
            [4.0767416621, -1.2684380046, -0.0041960863],
            [-3.3077115913, 2.6097574011, -0.7034186147],
            [0.2309699292, -0.3413193965, 1.7076147010],
        ]
    )
    light = np.clip(light, 0.0, 1.0)
    return compress_light(light)


def find_range(values: ArrayLike, vmin: float | None = None, vmax: float | None = None) -> tuple[float, float]:
    """The numbers at the two ends of the map: as given, else the least and greatest finite value."""
    finite = np.asarray(values, dtype=np.float64)
    finite = finite[np.isfinite(finite)]
    if vmin is None or vmax is None:
        if not finite.size:
            raise OutputError("No value to colour by is a finite number: give vmin and vmax, or other values.")
        vmin = float(finite.min()) if vmin is None else vmin
        vmax = float(finite.max()) if vmax is None else vmax
    if not (np.isfinite(vmin) and np.isfinite(vmax) and vmin <= vmax):
        raise OutputError(f"The colour range is {vmin} to {vmax}: give a finite vmin below vmax.")
    return float(vmin), float(vmax)


def place_values(values: ArrayLike, vmin: float, vmax: float) -> NDArray[np.float64]:
    """Place 0..1 of each value in the map, same shape; not-a-number stays, equal ends give the middle."""
    numbers = np.asarray(values, dtype=np.float64)
    if vmax == vmin:
        return np.where(np.isnan(numbers), np.nan, 0.5)
    return np.clip((numbers - vmin) / (vmax - vmin), 0.0, 1.0)


def map_colours(
    values: ArrayLike, name: str = "lagoon", vmin: float | None = None, vmax: float | None = None
) -> NDArray[np.float64]:
    """sRGB colours 0..1, (..., 3), of values; vmin and below is the first colour, vmax and above the last."""
    low, high = find_range(values, vmin, vmax)
    place = place_values(values, low, high)
    table = get_table(name)
    steps = np.arange(_STEPS) / (_STEPS - 1)
    return np.stack([np.interp(place, steps, table[:, k]) for k in range(3)], axis=-1)
