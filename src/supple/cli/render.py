"""The verb `render`: pictures and films of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from supple._console import Common, Console, perform
from supple.cli.options import DEFAULTS, Output

__all__ = ["render"]


def render(
    cache: Path,
    /,
    *,
    output: Output,
    frame: int | None = None,
    strip: int | None = None,
    field: Literal["displacement", "velocity", "J", "von_mises", "contact_force", "contact_depth"] | None = None,
    width: int | None = None,
    height: int | None = None,
    edges: Annotated[bool, Parameter(negative="")] = False,
    common: Common = DEFAULTS,
) -> int:
    """Draw a recorded run (or a mesh) without a display.

    Parameters
    ----------
    cache
        Recording (.usdc .usda .npz .pvd .glb .pc2 .mdd .obj) or mesh.
    output
        Picture (.png) or film (.gif .mp4).
    frame
        Frame of a single picture (default: the last).
    strip
        So many frames side by side instead.
    field
        Values that colour the surface.
    width
        Width in pixels, of each picture in a strip.
    height
        Height in pixels.
    edges
        Draw the triangles' edges.
    """
    from supple.scene.draw import Drawing, draw_recording

    def work(console: Console) -> Mapping[str, Any]:
        facts = draw_recording(
            cache, output, Drawing(frame, strip, field, width, height, edges), overwrite=common.overwrite
        )
        if facts["replaced"] is not None:
            console.say(str(facts["replaced"]))
        console.say(f"wrote {output}")
        return {**facts, "file": str(output)}

    return perform(common, "render", work, cache)
