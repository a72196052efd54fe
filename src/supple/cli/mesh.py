"""The verb `mesh`: tetrahedra for a surface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from supple._console import Common, Console, perform
from supple.cli.facts import say_facts
from supple.cli.options import DEFAULTS, Output

__all__ = ["mesh"]


def mesh(
    surface: Path,
    /,
    *,
    output: Output,
    resolution: int | None = None,
    elements: int | None = None,
    conforming: Annotated[bool, Parameter(negative="")] = False,
    seconds: float = 300.0,
    gigabytes: float = 8.0,
    common: Common = DEFAULTS,
) -> int:
    """Fill a surface with tetrahedra.

    Parameters
    ----------
    surface
        Surface file (.obj .ply .off .stl .glb .usdc ...); holes and crossings do no harm.
    output
        Tetrahedra to write (.msh .mesh .vtu .npz .vtk .veg .ele .usdc ...).
    resolution
        Cells along the longest side.
    elements
        Number of tetrahedra to aim at (default 5000).
    conforming
        Keep to the surface, sharp edges included: needs the extra `mesh`; a surface it cannot take is repaired,
        then filled as without this.
    seconds
        Most time that the conforming mesher may take.
    gigabytes
        Most memory that the conforming mesher may take.
    """
    from supple.mesh import ConformLimits
    from supple.scene.fill import fill_surface

    def work(console: Console) -> Mapping[str, Any]:
        limits = ConformLimits(seconds, int(gigabytes * 2**30)) if conforming else None
        facts = fill_surface(
            surface, output, resolution, elements, console.listener.say, limits, overwrite=common.overwrite
        )
        say_facts(console, facts)
        console.say(f"wrote {output}")
        return {"file": str(output), **facts}

    return perform(common, "mesh", work, surface)
