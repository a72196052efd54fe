"""Pictures, strips and films of a recorded run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from supple.errors import OutputError
from supple.io import Cache, open_cache
from supple.io.permit import Permit
from supple.picture import RenderOptions, render_frames, render_strip, save_film, save_picture
from supple.picture.render import HEIGHT, WIDTH, fit_camera
from supple.picture.strip import PANEL_HEIGHT, PANEL_WIDTH
from supple.scene.props import Props

__all__ = ["FIELD_LABELS", "Drawing", "draw_recording"]

FIELD_LABELS = {
    "displacement": "displacement [m]",
    "velocity": "speed [m/s]",
    "J": "volume ratio J",
    "von_mises": "von Mises stress [Pa]",
    "contact_force": "contact force [N]",
    "contact_depth": "contact depth [m]",
}
FILMS = (".gif", ".mp4")


@dataclass(frozen=True)
class Drawing:
    """What to draw of a recording."""

    frame: int | None = None  #: number of the frame in a single picture (default: the last)
    strip: int | None = None  #: so many frames side by side instead
    field: str | None = None  #: values that colour the surface
    width: int | None = None  #: of a picture, or of each one in a strip [pixels]
    height: int | None = None
    edges: bool = False


def draw_recording(
    source: str | Path, target: str | Path, drawing: Drawing | None = None, *, overwrite: bool = False
) -> dict[str, object]:
    """Draw a recording (or a mesh file) into a .png, .gif or .mp4; what was drawn, by name.

    A target that is there is replaced where it was drawn of the same recording before, or with `overwrite`.
    """
    drawing = drawing or Drawing()
    target = Path(target)
    film = target.suffix.lower() in FILMS
    if not film and target.suffix.lower() != ".png":
        raise OutputError(f"{target} cannot hold a picture: name it .png, or .gif or .mp4 for a film.")
    if film and (drawing.frame is not None or drawing.strip is not None):
        raise OutputError(f"{target} is a film, which shows all frames: name it .png for a frame or a strip.")
    permit = Permit(Path(source), "render", overwrite)
    replaced = permit.ask(target)
    cache = open_cache(source)
    props = Props(cache)
    frames = _Surfaces(cache, props)
    values = None if drawing.field is None else _Values(cache, props, drawing.field)
    options = _options(cache, drawing, props)
    triangles = props.join_triangles(cache.triangles)
    if film:
        pictures = render_frames(frames, triangles, times=cache.times, values=values, **options)
        save_film(target, pictures, cache.info.fps / _stride(cache))
    elif drawing.strip is not None:
        save_picture(
            target,
            render_strip(frames, triangles, count=drawing.strip, times=cache.times, values=values, **options),
        )
    else:
        place = _find_frame(cache, drawing.frame, source)
        one = None if values is None else [values[place]]
        times = [cache.times[place]] if cache.frames > 1 else None
        save_picture(target, *render_frames([frames[place]], triangles, times=times, values=one, **options))
    permit.done(target)
    count = len(cache.triangles)
    return {"file": target, "frames": cache.frames, "field": drawing.field, "triangles": count, "replaced": replaced}


class _Surfaces(Sequence[NDArray[np.float64]]):
    """The drawn surface and its colliders frame by frame, read when asked for."""

    def __init__(self, cache: Cache, props: Props) -> None:
        self._cache, self._props = cache, props

    def __len__(self) -> int:
        return self._cache.frames

    @overload
    def __getitem__(self, place: int) -> NDArray[np.float64]: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[NDArray[np.float64]]: ...
    def __getitem__(self, place: int | slice) -> NDArray[np.float64] | Sequence[NDArray[np.float64]]:
        if isinstance(place, slice):
            return [self._read(k) for k in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        return self._read(place)

    def _read(self, place: int) -> NDArray[np.float64]:
        return np.concatenate([self._cache.surface_positions(place), self._props.positions(place)])


class _Values(_Surfaces):
    """One number for every vertex of the drawn surface, frame by frame; vectors by their length, colliders without.

    Where a recording has no rest shape, displacement is counted from its first frame.
    """

    def __init__(self, cache: Cache, props: Props, field: str) -> None:
        super().__init__(cache, props)
        self._field = field

    def _read(self, place: int) -> NDArray[np.float64]:
        cache = self._cache
        if self._field == "displacement" and self._field not in cache.fields:
            values = cache.surface_positions(place) - cache.surface_positions(0)
        else:
            values = cache.point_values(self._field, place)
        numbers = values if values.ndim == 1 else np.linalg.norm(values, axis=1)
        return np.concatenate([numbers, np.full(self._props.count, np.nan)])


def _options(cache: Cache, drawing: Drawing, props: Props) -> RenderOptions:
    """The settings all pictures share."""
    up_axis: Literal["y", "z"] = cache.info.up_axis
    options: RenderOptions = {"up_axis": up_axis, "edges": drawing.edges}
    if drawing.width is not None:
        options["width"] = drawing.width
    if drawing.height is not None:
        options["height"] = drawing.height
    if drawing.field is not None:
        options["label"] = FIELD_LABELS.get(drawing.field, drawing.field)
    if props:
        usual = (WIDTH, HEIGHT) if drawing.strip is None else (PANEL_WIDTH, PANEL_HEIGHT)
        width, height = drawing.width or usual[0], drawing.height or usual[1]
        legend = drawing.field is not None and drawing.strip is None
        options["camera"] = fit_camera(props.bounds, up_axis, width, height, legend)
        options["ground"] = props.ground
        options["colour"] = props.colours(len(cache.surface_positions(0)), drawing.field is not None)
    return options


def _find_frame(cache: Cache, number: int | None, source: str | Path) -> int:
    """Where a frame lies in the recording; without a number, the last one."""
    if number is None:
        return cache.frames - 1
    if number not in cache.indices:
        raise OutputError(f"{source} has no frame {number}: it holds frames {cache.indices[0]} to {cache.indices[-1]}.")
    return cache.indices.index(number)


def _stride(cache: Cache) -> int:
    """Frames from one recorded frame to the next."""
    return max(1, cache.indices[1] - cache.indices[0]) if cache.frames > 1 else 1
