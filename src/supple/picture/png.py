"""Picture files."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io.files import make_folder, write_atomically

__all__ = ["check_picture", "encode_png", "save_bytes", "save_picture"]


def check_picture(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The picture itself, if it is one: bytes with shape (h, w, 3)."""
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or not picture.size:
        raise OutputError(
            f"A picture has shape {picture.shape} and type {picture.dtype}: give bytes with shape (h, w, 3)."
        )
    return picture


def encode_png(picture: NDArray[np.uint8]) -> bytes:
    """PNG file of a picture (h, w, 3)."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(check_picture(picture)).save(stream, "png")
    return stream.getvalue()


def save_picture(path: str | Path, picture: NDArray[np.uint8]) -> Path:
    """Path of the PNG file that now holds a picture (h, w, 3)."""
    target = Path(path)
    if target.suffix.lower() != ".png":
        raise OutputError(f"{target} cannot hold a picture: name it .png.")
    return save_bytes(target, encode_png(picture))


def save_bytes(path: str | Path, data: bytes) -> Path:
    """Path of the file that now holds `data`, written whole or not at all; its folder is made if need be."""
    target = Path(path)
    make_folder(target)
    write_atomically(target, [data])
    return target
