"""Films: .mp4, .gif and animated .png."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from supple.errors import MissingExtra, OutputError
from supple.io.files import make_folder, replacing
from supple.picture.png import check_picture, save_bytes

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["save_film"]

_GIF_SHORTEST = 2  # hundredths of a second: browsers slow down anything shorter
_QUALITY = "18"  # x264's constant rate factor: no loss an eye would see


def save_film(path: str | Path, pictures: Iterable[NDArray[np.uint8]], fps: float = 24.0) -> Path:
    """Path of the film, .mp4, .gif or animated .png, that now holds the pictures (h, w, 3).

    .mp4 needs the extra "video" and is written as the pictures come; the others hold them all in memory.
    """
    target = Path(path)
    if not (np.isfinite(fps) and fps > 0.0):
        raise OutputError(f"The frame rate of {target} is {fps}: give frames per second above 0.")
    checked = _check_pictures(target, pictures)
    match target.suffix.lower():
        case ".mp4":
            return _save_mp4(target, checked, fps)
        case ".gif":
            return save_bytes(target, _encode_gif(list(checked), fps))
        case ".png":
            return save_bytes(target, _encode_png(list(checked), fps))
    raise OutputError(f"{target} is of a kind that cannot hold a film: name it .mp4, .gif or .png.")


def _check_pictures(path: Path, pictures: Iterable[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    """The pictures, of which there is at least one and all have one size."""
    shape = None
    for picture in pictures:
        shape = shape or check_picture(picture).shape
        if picture.shape != shape:
            raise OutputError(f"Pictures for {path} are {shape} and {picture.shape}: give them one size.")
        yield picture
    if shape is None:
        raise OutputError(f"There is no picture for {path}: give at least one.")


def _save_mp4(path: Path, pictures: Iterator[NDArray[np.uint8]], fps: float) -> Path:
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingExtra("imageio-ffmpeg", "video", "Writing an .mp4 film") from error
    first = next(pictures)
    height, width = first.shape[:2]
    spare = ((0, height % 2), (0, width % 2), (0, 0))  # the format counts colours in blocks of 2 x 2 pixels
    make_folder(path)
    with replacing(path) as part:
        writer = imageio_ffmpeg.write_frames(
            str(part),
            (width + width % 2, height + height % 2),
            fps=fps,
            codec="libx264",
            pix_fmt_out="yuv420p",
            macro_block_size=1,
            output_params=["-crf", _QUALITY, "-movflags", "+faststart", "-threads", "1"],
        )
        writer.send(None)
        try:
            for picture in chain([first], pictures):
                writer.send(np.pad(picture, spare, mode="edge").tobytes())
        finally:
            writer.close()
    return path


def _encode_gif(pictures: list[NDArray[np.uint8]], fps: float) -> bytes:
    """GIF file, endless, with one palette for all pictures so that still parts do not flicker."""
    from PIL import Image

    some = pictures[:: max(1, len(pictures) // 8)]
    palette = Image.fromarray(np.concatenate([picture[::2, ::2] for picture in some])).quantize(256)
    images: list[Image.Image] = []
    durations: list[int] = []
    last = 0
    for index, picture in enumerate(pictures):
        end = round(100.0 * (index + 1) / fps)
        if end - last >= _GIF_SHORTEST or index == len(pictures) - 1:
            images.append(Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE))
            durations.append(10 * max(end - last, _GIF_SHORTEST))
            last = end
    return _encode(images, "gif", durations)


def _encode_png(pictures: list[NDArray[np.uint8]], fps: float) -> bytes:
    """Animated PNG file, endless."""
    from PIL import Image

    return _encode([Image.fromarray(picture) for picture in pictures], "png", [1000.0 / fps] * len(pictures))


def _encode(images: list[Image.Image], kind: str, durations: list[int] | list[float]) -> bytes:
    stream = io.BytesIO()
    images[0].save(stream, kind, save_all=True, append_images=images[1:], duration=durations, loop=0)
    return stream.getvalue()
