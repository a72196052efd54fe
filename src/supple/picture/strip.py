"""A film strip: moments of an animation side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import OutputError
from supple.picture.colormap import get_table
from supple.picture.legend import draw_legend
from supple.picture.png import check_picture
from supple.picture.render import RenderOptions
from supple.picture.stage import Frames, Times, pick_frames, render_frames, set_stage

__all__ = ["PANEL_HEIGHT", "PANEL_WIDTH", "join_pictures", "render_strip", "stack_pictures"]

PANEL_WIDTH, PANEL_HEIGHT = 380, 420  #: of one picture of a strip when nothing else is said [pixels]
_LEGEND_WIDTH = 170


def render_strip(
    frames: Frames,
    triangles: ArrayLike,
    *,
    count: int = 5,
    times: Times | None = None,
    values: Frames | None = None,
    **options: Unpack[RenderOptions],
) -> NDArray[np.uint8]:
    """One picture of `count` frames, evenly spread in time, side by side and seen by one camera.

    frames: positions [m], (n, 3) each; times [s] become captions; width and height are those of one panel.
    Camera and colour range suit all frames, also those left out.
    """
    sized: RenderOptions = {"width": PANEL_WIDTH, "height": PANEL_HEIGHT, **options, "legend": False}
    stage = set_stage(frames, times, values, sized)
    chosen = pick_frames(len(frames), count)
    panels = list(
        render_frames(
            [frames[index] for index in chosen],
            triangles,
            times=None if times is None else [times[index] for index in chosen],
            values=None if values is None else [values[index] for index in chosen],
            **stage,
        )
    )
    limits = stage.get("vmin"), stage.get("vmax")
    if values is not None and limits[0] is not None and limits[1] is not None and options.get("legend", True):
        paper = np.full((stage["height"], _LEGEND_WIDTH, 3), 255, dtype=np.uint8)
        table = get_table(stage.get("colormap", "lagoon"))
        panels.append(draw_legend(paper, table, limits[0], limits[1], stage.get("label")))
    return join_pictures(panels)


def join_pictures(pictures: Sequence[NDArray[np.uint8]], gap: int = 4) -> NDArray[np.uint8]:
    """Pictures (h, w, 3) of one height side by side, (h, sum of w, 3), with `gap` white pixels between."""
    heights = sorted({check_picture(picture).shape[0] for picture in pictures})
    if len(heights) != 1:
        raise OutputError(f"Pictures to join have heights {heights}: give at least one, and all of one height.")
    spacer = np.full((heights[0], gap, 3), 255, dtype=np.uint8)
    pieces: list[NDArray[np.uint8]] = []
    for picture in pictures:
        pieces += [spacer, picture]
    return np.concatenate(pieces[1:], axis=1)


def stack_pictures(pictures: Sequence[NDArray[np.uint8]], gap: int = 4) -> NDArray[np.uint8]:
    """Pictures (h, w, 3) one below the other, with `gap` white pixels between; narrow ones are filled up with white."""
    if not pictures:
        raise OutputError("There is no picture to stack: give at least one.")
    width = max(check_picture(picture).shape[1] for picture in pictures)
    pieces: list[NDArray[np.uint8]] = []
    for picture in pictures:
        pieces += [
            np.full((gap, width, 3), 255, dtype=np.uint8),
            np.pad(picture, ((0, 0), (0, width - picture.shape[1]), (0, 0)), constant_values=255),
        ]
    return np.concatenate(pieces[1:], axis=0)
