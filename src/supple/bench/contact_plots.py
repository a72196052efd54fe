"""Pictures of self-contact: what it takes frame by frame, as Figs. 6 and 7 of [TOK14], and bodies with and without."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.contact_measure import Measured
from supple.picture import Camera, find_bounds, join_pictures, plot_lines, render, save_picture
from supple.rig import SkinnedRig

__all__ = ["save_contact_plots"]

_COLOURS = np.array(
    [
        [0.96, 0.63, 0.50], [0.50, 0.72, 0.90], [0.62, 0.82, 0.55], [0.93, 0.82, 0.48],
        [0.75, 0.62, 0.86], [0.86, 0.52, 0.60], [0.45, 0.76, 0.74],
    ]
)  # fmt: skip
_WIDTH, _HEIGHT = 460, 400  # of a picture [pixels]
_VIEWS = {"cylinder": (20.0, 25.0), "finger": (12.0, 12.0), "arm": (20.0, 10.0), "hand": (35.0, 15.0)}


def save_contact_plots(folder: Path | None, measured: Measured) -> None:
    """Write contact-NAME-share.png, contact-NAME-ms.png and contact-NAME.png, where a folder is given."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    name = f"contact-{measured.case.name}"
    runs = {"all contacts": measured.every, "rules": measured.rules}
    frames = np.arange(1, len(measured.rules.total) + 1)
    shares = {label: (frames, 100.0 * measured.resolve(run) / run.total) for label, run in runs.items()}
    spent = {
        f"{label}, {part}": (frames, values)
        for label, run in runs.items()
        for part, values in (("looking", run.detect), ("in all", measured.resolve(run)))
    }
    pictures = {
        "share": plot_lines(shares, "frame", "self-contact, % of the frame", kind="png"),
        "ms": plot_lines(spent, "frame", "self-contact [ms]", log_y=True, kind="png"),
    }
    for what, picture in pictures.items():
        (folder / f"{name}-{what}.png").write_bytes(picture)
    save_picture(folder / f"{name}.png", _draw(measured))


def _draw(measured: Measured) -> NDArray[np.uint8]:
    """The frame with most contacts, without contact, with rules and in full space."""
    case = measured.case
    place = int(np.argmax(measured.every.contacts[case.shown]))
    worst = case.shown[place]
    shown = [
        ("without contact", measured.free.x[worst]), ("rules", measured.rules.x[worst]),
        ("full space", measured.full.x[place]),
    ]  # fmt: skip
    azimuth, elevation = _VIEWS.get(case.name, (20.0, 15.0))
    bounds = find_bounds([x for _, x in shown])
    camera = Camera.fit(bounds, aspect=_WIDTH / _HEIGHT, azimuth=azimuth, elevation=elevation)
    triangles, colours = case.body.mesh.surface_triangles(), _colour(case.rig)
    return join_pictures(
        [
            render(x, triangles, camera=camera, colour=colours, caption=label, width=_WIDTH, height=_HEIGHT)
            for label, x in shown
        ]
    )


def _colour(rig: SkinnedRig) -> NDArray[np.float64]:
    """A colour for the flesh of every bone, (n, 3)."""
    heaviest = np.argmax(rig.influences.weights, axis=1)
    owners = rig.influences.joints[np.arange(len(heaviest)), heaviest]
    return np.asarray(_COLOURS[owners % len(_COLOURS)])
