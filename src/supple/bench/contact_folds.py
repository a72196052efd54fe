"""Folded shapes with and without contact: a capsule bent double, a C pressed shut, a finger made a fist.

Each is brought there in half a second and held until it rests. `depth` is how deep the body lies in itself then, in
mean edges of its surface; `settled` is the share of frames whose contacts a further look would not have changed, and
`speed` the root of the mean square over the mass at the end, in body lengths a second. `--plot FOLDER` draws them.
"""

import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact import SelfContact
from supple.errors import SuppleWarning
from supple.io import save_tets
from supple.mesh import tetrahedralise
from supple.picture import Camera, find_bounds, join_pictures, render, save_picture, stack_pictures
from supple.scene.build import build_scene
from supple.scene.load import override, parse_scene
from supple.scene.simulate import simulate
from supple.scene.stage import Built
from supple.shape.distance import tube

__all__ = ["run"]

FloatArray = NDArray[np.float64]
Row = dict[str, Any]

_RESOLUTION = {"small": (18, 20, 24), "paper": (32, 36, 36)}  # cells along the longest side: capsule, C, finger
_FRAMES, _FPS, _REACHED = 36, 24, 0.5  # [s] when a fold is reached
_FLESH = {"young": 1e5, "poisson": 0.3, "density": 1000, "damping_stiffness": 0.01, "damping_mass": 4.0}
_RADIUS, _THICK, _OPEN = 0.1, 0.035, 45.0  # of the C [m], [m]; half its opening, seen from its middle [degrees]
_SHUT = 0.05  # way of each of its sides [m]
_HALVES = np.array([[0.96, 0.63, 0.50], [0.50, 0.72, 0.90]])  # colours
_WIDTH, _HEIGHT = 330, 300  # of a picture [pixels]


class _Ended(NamedTuple):
    """A fold as it rests."""

    built: Built
    x: FloatArray
    row: Row


def run(size: str, plot: Path | None = None) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper"; a strip of pictures in a folder."""
    capsule, c_shape, finger = _RESOLUTION[size]
    with tempfile.TemporaryDirectory() as folder:
        scenes = {
            "capsule": _bend_capsule(capsule),
            "C": _close_c(c_shape, Path(folder) / "c.npz"),
            "finger": _make_fist(finger),
        }
        pairs = [[_play(name, scene, contact) for contact in (False, True)] for name, scene in scenes.items()]
    if plot is not None:
        plot.mkdir(parents=True, exist_ok=True)
        columns = [_draw_pair(*pair) for pair in pairs]
        save_picture(plot / "contact-folds.png", join_pictures(columns))
    return [one.row for pair in pairs for one in pair]


def _bend_capsule(resolution: int) -> Row:
    """Both ends are turned by 90 degrees, held by the outer side of the bend."""

    def hand(side: int) -> Row:
        box = np.sort([[side * 0.26, -0.07, -0.07], [side * 0.12, -0.03, 0.07]], axis=0).tolist()
        keys = [{"t": 0.0, "degrees": 0}, {"t": _REACHED, "degrees": 90 * side}]
        return {"select": {"box": box}, "turn": {"axis": "z", "about": [0.0, 0.015, 0.0], "keys": keys}}

    shape = {"shape": "capsule", "size": {"length": 0.5, "radius": 0.06}, "resolution": resolution}
    return {"mesh": shape, "pin": [hand(-1), hand(1)]}


def _close_c(resolution: int, file: Path) -> Row:
    """Held above and below, it is pressed until its ends, which are free, would pass each other."""
    angles = np.radians(np.linspace(_OPEN, 360.0 - _OPEN, 25))
    arc = _RADIUS * np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    save_tets(file, tetrahedralise(tube(*((point, _THICK) for point in arc)), resolution, None))
    high = _RADIUS + 0.4 * _THICK

    def press(side: int) -> Row:
        box = np.sort([[-0.03, side * high, -1.0], [0.03, side * 1.0, 1.0]], axis=0).tolist()
        keys = [{"t": 0.0, "by": [0, 0, 0]}, {"t": _REACHED, "by": [0, -side * _SHUT, 0]}]
        return {"select": {"box": box}, "move": keys}

    return {"mesh": {"file": str(file)}, "pin": [press(-1), press(1)]}


def _make_fist(resolution: int) -> Row:
    keys = [{"t": 0.0}, {"t": _REACHED, "pose": "fist"}]
    return {"mesh": {"shape": "finger", "resolution": resolution}, "rig": {}, "motion": {"keys": keys}}


def _play(name: str, scene: Row, contact: bool) -> _Ended:
    """The scene run to its end."""
    shared = {"gravity": False, "time": {"fps": _FPS, "frames": _FRAMES, "substeps": 2}, "material": _FLESH}
    built = build_scene(parse_scene(override({**shared, **scene}, {"contact": {"self": contact}})))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # frames that do not settle are counted
        *before, last = simulate(built)
    x, v, _ = built.solver.to_full(last.state)
    rows = [one.row for one in (*before, last) if one.row is not None]
    surface, mass = built.mesh.surface(), built.body.mass
    length = float(np.ptp(built.mesh.vertices, axis=0).max())
    row = {
        "case": name, "contact": contact, "tets": len(built.mesh.tets), "contacts": rows[-1].contacts,
        "depth": float(SelfContact(built.mesh).find(x).depth.max(initial=0.0)) / surface.mean_edge(),
        "settled": sum(row.contact_settled for row in rows) / len(rows),
        "speed": float(np.sqrt(mass @ (v**2).sum(axis=1) / mass.sum())) / length,
    }  # fmt: skip
    return _Ended(built, x, row)


def _draw_pair(without: _Ended, within: _Ended) -> NDArray[np.uint8]:
    """A fold without contact, and below it with, the halves of the body in two colours."""
    rest = without.built.mesh.vertices
    across = rest[:, 1] if without.row["case"] == "C" else rest[:, 0]
    colours = _HALVES[(across > 0.0).astype(int)]
    camera = Camera.fit(find_bounds([without.x, within.x]), aspect=_WIDTH / _HEIGHT, azimuth=10.0, elevation=10.0)
    triangles = without.built.mesh.surface_triangles()
    return stack_pictures(
        [
            render(one.x, triangles, camera=camera, colour=colours, caption=caption, width=_WIDTH, height=_HEIGHT)
            for one, caption in (
                (without, f"{without.row['case']}, without contact"),
                (within, f"{within.row['case']}, with contact"),
            )
        ]
    )
