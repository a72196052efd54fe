"""Skipping steps: the head shakes, as if to be rid of a bee, about all axes and never the same way twice.

The richer motion of [KJ09] (its video); else as skip-head.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.skip_head import run_head
from supple.bench.skip_measure import Row

__all__ = ["run"]


def run(
    size: str, steps: int | None = None, plot: Path | None = None, only: str = "", reference: int | None = None
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", of so many steps, `reference` of them in full space; plots in a
    folder.

    Rows are asked for by estimator and throttle.
    """
    return run_head(size, steps, plot, only, reference, rich=True)
