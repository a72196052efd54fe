"""Skipping steps: a thin beam that swings for the whole run, by the paper's estimator and by the default.

The beam of [KJ09] (Fig. 3), lighter so that it keeps swinging; what is measured is said in bench/skip_measure.py.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.skip_case import make_beam
from supple.bench.skip_figures import BEAM
from supple.bench.skip_measure import Asked, Row, fill, measure, warm_up
from supple.bench.skip_plots import plotted

__all__ = ["run"]

_SIZES = {"small": (2_000, 600), "paper": (16_824, 1500)}  # tets and steps
_ASKED = (Asked("paper"), Asked("paper", 2.0), Asked("checks"))


def run(
    size: str, steps: int | None = None, plot: Path | None = None, only: str = "", reference: int | None = None
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", of so many steps, `reference` of them in full space; plots in a
    folder.

    Rows are asked for by estimator and throttle.
    """
    tets, usual = _SIZES[size]
    warm_up(make_beam(300, 40), _ASKED)
    yield from map(fill, BEAM)
    yield from plotted(plot, "skip-beam", measure(make_beam(tets, steps or usual), _ASKED, only, reference))
