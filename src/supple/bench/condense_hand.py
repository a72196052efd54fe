"""Subspace condensation: a hand whose fingers meet as they never did in training [TMDK15].

Rows are those of `condense-capsule`. The subspace comes from other poses, without contact; flesh moves before skinning.
`--mesh FOLDER` takes the stand-in hand and its recorded poses instead, with rules for the contacts of those it learned
from, after a row with the figures of the authors' own code there.
"""

from pathlib import Path
from typing import Any

from supple.bench.condense_character import CASES, make_case
from supple.bench.condense_measure import measure_case
from supple.bench.condense_plots import save_plots
from supple.bench.condense_standin import AUTHORS, make_standin

__all__ = ["run"]


def run(
    size: str, plot: Path | None = None, steps: int | None = None, mesh: Path | None = None
) -> list[dict[str, Any]]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""
    case = make_case("hand", size, steps) if mesh is None else make_standin(mesh, size, steps)
    rows, tracks = measure_case(case, CASES["hand"].radii)
    save_plots(plot, "condense-hand", case, tracks)
    return rows if mesh is None else [AUTHORS, *rows]
