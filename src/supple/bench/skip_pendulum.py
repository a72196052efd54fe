"""Skipping steps: four fused bodies hang from the uppermost and are pushed from the side at steps 70 to 80.

The pendulum of [KJ09] (Fig. 4) is of armadillos: give one with `--mesh`, a built-in creature takes its place. At a
throttle of 5 the tolerance is the paper's own for this scene.
"""

from collections.abc import Iterator
from pathlib import Path

from supple.bench.skip_case import make_pendulum
from supple.bench.skip_figures import PENDULUM
from supple.bench.skip_measure import Asked, Row, fill, measure, warm_up
from supple.bench.skip_plots import plotted

__all__ = ["run"]

_SIZES = {"small": (2_000, 300), "paper": (64_275, 1500)}  # tets and steps
_ASKED = (Asked("paper"), Asked("checks"), Asked("checks", 5.0))


def run(
    size: str, mesh: Path | None = None, steps: int | None = None, plot: Path | None = None, only: str = "",
    reference: int | None = None,
) -> Iterator[Row]:  # fmt: skip
    """Rows of the benchmark at size "small" or "paper", of so many steps, `reference` of them in full space, for a body
    of a file; plots in a folder.

    Rows are asked for by estimator and throttle.
    """
    tets, usual = _SIZES[size]
    warm_up(make_pendulum(1_000, 40), _ASKED)
    yield from map(fill, PENDULUM)
    case = make_pendulum(tets, steps or usual, mesh)
    yield from plotted(plot, "skip-pendulum", measure(case, _ASKED, only, reference))
