"""Plots of runs that skip steps: their errors in time, beside what was estimated, and which steps were full."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.bench.skip_measure import Row, Run
from supple.method import Report
from supple.picture.plot import plot_lines, plot_strips

__all__ = ["plotted", "save_plots"]

_COLOURS = ("#23272e", "#c9cdd4", "#d2694b")  # full, reduced, full and trained, as in the figures of [KJ09]
_LEAST = 1e-8  # errors below this are drawn here


def plotted(folder: Path | None, name: str, runs: Iterable[Run]) -> Iterator[Row]:
    """The rows of runs as these end, plots of all so far in a folder if there is one."""
    ended: list[Run] = []
    for one in runs:
        ended.append(one)
        save_plots(folder, name, ended)
        yield one.row


def save_plots(folder: Path | None, name: str, runs: Sequence[Run]) -> None:
    """Write NAME-error.png, NAME-estimate.png and NAME-steps.png, where a folder is given and anything was run."""
    if folder is None or not runs:
        return
    folder.mkdir(parents=True, exist_ok=True)
    errors = {one.label: _in_time(np.maximum(one.errors, _LEAST)) for one in runs}
    estimates = {one.label: _in_time(_estimates(one.reports)) for one in runs}
    strips = {one.label: _kinds(one.reports) for one in runs}
    names = ("full", "reduced", "full, basis changed")
    pictures = {
        "error": plot_lines(errors, "step", "distance from the full run", log_y=True, kind="png"),
        "estimate": plot_lines(estimates, "step", "error as estimated", log_y=True, kind="png"),
        "steps": plot_strips(strips, names, _COLOURS, "step", kind="png"),
    }
    for what, picture in pictures.items():
        (folder / f"{name}-{what}.png").write_bytes(picture)


def _in_time(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return np.arange(1, len(values) + 1), values


def _estimates(reports: Sequence[Report]) -> NDArray[np.float64]:
    """Estimated errors of reduced steps; gaps where a step was full."""
    found = [None if one.kind == "full" else one.estimated_error for one in reports]
    return np.array([np.nan if value is None else max(value, _LEAST) for value in found])


def _kinds(reports: Sequence[Report]) -> NDArray[np.int64]:
    """0 full, 1 reduced, 2 full and trained."""
    return np.array(
        [1 if one.kind == "reduced" else 2 if one.skip is not None and one.skip.learned else 0 for one in reports]
    )
