"""Skipping steps: a thin beam that swings for the whole run, by the paper's estimator and by the default.

The beam of [KJ09] (Fig. 3), lighter so that it keeps swinging; what is measured is said in bench/skip_measure.py.
"""

from pathlib import Path

from supple.bench.skip_case import make_beam
from supple.bench.skip_figures import BEAM
from supple.bench.skip_measure import Asked, Row, fill, measure, warm_up
from supple.bench.skip_plots import save_plots

__all__ = ["run"]

_SIZES = {"small": (2_000, 600), "paper": (16_824, 1500)}  # tets and steps
_ASKED = (Asked("paper"), Asked("paper", 2.0), Asked("checks"))


def run(size: str, steps: int | None = None, plot: Path | None = None) -> list[Row]:
    """Rows of the benchmark at size "small" or "paper", of so many steps; plots in a folder."""
    tets, usual = _SIZES[size]
    warm_up(make_beam(300, 40), _ASKED)
    runs = measure(make_beam(tets, steps or usual), _ASKED)
    save_plots(plot, "skip-beam", runs)
    return [*map(fill, BEAM), *(one.row for one in runs)]
