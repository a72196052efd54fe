"""The bar that says which colour means which number."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from supple.picture.text import draw_text, pick_text_size

__all__ = ["LEGEND_SHARE", "draw_legend", "find_ticks", "round_up"]

LEGEND_SHARE = 0.09  # of the picture's width, kept free of the body at both sides


def round_up(number: float) -> float:
    """The next of 1, 2, 5, 10, ... times a power of ten at or above a positive number."""
    power = 10.0 ** math.floor(math.log10(number))
    return next((m * power for m in (1.0, 2.0, 5.0) if m * power >= number), 10.0 * power)


def find_ticks(vmin: float, vmax: float, count: int = 5) -> list[float]:
    """Round numbers (steps of 1, 2 or 5) between the two ends, about `count` of them."""
    span = vmax - vmin
    if not span > 0.0:
        return [vmin]
    step = round_up(0.5 * span / max(count - 1, 1))
    first, last = math.ceil(vmin / step - 1e-9), math.floor(vmax / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def draw_legend(
    picture: NDArray[np.uint8],
    table: NDArray[np.float64],
    vmin: float,
    vmax: float,
    label: str | None = None,
) -> NDArray[np.uint8]:
    """The picture (h, w, 3) with a colour bar and its label at the right edge; table (k, 3) in sRGB 0..1."""
    height, width = picture.shape[:2]
    size = pick_text_size(width, height)
    ticks = find_ticks(vmin, vmax)
    words = [f"{tick:.4g}" for tick in ticks]
    room = max(len(word) for word in words) * 0.62 * size
    right = int(width - 1.2 * size - room - 0.5 * size)
    left = right - max(6, round(0.75 * size))
    top, bottom = round(0.2 * height), round(0.66 * height)
    result = picture.copy()
    place = np.clip((bottom - 1 - np.arange(top, bottom)) / (bottom - 1 - top), 0.0, 1.0)
    rows = table[np.rint(place * (len(table) - 1)).astype(np.intp)]
    result[top:bottom, left:right] = np.rint(255 * rows).astype(np.uint8)[:, None, :]
    for tick, word in zip(ticks, words, strict=True):
        share = (tick - vmin) / (vmax - vmin) if vmax > vmin else 0.5
        row = bottom - 1 - share * (bottom - 1 - top)
        result[round(row), right : right + max(2, size // 4)] = (130, 136, 146)
        result = draw_text(result, word, (right + 0.5 * size, row), size, "lm")
    if label:
        result = draw_text(result, label, (width - 1.2 * size, top - 0.9 * size), size, "rs")
    return result
