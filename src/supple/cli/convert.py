"""The verb `convert`: a mesh or a recording in another format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from supple._console import Common, Console, perform
from supple.cli.facts import say_facts
from supple.cli.options import DEFAULTS

__all__ = ["convert"]


def convert(
    source: Path,
    target: Path,
    /,
    *,
    units: str | None = None,
    to_units: str | None = None,
    up_axis: Literal["y", "z"] | None = None,
    to_up_axis: Literal["y", "z"] | None = None,
    fps: float | None = None,
    frame: int | None = None,
    group: Annotated[list[str] | None, Parameter(negative="", consume_multiple=False)] = None,
    dialect: str | None = None,
    common: Common = DEFAULTS,
) -> int:
    """Turn a mesh or a recording into another format.

    Parameters
    ----------
    source
        Tetrahedra, surface or recording.
    target
        File to write, its suffix is the format.
    units
        Length unit of the source (m, cm, mm, ...), instead of what it says or else metres.
    to_units
        Length unit of the target (default: the source's; metres for .glb).
    up_axis
        Which axis points up in the source, instead of what it says or else y.
    to_up_axis
        Which axis is to point up in the target (default: the source's; y for .glb).
    fps
        Frames a second, instead of the recording's; the frames stay the same.
    frame
        Write this one frame of a recording, as a mesh.
    group
        Take only this group of a surface; may be given several times.
    dialect
        Which form of the format (.msh: 2.2 2.2-binary 4.1 4.1-binary 1; .vtu: zlib base64 raw text; .vtk .ply .stl:
        binary text).
    """
    from supple.scene.convert import Conversion, convert_file

    asked = Conversion(units, to_units, up_axis, to_up_axis, fps, frame, group or (), dialect)

    def work(console: Console) -> Mapping[str, Any]:
        facts = convert_file(source, target, asked, overwrite=common.overwrite)
        say_facts(console, facts)
        console.say(f"wrote {target}")
        return {"source": str(source), "file": str(target), **facts}

    return perform(common, "convert", work, source)
