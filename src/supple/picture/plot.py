"""Line, bar and point plots in one quiet style."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import OutputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bars", "plot_lines", "plot_points", "plot_strips"]

Kind = Literal["png", "svg"]
_COLOURS = {
    False: ("#d2694b", "#2f7f93", "#8a6bb0", "#c79a2b", "#5b8c5a", "#7a808a", "#a8477c", "#3f4494"),
    True: ("#ee9075", "#5fb3c6", "#b79bdb", "#e2bd5c", "#8fbf8d", "#a6adb8", "#d98ab4", "#9296e6"),
}
_INK = {
    False: ("#3b4049", "#8b919c", "#e7e9ed", "#ffffff"),
    True: ("#d5d9e0", "#8b919c", "#343a45", "#1c2027"),
}
_DOTS_PER_INCH = 100


def plot_lines(
    series: Mapping[str, tuple[ArrayLike, ArrayLike]],
    xlabel: str,
    ylabel: str,
    *,
    title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    markers: bool = False,
    width: int = 760,
    height: int = 400,
    kind: Kind = "svg",
    dark: bool = False,
) -> bytes:
    """Plot file of named lines, each (x, y); width and height in pixels, twice as many dots for "png"."""
    with _draw_figure(title, width, height, kind, dark) as (axes, stream):
        for name, (x, y) in series.items():
            across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
            if across.ndim != 1 or across.shape != up.shape:
                raise OutputError(f'Line "{name}" has shapes {across.shape} and {up.shape}: give as many x as y.')
            axes.plot(across, up, label=name, marker="o" if markers else None)
        _set_scales(axes, log_x, log_y)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.margins(x=0.02)
        if not log_x and all((np.asarray(x, dtype=np.float64) % 1.0 == 0.0).all() for x, _ in series.values()):
            axes.locator_params(axis="x", integer=True)  # counts are marked at whole numbers
        _add_legend(axes, len(series))
    return stream.getvalue()


def plot_bars(
    labels: Sequence[str],
    series: Mapping[str, ArrayLike],
    ylabel: str,
    *,
    title: str | None = None,
    log_y: bool = False,
    width: int = 760,
    height: int = 400,
    kind: Kind = "svg",
    dark: bool = False,
) -> bytes:
    """Plot file of bars: one group per label, in it one bar per named series of len(labels) heights."""
    with _draw_figure(title, width, height, kind, dark) as (axes, stream):
        place = np.arange(len(labels), dtype=np.float64)
        breadth = 0.72 / max(len(series), 1)
        for k, (name, heights) in enumerate(series.items()):
            tops = np.asarray(heights, dtype=np.float64)
            if tops.shape != place.shape:
                raise OutputError(f'Bars "{name}" have shape {tops.shape} for {len(labels)} labels: give one each.')
            axes.bar(place + (k - 0.5 * (len(series) - 1)) * breadth, tops, 0.9 * breadth, label=name)
        _set_scales(axes, False, log_y)
        axes.set_xticks(place, labels)
        axes.tick_params(axis="x", length=0)
        axes.grid(visible=False, axis="x")
        axes.set_ylabel(ylabel)
        _add_legend(axes, len(series))
    return stream.getvalue()


def plot_points(
    points: Mapping[str, tuple[float, float]],
    xlabel: str,
    ylabel: str,
    *,
    title: str | None = None,
    log_x: bool = False,
    log_y: bool = False,
    width: int = 760,
    height: int = 400,
    kind: Kind = "svg",
    dark: bool = False,
) -> bytes:
    """Plot file of single points (x, y), each named in the legend."""
    with _draw_figure(title, width, height, kind, dark) as (axes, stream):
        for name, (x, y) in points.items():
            axes.plot([x], [y], marker="o", markersize=8, linestyle="none", label=name)
        _set_scales(axes, log_x, log_y)
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.margins(x=0.08, y=0.12)
        _add_legend(axes, len(points))
    return stream.getvalue()


def plot_strips(
    strips: Mapping[str, ArrayLike],
    names: Sequence[str],
    colours: Sequence[str],
    xlabel: str,
    *,
    title: str | None = None,
    width: int = 760,
    kind: Kind = "svg",
    dark: bool = False,
) -> bytes:
    """Plot file of named strips, below each other: every entry a bar of the colour that its whole number names."""
    with _draw_figure(title, width, 110 + 44 * len(strips), kind, dark) as (axes, stream):
        from matplotlib.colors import ListedColormap

        for row, (name, entries) in enumerate(strips.items()):
            kinds = np.asarray(entries)
            if kinds.ndim != 1 or not np.isin(kinds, range(len(colours))).all():
                raise OutputError(f'Strip "{name}" must hold whole numbers below {len(colours)}, one for each colour.')
            where = (0.5, len(kinds) + 0.5, row + 0.36, row - 0.36)
            axes.imshow(
                kinds[None], aspect="auto", interpolation="nearest", cmap=ListedColormap(list(colours)), extent=where,
                vmin=-0.5, vmax=len(colours) - 0.5,
            )  # fmt: skip
        for name, colour in zip(names, colours, strict=True):
            axes.bar([0.0], [0.0], color=colour, label=name)
        axes.set_xlim(0.5, max((len(np.asarray(entries)) for entries in strips.values()), default=1) + 0.5)
        axes.set_ylim(len(strips) - 0.5, -0.5)
        axes.set_yticks(range(len(strips)), list(strips))
        axes.tick_params(axis="y", length=0)
        axes.grid(visible=False)
        axes.set_xlabel(xlabel)
        _add_legend(axes, len(names))
    return stream.getvalue()


@contextmanager
def _draw_figure(
    title: str | None, width: int, height: int, kind: Kind, dark: bool
) -> Iterator[tuple[Axes, io.BytesIO]]:
    """The axes of a styled figure, and the stream that holds its file once the block ends."""
    import matplotlib
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with matplotlib.rc_context(_make_style(dark)):
        size = (width / _DOTS_PER_INCH, height / _DOTS_PER_INCH)
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        yield axes, stream
        if title:
            axes.set_title(title, loc="left", pad=26 if axes.get_legend() else 10)
        metadata = {"Date": None} if kind == "svg" else {"Software": None}  # the same bytes on every day
        figure.savefig(stream, format=kind, dpi=2 * _DOTS_PER_INCH, metadata=metadata)


def _set_scales(axes: Axes, log_x: bool, log_y: bool) -> None:
    """Logarithmic axes where asked for, with plain numbers on them."""
    from matplotlib.ticker import FuncFormatter, LogFormatter

    for wanted, set_scale, axis in ((log_x, axes.set_xscale, axes.xaxis), (log_y, axes.set_yscale, axes.yaxis)):
        if wanted:
            set_scale("log")
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.4)))


def _add_legend(axes: Axes, count: int) -> None:
    if count > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=min(count, 4), borderaxespad=0.2)


def _make_style(dark: bool) -> dict[Any, Any]:
    from cycler import cycler

    ink, soft, grid, paper = _INK[dark]
    return {
        "axes.prop_cycle": cycler(color=_COLOURS[dark]),
        "axes.edgecolor": soft,
        "axes.facecolor": paper,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.labelcolor": ink,
        "axes.labelsize": 10.5,
        "axes.linewidth": 0.8,
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlecolor": ink,
        "axes.titlesize": 12,
        "axes.titleweight": "bold",
        "figure.facecolor": paper,
        "font.size": 10,
        "grid.color": grid,
        "grid.linewidth": 0.8,
        "legend.frameon": False,
        "legend.handlelength": 1.4,
        "legend.labelcolor": ink,
        "lines.linewidth": 1.9,
        "lines.markersize": 4.5,
        "lines.solid_capstyle": "round",
        "svg.hashsalt": "supple",
        "text.color": ink,
        "xtick.color": soft,
        "xtick.labelcolor": ink,
        "ytick.color": soft,
        "ytick.labelcolor": ink,
    }
