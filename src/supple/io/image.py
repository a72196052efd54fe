"""Pictures read as numbers, and looked up by texture coordinates."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.errors import FileFormatError
from supple.io.limits import check_unpacked
from supple.io.source import read_source

__all__ = ["IMAGE_SUFFIXES", "Image", "read_image"]

FloatArray = NDArray[np.float64]
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".tga", ".bmp")
KINDS = ("PNG", "JPEG", "TIFF", "TGA", "BMP")
LARGEST = 255.0, 65535.0  # of 8 and of 16 bits


@dataclass(frozen=True, eq=False)
class Image:
    """Numbers from 0 to 1 in rows from the top, (h, w, c): 1 channel for grey, 3 for colours, 4 with alpha."""

    values: NDArray[np.float32]

    def at(self, uv: FloatArray) -> FloatArray:
        """Values at texture coordinates (k, 2) with the origin at the lower left, (k, c).

        Between pixels they are mixed; beyond 0 and 1 the picture comes again.
        """
        height, width = self.values.shape[:2]
        x, y = uv[:, 0] * width - 0.5, (1.0 - uv[:, 1]) * height - 0.5
        left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        across, down = (x - left)[:, None], (y - top)[:, None]
        rows, columns = (top % height, (top + 1) % height), (left % width, (left + 1) % width)
        upper, lower = (
            (1.0 - across) * self.values[row, columns[0]] + across * self.values[row, columns[1]] for row in rows
        )
        return np.asarray((1.0 - down) * upper + down * lower, np.float64)


def read_image(path: Path) -> Image:
    """The picture in a file, its numbers as stored: no colour space is undone."""
    import PIL.Image

    data = read_source(path).data
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", PIL.Image.DecompressionBombWarning)
            with PIL.Image.open(io.BytesIO(data), formats=KINDS) as picture:
                size = picture.width * picture.height * len(picture.getbands()) // (8 if picture.mode == "1" else 1)
                check_unpacked(str(path), 8 * size, len(data))
                deep = picture.mode.startswith("I")
                values = np.asarray(picture if deep else picture.convert(_mode(picture)), np.float32)
    except FileFormatError:
        raise
    except Exception as error:  # whatever a decoder raises over bytes that are not what they should be
        raise FileFormatError(f"{path} cannot be read as a picture ({type(error).__name__}); save it as PNG.") from None
    values /= np.float32(LARGEST[int(deep)])
    return Image(values.reshape(*values.shape[:2], -1))


def _mode(picture: Any) -> str:
    """Grey, colours, or colours with alpha."""
    if "A" in picture.getbands() or "transparency" in picture.info:
        return "RGBA"
    return "L" if picture.mode in ("1", "L") else "RGB"
