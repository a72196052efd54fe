"""The plots of a comparison: error and time over the frames, what training found, error against speed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from supple.picture import plot_lines, plot_points
from supple.scene.compare import Comparison, Entry

__all__ = ["Plot", "make_plots"]

Lines = dict[str, tuple[Sequence[float], Sequence[float]]]
HEIGHT = 300


@dataclass(frozen=True)
class Plot:
    """A plot's SVG files for bright and for dark pages."""

    caption: str
    bright: bytes
    dark: bytes


def make_plots(comparison: Comparison) -> dict[str, Plot]:
    """All plots for which there are numbers, by name."""
    makers = {
        "error": _plot_error,
        "distance": _plot_distance,
        "time": _plot_time,
        "pareto": _plot_pareto,
        "singular_values": _plot_singular_values,
        "rank": _plot_rank,
        "cubature": _plot_cubature,
    }
    made = {name: make(comparison) for name, make in makers.items()}
    return {name: plot for name, plot in made.items() if plot is not None}


def _draw(caption: str, draw: Callable[[bool], bytes]) -> Plot:
    return Plot(caption, draw(False), draw(True))


def _plot(lines: Lines, xlabel: str, ylabel: str, caption: str) -> Plot | None:
    """Lines, on a logarithmic scale where every value is above zero; None without lines."""
    if not lines:
        return None
    log = min(value for _, line in lines.values() for value in line) > 0.0
    few = max(len(x) for x, _ in lines.values()) <= 12  # a line alone would hide where the points are
    return _draw(
        caption, lambda dark: plot_lines(lines, xlabel, ylabel, log_y=log, markers=few, height=HEIGHT, dark=dark)
    )


def _seconds(entry: Entry) -> list[float]:
    return [row.time for row in entry.track.rows]


def _measured(comparison: Comparison) -> list[tuple[Entry, Any]]:
    return [(entry, entry.errors) for entry in comparison.entries if entry.errors is not None]


def _plot_error(comparison: Comparison) -> Plot | None:
    found = _measured(comparison)
    lines: Lines = {entry.contestant.label: (_seconds(entry), errors.by_frame.tolist()) for entry, errors in found}
    tolerance = comparison.entries[0].tolerance
    if found and tolerance is not None:
        times = [row.time for row in comparison.track.rows]
        lines[f"asked for: {tolerance:g}"] = ([times[0], times[-1]], [tolerance, tolerance])
    caption = (
        "Relative error: root of the mass-weighted mean square distance from the full solver, over that of the motion."
    )
    return _plot(lines, "time [s]", "relative error", caption)


def _plot_distance(comparison: Comparison) -> Plot | None:
    lines: Lines = {
        entry.contestant.label: (_seconds(entry), errors.greatest.tolist()) for entry, errors in _measured(comparison)
    }
    return _plot(lines, "time [s]", "largest distance [m]", "Distance of the vertex that is furthest off.")


def _plot_time(comparison: Comparison) -> Plot | None:
    lines: Lines = {
        comparison.reference.label: ([row.time for row in comparison.track.rows], comparison.track.frame_ms.tolist())
    }
    for entry in comparison.entries:
        if entry.track.rows:
            lines[entry.contestant.label] = (_seconds(entry), entry.track.frame_ms.tolist())
    return _plot(lines, "time [s]", "ms per frame", "Online cost of every frame, lifted positions included.")


def _plot_pareto(comparison: Comparison) -> Plot | None:
    """Error over cost; full solvers stand at Newton's tolerance, below which they do not agree themselves."""
    tolerance = comparison.newton_tolerance
    trials = comparison.trials or {comparison.reference.label: comparison.track.ms_per_frame}
    points = {f"full, {name}": (spent, tolerance) for name, spent in trials.items()}
    for entry, errors in _measured(comparison):
        points[entry.contestant.label] = (entry.track.ms_per_frame, max(errors.relative, tolerance))
    caption = (
        "Error against cost. Full solvers, tried on the first frames, stand at Newton's tolerance; no error is drawn "
        "below it."
    )
    return _draw(
        caption,
        lambda dark: plot_points(
            points, "ms per frame", "relative error", log_x=True, log_y=True, height=HEIGHT + 40, dark=dark
        ),
    )


def _curves(comparison: Comparison, key: str, across: str, up: str) -> Lines:
    """Curves that training noted under `key`: two lists by name, or one of numbers counted from 1; zeros left out."""
    lines: Lines = {}
    for entry in comparison.entries:
        noted = entry.contestant.facts.get(key) or []
        pairs = zip(noted[across], noted[up], strict=True) if isinstance(noted, Mapping) else enumerate(noted, 1)
        kept = [(x, y) for x, y in pairs if y is not None and y > 0.0]
        if kept:
            lines[entry.contestant.label] = ([x for x, _ in kept], [y for _, y in kept])
    return lines


def _plot_singular_values(comparison: Comparison) -> Plot | None:
    lines = _curves(comparison, "singular_values", "number", "value")
    return _plot(lines, "number", "singular value", "Singular values of the training snapshots.")


def _plot_rank(comparison: Comparison) -> Plot | None:
    lines = _curves(comparison, "error_by_rank", "rank", "error")
    return _plot(lines, "rank", "share missed", "What the basis misses of held-out motions, against its rank.")


def _plot_cubature(comparison: Comparison) -> Plot | None:
    lines = _curves(comparison, "error_by_size", "elements", "error")
    return _plot(lines, "elements", "residual", "Held-out residual of the cubature rules tried.")
