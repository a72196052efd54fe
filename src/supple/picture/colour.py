"""Colours as a user writes them, and the two ways of counting light."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import OutputError

__all__ = ["compress_light", "encode_srgb", "parse_colour", "to_linear"]

_LEVELS = 16384  # of linear light: fine enough that the darkest bytes are still told apart


def parse_colour(colour: str | ArrayLike) -> NDArray[np.float64]:
    """sRGB colour 0..1, (3,), from "#rrggbb" or three numbers; or colours (n, 3) from an array of them."""
    if isinstance(colour, str):
        digits = colour.removeprefix("#")
        try:
            value = np.frombuffer(bytes.fromhex(digits), dtype=np.uint8) / 255.0
        except ValueError:
            value = np.zeros(0)
        if value.shape != (3,):
            raise OutputError(f'The colour "{colour}" cannot be read: write it as "#rrggbb".')
        return value
    value = np.asarray(colour, dtype=np.float64)
    if value.ndim not in (1, 2) or value.shape[-1] != 3:
        raise OutputError(f"A colour array has shape {value.shape}: give (3,) or (n, 3).")
    if not (np.isfinite(value).all() and value.min(initial=0.0) >= 0.0 and value.max(initial=0.0) <= 1.0):
        raise OutputError("A colour lies outside 0..1: scale colours from 0..255 by 1/255.")
    return value


def to_linear(colour: str | ArrayLike) -> NDArray[np.float64]:
    """Linear light 0..1 of an sRGB colour or of an array (n, 3) of them."""
    value = parse_colour(colour)
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def compress_light(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB 0..1 of linear light 0..1, same shape."""
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def encode_srgb(light: NDArray[np.float64]) -> NDArray[np.uint8]:
    """sRGB bytes of linear light 0..1, same shape."""
    steps = np.linspace(0.0, 1.0, _LEVELS + 1)
    table = np.rint(255.0 * compress_light(steps)).astype(np.uint8)
    return table[np.rint(_LEVELS * np.clip(light, 0.0, 1.0)).astype(np.intp)]
