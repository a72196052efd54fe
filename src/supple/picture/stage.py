"""One camera, floor and colour range for all pictures of an animation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import OutputError
from supple.picture.camera import axis_index, find_bounds
from supple.picture.colormap import find_range
from supple.picture.render import HEIGHT, WIDTH, RenderOptions, check_size, fit_camera, render

__all__ = ["Frames", "Times", "pick_frames", "render_frames", "set_stage"]

Frames = Sequence[ArrayLike] | NDArray[np.float64]  # positions [m], (n, 3), or values of each frame
Times = Sequence[float] | NDArray[np.float64]  # [s]


def set_stage(frames: Frames, times: Times | None, values: Frames | None, options: RenderOptions) -> RenderOptions:
    """The options with camera, floor and colour range chosen for all frames, where they were left open."""
    if not len(frames):
        raise OutputError("There is no frame to draw: give at least one.")
    for name, data in (("times", times), ("sets of values", values)):
        if data is not None and len(data) != len(frames):
            raise OutputError(f"There are {len(data)} {name} for {len(frames)} frames: give one per frame.")
    stage = options.copy()
    up_axis = stage.get("up_axis", "y")
    if stage.get("camera") is None or stage.get("ground", "auto") == "auto":
        bounds = find_bounds(frames)
        if stage.get("camera") is None:
            width, height = stage.get("width", WIDTH), stage.get("height", HEIGHT)
            check_size(width, height, stage.get("samples", 8))
            legend = values is not None and stage.get("legend", True)
            stage["camera"] = fit_camera(bounds, up_axis, width, height, legend)
        if stage.get("ground", "auto") == "auto":
            stage["ground"] = float(bounds[0][axis_index(up_axis)])
    if values is not None:
        ranges = [find_range(numbers, stage.get("vmin"), stage.get("vmax")) for numbers in values]
        stage["vmin"], stage["vmax"] = min(low for low, _ in ranges), max(high for _, high in ranges)
    return stage


def render_frames(
    frames: Frames,
    triangles: ArrayLike,
    *,
    times: Times | None = None,
    values: Frames | None = None,
    **options: Unpack[RenderOptions],
) -> Iterator[NDArray[np.uint8]]:
    """Pictures (h, w, 3) of an animation, one at a time, all from one camera.

    frames: positions [m], (n, 3) each; times [s] are written into the pictures; values are numbers per vertex
    or triangle of each frame. The options are those of `render`.
    """
    stage = set_stage(frames, times, values, options)
    for index in range(len(frames)):
        caption = None if times is None else f"{times[index]:.2f} s"
        numbers = None if values is None else values[index]
        yield render(frames[index], triangles, values=numbers, caption=caption, **stage)


def pick_frames(available: int, count: int) -> list[int]:
    """Up to `count` frame numbers, evenly spread from the first to the last of `available`."""
    if count < 1 or available < 1:
        raise OutputError(f"{count} of {available} frames cannot be picked: ask for one or more.")
    return sorted({round(place) for place in np.linspace(0, available - 1, min(count, available)).tolist()})
