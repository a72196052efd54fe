"""Plots of condensed runs: errors by radius, time and active share by frame, and full space in red."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.condense_measure import Case, Track
from supple.picture import Camera, find_bounds, join_pictures, render, save_picture
from supple.picture.plot import plot_lines

__all__ = ["save_plots"]

FloatArray = NDArray[np.float64]
_COLOURS = np.array([[0.72, 0.74, 0.78], [0.82, 0.2, 0.15]])  # of the subspace and of full space
_WIDTH, _HEIGHT = 380, 330  # of a picture [pixels]
_LEAST = 1e-6  # errors below this are drawn here


def save_plots(folder: Path | None, name: str, case: Case, tracks: Mapping[tuple[str, float], Track]) -> None:
    """Write NAME-error.png (Fig. 7 of [TMDK15]), NAME-time.png, NAME-share.png (Fig. 9), NAME.png (Fig. 4)
    and, of what moves, NAME-story.png (Fig. 6)."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    errors = {f"{weights} {radius:g}": _in_time(_error(case, one)) for (weights, radius), one in tracks.items()}
    errors["alone"] = _in_time(_error(case, case.alone))
    first = next(iter(tracks))[0]  # one rule of weights is enough to look at
    shown = {f"radius {radius:g}": one for (weights, radius), one in tracks.items() if weights == first}
    pictures = {
        "error": plot_lines(errors, "frame", "distance from the full run", log_y=True, kind="png"),
        "time": plot_lines(
            {label: _in_time(one.ms) for label, one in {**shown, "full space": case.full}.items()},
            "frame",
            "ms",
            log_y=True,
            kind="png",
        ),
        "share": plot_lines(
            {label: _in_time(100 * one.shares) for label, one in shown.items()}, "frame", "% full", kind="png"
        ),
    }
    for what, picture in pictures.items():
        (folder / f"{name}-{what}.png").write_bytes(picture)
    save_picture(folder / f"{name}.png", _draw(case, shown))
    if case.integrator != "static":
        save_picture(folder / f"{name}-story.png", _tell(case, next(iter(shown.values()))))


def _in_time(values: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    return np.arange(1, len(values) + 1), values


def _error(case: Case, track: Track) -> FloatArray:
    """Distance from the full run relative to its displacement, frame by frame."""
    exact, rest = case.full.x, np.array([case.find_rest(k) for k in range(len(case.inputs))])
    lost, moved = (np.sqrt(((x - exact) ** 2).sum(axis=(1, 2))) for x in (track.x, rest))
    return np.asarray(np.maximum(lost / np.maximum(moved, 1e-300), _LEAST))


def _draw(case: Case, shown: Mapping[str, Track]) -> NDArray[np.uint8]:
    """The last of the fullest frames in full space, condensed, and in the subspace alone."""
    runs = {"full space": case.full, **shown, "subspace alone": case.alone}
    triangles = case.body.mesh.surface_triangles()
    shares = np.max([one.shares for one in shown.values()], axis=0)
    last = len(shares) - 1 - int(np.argmax(shares[::-1]))
    camera = Camera.fit(find_bounds(one.x[last] for one in runs.values()), aspect=_WIDTH / _HEIGHT, azimuth=0.0)
    panels = []
    for caption, one in runs.items():
        active = np.zeros(len(case.body.mass), int)
        active[one.full[last]] = 1
        panels.append(render(
            one.x[last], triangles, camera=camera, colour=_COLOURS[active], caption=caption,
            width=_WIDTH, height=_HEIGHT,
        ))  # fmt: skip
    return join_pictures(panels)


def _tell(case: Case, track: Track) -> NDArray[np.uint8]:
    """One run: its first touch, the fullest frame, the first that nothing touches, half as full, and the last."""
    touching = np.array([report.contacts > 0 for report in track.reports])
    first, gone = int(np.argmax(touching)), len(touching) - int(np.argmax(touching[::-1]))
    fallen = np.flatnonzero(track.shares[gone:] < 0.5 * track.shares.max())
    half = gone + int(fallen[0]) if len(fallen) else len(touching) - 1
    frames = sorted({first, int(np.argmax(track.shares)), min(gone, len(touching) - 1), half, len(touching) - 1})
    triangles = case.body.mesh.surface_triangles()
    camera = Camera.fit(find_bounds(track.x[k] for k in frames), aspect=_WIDTH / _HEIGHT, azimuth=0.0)
    panels = []
    for k in frames:
        active = np.zeros(len(case.body.mass), int)
        active[track.full[k]] = 1
        caption = f"frame {k + 1}, {track.reports[k].contacts} contacts"
        panels.append(render(
            track.x[k], triangles, camera=camera, colour=_COLOURS[active], caption=caption,
            width=_WIDTH, height=_HEIGHT,
        ))  # fmt: skip
    return join_pictures(panels)
