"""The pictures of a comparison: both motions one above the other, and where on the body the error sits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.picture import (
    RenderOptions,
    find_bounds,
    join_pictures,
    pick_frames,
    render,
    render_strip,
    stack_pictures,
)
from supple.picture.camera import Bounds, axis_index
from supple.picture.render import fit_camera
from supple.picture.text import draw_text
from supple.scene.compare import Comparison, Entry
from supple.scene.stage import Built

__all__ = ["Gallery"]

FloatArray = NDArray[np.float64]
Picture = NDArray[np.uint8]
PANELS = 4
PANEL_WIDTH, PANEL_HEIGHT = 250, 230
RIG_PANELS, RIG_WIDTH, RIG_HEIGHT = 6, 200, 260
HEAT_WIDTH, HEAT_HEIGHT = 980, 520
FILM_WIDTH, FILM_HEIGHT, FILM_FRAMES = 440, 360, 60
TEXT = 17  #: letter size in pixels
HEAT = "dusk"
LABEL = "distance from full [m]"
RIG_LABEL = "distance [m]"


@dataclass(frozen=True, eq=False)
class Gallery:
    """Draws one contestant beside the full solver, seen by one camera."""

    comparison: Comparison
    entry: Entry

    def draw_strip(self) -> Picture:
        """The full solver above, the contestant in the middle, its error below; the same frames and camera."""
        chosen = pick_frames(self._frames, PANELS)
        times = [self.entry.track.rows[k].time for k in chosen]
        full = [self._full(k) for k in chosen]
        other = [self._other(k) for k in chosen]
        errors = [_distance(a, b) for a, b in zip(other, full, strict=True)]
        options = self._stage(PANEL_WIDTH, PANEL_HEIGHT, legend=False)
        rows = [
            render_strip(full, self._triangles, count=PANELS, times=times, **options),
            render_strip(other, self._triangles, count=PANELS, **options),
            render_strip(full, self._triangles, count=PANELS, values=errors, **_join(options, self._heat(errors))),
        ]
        picture = stack_pictures(rows)
        for number, name in enumerate(self._names):  # in the column that the colour scale leaves free above itself
            right = picture.shape[1] - 0.8 * TEXT
            picture = draw_text(picture, name, (right, (number + 0.5) * PANEL_HEIGHT), TEXT, "rm")
        return picture

    def draw_heat_map(self) -> tuple[Picture, int]:
        """The full solver's shape in the contestant's worst frame, coloured by distance [m]; and that frame's place."""
        worst = 0 if self.entry.errors is None else self.entry.errors.worst
        full = self._full(worst)
        errors = _distance(self._other(worst), full)
        options = self._stage(HEAT_WIDTH, HEAT_HEIGHT, legend=True, bounds=find_bounds([full]))
        return render(full, self._triangles, values=errors, **_join(options, self._heat([errors]))), worst

    def draw_rig(self) -> Picture | None:
        """The contestant, coloured by its distance [m] from its rig, and below it the rig alone; None without one."""
        rigging = self._built.drive.rigging
        if rigging is None:
            return None
        chosen = pick_frames(self._frames, RIG_PANELS)
        times = [self.entry.track.rows[k].time for k in chosen]
        flesh = [self._other(k) for k in chosen]
        bones = [self._draw_of(rigging.rig.positions(rigging.course.pose(time))) for time in times]
        apart = [_distance(a, b) for a, b in zip(flesh, bones, strict=True)]
        options = self._stage(RIG_WIDTH, RIG_HEIGHT, legend=False)
        coloured = _join(options, {"label": RIG_LABEL})
        above = render_strip(flesh, self._triangles, count=RIG_PANELS, times=times, values=apart, **coloured)
        return stack_pictures([above, render_strip(bones, self._triangles, count=RIG_PANELS, **options)])

    def draw_film(self) -> tuple[list[Picture], float]:
        """The full solver on the left, the contestant on the right, frame by frame; and the frames a second."""
        chosen = pick_frames(self._frames, FILM_FRAMES)
        options = self._stage(FILM_WIDTH, FILM_HEIGHT, legend=False)
        options["samples"] = 4
        pictures = []
        for place in chosen:
            shapes = zip((self._full(place), self._other(place)), self._names, strict=True)
            pictures.append(join_pictures([render(x, self._triangles, caption=name, **options) for x, name in shapes]))
        return pictures, self._built.scene.time.fps * len(chosen) / self._frames

    @property
    def _names(self) -> tuple[str, str]:
        return self.comparison.reference.label, self.entry.contestant.label

    @property
    def _frames(self) -> int:
        return len(self.entry.track.frames)

    @property
    def _built(self) -> Built:
        return self.comparison.reference.built

    @cached_property
    def _triangles(self) -> NDArray[np.int32]:
        render_mesh = self._built.source.render
        return self._built.mesh.surface().triangles if render_mesh is None else render_mesh.surface.triangles

    @cached_property
    def _used(self) -> NDArray[np.int32]:
        return self._built.mesh.surface_vertices()

    def _draw_of(self, x: FloatArray) -> FloatArray:
        """Positions of the drawn surface [m], (s, 3), from those of all vertices."""
        render_mesh = self._built.source.render
        return x[self._used] if render_mesh is None else render_mesh.embedding.apply(x)

    def _full(self, place: int) -> FloatArray:
        return self._draw_of(self.comparison.track.frames[place])

    def _other(self, place: int) -> FloatArray:
        return self._draw_of(self.entry.track.frames[place])

    @cached_property
    def _bounds(self) -> Bounds:
        """The box around all that the full solver does: a contestant that leaves it leaves the picture."""
        return find_bounds(self._full(k) for k in range(len(self.comparison.track.frames)))

    def _stage(self, width: int, height: int, legend: bool, bounds: Bounds | None = None) -> RenderOptions:
        """One camera and one floor."""
        up_axis = self._built.scene.up_axis
        floor = float(self._bounds[0][axis_index(up_axis)])
        return {
            "camera": fit_camera(bounds or self._bounds, up_axis, width, height, legend),
            "ground": floor,
            "up_axis": up_axis,
            "width": width,
            "height": height,
        }

    def _heat(self, errors: list[FloatArray]) -> RenderOptions:
        """The colour scale, from no error to the largest shown."""
        top = max(float(values.max()) for values in errors)
        return {"vmin": 0.0, "vmax": top or 1e-12, "colormap": HEAT, "label": LABEL}


def _join(options: RenderOptions, more: RenderOptions) -> RenderOptions:
    return {**options, **more}


def _distance(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(x - y, axis=1))
