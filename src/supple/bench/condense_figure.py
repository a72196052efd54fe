"""Subspace condensation: a figure that three walls crush and leave again, in motion [TMDK15].

Rows are those of `condense-capsule`. The subspace comes from other poses, without contact; flesh moves before skinning.
`--mesh FOLDER` takes Cheb instead, from Pinocchio's files.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.condense_character import CASES, make_case
from supple.bench.condense_cheb import make_cheb
from supple.bench.condense_measure import Case, Row
from supple.bench.condense_run import run_case

__all__ = ["run"]


def run(
    size: str, plot: Path | None = None, steps: int | None = None, mesh: Path | None = None, only: str = ""
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""

    def make() -> Case:
        return make_case("figure", size, steps) if mesh is None else make_cheb(mesh, size, steps)

    return run_case("condense-figure", make, CASES["figure"].radii, plot, only)
