"""Subspace condensation: a figure that three walls crush and leave again, in motion [TMDK15].

Rows are those of `condense-capsule`. The subspace comes from other poses, without contact; flesh moves before skinning.
`--mesh FOLDER` takes Cheb instead, from Pinocchio's files.
"""

from pathlib import Path
from typing import Any

from supple.bench.condense_character import CASES, make_case
from supple.bench.condense_cheb import make_cheb
from supple.bench.condense_measure import measure_case
from supple.bench.condense_plots import save_plots

__all__ = ["run"]


def run(
    size: str, plot: Path | None = None, steps: int | None = None, mesh: Path | None = None
) -> list[dict[str, Any]]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""
    case = make_case("figure", size, steps) if mesh is None else make_cheb(mesh, size, steps)
    rows, tracks = measure_case(case, CASES["figure"].radii)
    save_plots(plot, "condense-figure", case, tracks)
    return rows
