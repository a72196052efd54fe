"""The verb `view`: a scene live in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from supple._console import Common, perform
from supple.cli.options import DEFAULTS, AllowCode, Method, absolute, given

__all__ = ["view"]


def view(
    file: Path,
    /,
    *,
    method: Method | None = None,
    model: Path | None = None,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    open_: Annotated[bool, Parameter(name="--open")] = True,
    play: bool = True,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path(),
    allow_code: AllowCode = False,
    common: Common = DEFAULTS,
) -> int:
    """Play a scene in the browser: pull at it, change it, record it; or look at a recording.

    Parameters
    ----------
    file
        Scene file (.toml), a mesh that then stands on its lowest 5 % under gravity, or a recording.
    method
        Use this method instead of the scene's.
    model
        Trained model (.npz) for a reduced method (default: NAME.model.npz beside the scene).
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    host
        Address to listen at; the default can only be reached from this machine.
    port
        Port to listen at (default: any that is free).
    open_
        Open the page in the browser.
    play
        Begin to play as soon as the page is open.
    output
        Folder for what is recorded (default: this one).
    allow_code
        Run the Python files that the scene names, and remember that these may be run as they are.
    """
    from supple.view.launch import Look, view_file

    tables = {"method": {"model": absolute(model)}, "training": {"seed": common.seed}}
    changes = given({"units": units, "up_axis": up_axis, **tables})
    look = Look(file, changes, method, host, port, open_, play, output, allow_code, common.overwrite, common.threads)
    return perform(common, "view", lambda console: view_file(look, console.listener, console.say, console.warn), file)
