"""Words in pictures."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import ImageFont

__all__ = ["INK", "draw_text", "pick_text_size"]

INK = (72, 78, 88)


@lru_cache(maxsize=16)
def _load_font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(size=size)


def pick_text_size(width: int, height: int) -> int:
    """Letter size in pixels that suits a picture."""
    return max(15, round(0.021 * math.sqrt(width * height)))


def draw_text(
    picture: NDArray[np.uint8], text: str, place: tuple[float, float], size: int, anchor: str = "ls"
) -> NDArray[np.uint8]:
    """The picture (h, w, 3) with text at `place` (column, row); anchor as Pillow names it: "ls", "rm", ..."""
    from PIL import Image, ImageDraw

    image = Image.fromarray(picture)
    ImageDraw.Draw(image).text(place, text, fill=INK, font=_load_font(size), anchor=anchor)
    return np.asarray(image, dtype=np.uint8).copy()
