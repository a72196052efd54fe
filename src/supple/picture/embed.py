"""Images as text: data: addresses that a page carries in itself."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.picture.png import check_picture, encode_png

__all__ = ["embed_frame", "embed_image"]

_KINDS = {
    b"\x89PNG": "png",
    b"GIF8": "gif",
    b"\xff\xd8\xff": "jpeg",
    b"RIFF": "webp",
    b"<?xml": "svg+xml",
    b"<svg": "svg+xml",
}
_QUALITY = 86


def embed_image(picture: NDArray[np.uint8] | bytes) -> str:
    """The data: address of a picture (h, w, 3), as PNG, or of an image file's bytes."""
    data = picture if isinstance(picture, bytes) else encode_png(picture)
    kind = next((kind for start, kind in _KINDS.items() if data.startswith(start)), None)
    if kind is None:
        raise OutputError("An image for a page is of an unknown kind: give a PNG, GIF, JPEG, WebP or SVG file.")
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def embed_frame(picture: NDArray[np.uint8]) -> str:
    """The data: address of one picture (h, w, 3) of a film, made small by leaving out what is not seen."""
    from PIL import Image, features

    stream = io.BytesIO()
    kind = "webp" if features.check("webp") else "jpeg"
    Image.fromarray(check_picture(picture)).save(stream, kind, quality=_QUALITY)
    return embed_image(stream.getvalue())
