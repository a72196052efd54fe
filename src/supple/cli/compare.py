"""The verb `compare`: a scene under the full solver and a reduced one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from supple._console import Common, perform
from supple.cli.options import DEFAULTS, AllowCode, Method, given

__all__ = ["compare"]


def compare(
    scene: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    method: Method | None = None,
    frames: int | None = None,
    models: Annotated[list[Path] | None, Parameter(negative="", consume_multiple=True)] = None,
    pareto: Annotated[bool, Parameter(negative="")] = False,
    plots: Path | None = None,
    film: Annotated[bool, Parameter(negative="")] = False,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    allow_code: AllowCode = False,
    common: Common = DEFAULTS,
) -> int:
    """Run a scene under the full solver and a reduced one: error and time per frame, on a page.

    Parameters
    ----------
    scene
        Scene file (.toml), or a mesh that then stands on its lowest 5 % under gravity.
    output
        Page to write (default: NAME.compare.html).
    method
        Hold this method against the full solver (default: the scene's, or reduced).
    frames
        Simulate so many frames instead of the scene's number.
    models
        Trained models (.npz) to compare, instead of the scene's own.
    pareto
        Also train to looser and tighter accuracies and compare these.
    plots
        Folder that gets every plot as an .svg file too.
    film
        Show a film of both motions on the page.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    allow_code
        Run the Python files that the scene names, and remember that these may be run as they are.
    """
    from supple.scene.compare_launch import Asked, launch_comparison

    tables = {"time": {"frames": frames}, "training": {"seed": common.seed}}
    changes = given({"units": units, "up_axis": up_axis, **tables})
    asked = Asked(scene, output, changes, method, models or (), pareto, plots, film, allow_code, common.overwrite)
    return perform(
        common,
        "compare",
        lambda console: launch_comparison(asked, console.listener, console.say, console.warn),
        scene,
        method or "",
    )
