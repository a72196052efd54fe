"""Subspace condensation: a hand whose fingers meet as they never did in training [TMDK15].

Rows are those of `condense-capsule`. The subspace comes from other poses, without contact; flesh moves before skinning.
`--mesh FOLDER` takes the stand-in hand and its recorded poses instead, with rules for the contacts of those it learned
from, after a row with the figures of the authors' own code there.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.condense_character import CASES, make_case
from supple.bench.condense_measure import Case, Row
from supple.bench.condense_run import run_case
from supple.bench.condense_standin import AUTHORS, make_standin

__all__ = ["run"]


def run(
    size: str, plot: Path | None = None, steps: int | None = None, mesh: Path | None = None, only: str = ""
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""

    def make() -> Case:
        return make_case("hand", size, steps) if mesh is None else make_standin(mesh, size, steps)

    if mesh is not None:
        yield AUTHORS
    yield from run_case("condense-hand", make, CASES["hand"].radii, plot, only)
