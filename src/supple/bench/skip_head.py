"""Skipping steps: a hollow head of flesh looks about on its neck, one equilibrium after another.

The head of [KJ09] (Fig. 1): displacements are those before skinning, the neck turns by bones.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.skip_case import make_head
from supple.bench.skip_figures import HEAD, RICH_HEAD
from supple.bench.skip_measure import Asked, Row, fill, measure, warm_up
from supple.bench.skip_plots import plotted

__all__ = ["run", "run_head"]

_SIZES = {"small": 4_000, "paper": 165_941}  # tets
_STEPS = {"small": (200, 100), "paper": (1000, 600)}  # of the calm head and of the one that shakes
_ASKED = (Asked("paper"), Asked("paper", 1.5), Asked("checks"), Asked("checks", 3.0))


def run(
    size: str, steps: int | None = None, plot: Path | None = None, only: str = "", reference: int | None = None
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", of so many steps, `reference` of them in full space; plots in a
    folder.

    Rows are asked for by estimator and throttle.
    """
    return run_head(size, steps, plot, only, reference, rich=False)


def run_head(
    size: str, steps: int | None, plot: Path | None, only: str, reference: int | None, *, rich: bool
) -> Iterator[Row]:
    """The head that looks about, or the one that shakes."""
    warm_up(make_head(1_000, 20, rich=rich), _ASKED)
    yield from map(fill, RICH_HEAD if rich else HEAD)
    case = make_head(_SIZES[size], steps or _STEPS[size][rich], rich=rich)
    yield from plotted(plot, "skip-head-rich" if rich else "skip-head", measure(case, _ASKED, only, reference))
