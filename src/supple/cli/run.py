"""The verb `run`: simulate a scene, a mesh or a character; go on from a checkpoint, feed in events."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from supple._console import Common, perform
from supple.cli.options import DEFAULTS, AllowCode, Method, Outputs, absolute, given

__all__ = ["run"]


def run(
    scene: Path,
    /,
    *,
    output: Outputs = None,
    method: Method | None = None,
    model: Path | None = None,
    save_model: Path | None = None,
    frames: int | None = None,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    resume: Annotated[bool, Parameter(negative="")] = False,
    replay: Path | None = None,
    write_scene: Path | None = None,
    allow_code: AllowCode = False,
    common: Common = DEFAULTS,
) -> int:
    """Simulate a scene, or a mesh or rigged character with default settings.

    Parameters
    ----------
    scene
        Scene file (.toml), a mesh that then stands on its lowest 5 % under gravity, or a rigged character (.glb .usd).
    output
        File to write, its suffix is the format (.usdc .usda .npz .pvd .glb .pc2 .mdd .obj); may be given several times.
    method
        Use this method instead of the scene's; a reduced one is trained first where no model is found, projective and
        hyperreduced need no training.
    model
        Trained model (.npz) for a reduced method (default: NAME.model.npz beside the scene), or for skipping to begin
        with.
    save_model
        Leave what skipping has learned as a model (.npz), for later runs of the same body.
    frames
        Simulate so many frames instead of the scene's number.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    resume
        Go on from the checkpoint that a stopped run left.
    replay
        Events to feed in, one JSON object a line: {"frame": 12, "event": {...}}.
    write_scene
        Save the scene that is run as a .toml file.
    allow_code
        Run the Python files that the scene names, and remember that these may be run as they are.
    """
    from supple.scene.launch import Launch, launch

    tables = {
        "time": {"frames": frames},
        "method": {"model": absolute(model), "save": absolute(save_model)},
        "training": {"seed": common.seed},
    }
    changes = given({"units": units, "up_axis": up_axis, **tables})
    json = None if common.json in (None, "-") else Path(str(common.json))
    detailed = common.verbose > 0
    asked = Launch(
        scene, output or (), changes, method, resume, replay, write_scene, json, allow_code, common.overwrite, detailed
    )
    return perform(
        common, "run", lambda console: launch(asked, console.listener, console.say, console.warn), scene, method or ""
    )
