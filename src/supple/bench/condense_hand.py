"""Subspace condensation: a hand whose fingers meet as they never did in training [TMDK15].

Rows are those of `condense-capsule`. The subspace comes from other poses, without contact; flesh moves before skinning.
"""

from pathlib import Path
from typing import Any

from supple.bench.condense_character import CASES, make_case
from supple.bench.condense_measure import measure_case
from supple.bench.condense_plots import save_plots

__all__ = ["run"]


def run(size: str, plot: Path | None = None, steps: int | None = None) -> list[dict[str, Any]]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""
    case = make_case("hand", size, steps)
    rows, tracks = measure_case(case, CASES["hand"].radii)
    save_plots(plot, "condense-hand", case, tracks)
    return rows
