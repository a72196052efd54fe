"""Skipping steps: the beam and the head on finer meshes and with shorter steps, beside Tables 1 and 2 of [KJ09].

The time that is simulated stays the same, so half as long steps are twice as many. `case` says which body.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from supple.bench.only import is_asked
from supple.bench.skip_case import Case, make_beam, make_head
from supple.bench.skip_figures import TABLE_1, TABLE_2
from supple.bench.skip_measure import Asked, Row, fill, measure, warm_up

__all__ = ["list_runs", "run"]


class _Study(NamedTuple):
    tets: tuple[int, ...]
    halvings: int
    """Of the step, on the coarsest mesh."""
    steps: int


_BEAM = {"small": _Study((640, 1_104), 2, 300), "paper": _Study((640, 1_104, 16_824, 160_000), 3, 1500)}
_HEAD = {"small": _Study((1_500, 3_000), 2, 60), "paper": _Study((20_256, 165_941), 3, 1000)}
_ASKED = (Asked("paper"), Asked("checks"))


def run(size: str, steps: int | None = None, only: str = "", reference: int | None = None) -> Iterator[Row]:
    """Rows of the benchmark at size "small" or "paper", of so many of the longest steps, `reference` of all in full
    space.

    Rows are asked for by case, estimator and throttle, tets as they were asked for and step in seconds.
    """
    warm_up(make_beam(300, 40), _ASKED)
    warm_up(make_head(1_000, 20), _ASKED)
    yield from (fill({**row, "case": "beam"}) for row in TABLE_1)
    for tets, dt, count in list_runs(_BEAM[size], steps):
        yield from _measure("beam", partial(make_beam, tets, count, dt, error=dt), (tets, dt), only, reference)
    yield from (fill({**row, "case": "head"}) for row in TABLE_2)
    for tets, dt, count in list_runs(_HEAD[size], steps):
        yield from _measure("head", partial(make_head, tets, count, dt, error=1e-4), (tets, dt), only, reference)


def list_runs(study: _Study, steps: int | None) -> list[tuple[int, float, int]]:
    """Tets, step [s] and number of steps: first finer meshes, then shorter steps on the coarsest."""
    usual = steps or study.steps
    in_space = [(tets, 0.01, usual) for tets in study.tets]
    return in_space + [(study.tets[0], 0.01 / 2**k, usual * 2**k) for k in range(1, study.halvings + 1)]


def _measure(
    name: str, make: Callable[[], Case], which: tuple[int, float], only: str, reference: int | None
) -> Iterator[Row]:
    asked = [one for one in _ASKED if is_asked(only, name, one.estimator, one.throttle, *which)]
    runs = measure(make(), asked, reference=reference) if asked else ()
    yield from (fill({**one.row, "case": name}) for one in runs)
