"""The verb `train`: a reduced model of a scene."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from supple._console import Common, perform
from supple.cli.options import DEFAULTS, AllowCode, given

__all__ = ["train"]


def train(
    scene: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    tolerance: float | None = None,
    rank: int | None = None,
    elements: int | None = None,
    cases: int | None = None,
    units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    allow_code: AllowCode = False,
    common: Common = DEFAULTS,
) -> int:
    """Train a reduced model of a scene to a wanted accuracy.

    Parameters
    ----------
    scene
        Scene file (.toml), or a mesh that then stands on its lowest 5 % under gravity.
    output
        Model to write (default: NAME.model.npz beside the scene, where run finds it).
    tolerance
        Error against the full solver on motions not trained on, such as 0.01.
    rank
        Size of the subspace, instead of what the tolerance needs.
    elements
        Most elements to take forces from, instead of what the tolerance needs.
    cases
        Motions to learn from.
    units
        Length unit of the scene and its files (m, cm, mm, ...).
    up_axis
        Which axis points up.
    allow_code
        Run the Python files that the scene names, and remember that these may be run as they are.
    """
    from supple.scene.training_launch import launch_training

    method = given({"tolerance": tolerance, "rank": rank, "elements": elements})
    training = {"cases": cases, "seed": common.seed}
    changes = given({"units": units, "up_axis": up_axis, "training": training})
    return perform(
        common,
        "train",
        lambda console: launch_training(
            scene,
            output,
            changes,
            method,
            console.listener,
            console.say,
            console.warn,
            allow_code=allow_code,
            overwrite=common.overwrite,
        ),
        scene,
    )
