"""Subspace condensation: a large character pats its belly [TMDK15].

Rows are those of `condense-capsule`. The subspace comes from other poses, without contact; flesh moves before skinning.
`--mesh FOLDER` takes the Yeti of Yeti.gltf instead.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.condense_character import CASES, make_case
from supple.bench.condense_measure import Case, Row
from supple.bench.condense_run import run_case
from supple.bench.condense_yeti import make_yeti

__all__ = ["run"]


def run(
    size: str, plot: Path | None = None, steps: int | None = None, mesh: Path | None = None, only: str = ""
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", with so many frames; plots in a folder."""

    def make() -> Case:
        return make_case("pat", size, steps) if mesh is None else make_yeti("pat", mesh, size, steps)

    return run_case("condense-pat", make, CASES["pat"].radii, plot, only)
