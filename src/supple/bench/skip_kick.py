"""Skipping steps: the swinging beam is kicked sideways, by three times its weight for fifteen steps.

Nothing that was learned before holds the motion after it. At a throttle of 0.03 nothing can be skipped at all: that row
tells what looking for it costs. Not in [KJ09]; else as skip-beam.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.skip_case import make_beam
from supple.bench.skip_measure import Asked, Row, measure, warm_up
from supple.bench.skip_plots import plotted

__all__ = ["run"]

_SIZES = {"small": (2_000, 800), "paper": (16_824, 1500)}  # tets and steps
_KICKED = 0.4  # of the run
_ASKED = (Asked("paper"), Asked("paper", 2.0), Asked("checks"), Asked("checks", 3.0), Asked("checks", 0.03))


def run(
    size: str, steps: int | None = None, plot: Path | None = None, only: str = "", reference: int | None = None
) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", of so many steps, `reference` of them in full space; plots in a
    folder.

    Rows are asked for by estimator and throttle.
    """
    tets, usual = _SIZES[size]
    steps = steps or usual
    warm_up(make_beam(300, 40), _ASKED)
    case = make_beam(tets, steps, kick=0.01 * int(_KICKED * steps))
    yield from plotted(plot, "skip-kick", measure(case, _ASKED, only, reference))
