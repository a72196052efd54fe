"""Live plots: what a frame's milliseconds were spent on, estimated errors, full and reduced steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from supple.scene.progress import FrameRow
from supple.view.player import Shown

if TYPE_CHECKING:
    import viser

__all__ = ["Timing", "pick_phases", "stack_phases"]

FRAMES = 120  #: that a plot shows
MOST = 5  #: phases that are told apart
PLAIN_SCALES = {"x": {"time": False}}
COLOURS = ("#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#bab0ac")


def pick_phases(row: FrameRow) -> list[str]:
    """The costliest phases of a frame, costliest first."""
    named = sorted((phase for phase in row.phases if phase != "other"), key=lambda phase: -row.phases[phase])
    return named[:MOST]


def stack_phases(rows: list[FrameRow], named: list[str]) -> NDArray[np.float64]:
    """Milliseconds of phases and at last of all others, (k + 1, frames), each on top of those before it."""
    table = np.array([[row.phases.get(phase, 0.0) for row in rows] for phase in named]).reshape(len(named), len(rows))
    rest = np.array([row.ms for row in rows]) - table.sum(axis=0)
    return np.cumsum(np.vstack([table, np.maximum(rest, 0.0)]), axis=0)


class Timing:
    """Plots of the last frames; those that a method has nothing for are not there."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._gui = server.gui
        self._folder = server.gui.add_folder("Timing", order=40, expand_by_default=False)
        self._plots: dict[str, Any] = {}
        self._phases: list[str] | None = None
        self._last: object = None

    def update(self, shown: Shown) -> None:
        """Draw the frames up to the one that is seen."""
        if self._last is shown.now:
            return
        self._last = shown.now
        seen = (shown.take.find(frame).row for frame in range(shown.now.frame - FRAMES + 1, shown.now.frame + 1))
        rows = sorted({row.frame: row for row in seen if row is not None}.values(), key=lambda row: row.frame)
        if len(rows) < 2:
            return
        if self._phases is None:
            self._phases = pick_phases(rows[-1])
        self._draw("milliseconds a frame", rows, [*self._phases, "other"], stack_phases(rows, self._phases))
        errors = [row.estimated_error for row in rows]
        if any(error is not None for error in errors):
            table = np.array([[np.nan if error is None else error for error in errors]])
            self._draw("estimated error", rows, ["of the motion"], table)
        if any(row.steps or row.kind == "hybrid" for row in rows):
            shares = [[row.full_share if row.kind != "full" else 1.0 for row in rows]]
            self._draw("in full space (1) or reduced (0)", rows, ["share"], np.array(shares))

    def remove(self) -> None:
        """Take them off the page."""
        self._folder.remove()

    def _draw(self, title: str, rows: list[FrameRow], names: list[str], table: NDArray[np.float64]) -> None:
        """Put numbers into a plot."""
        data = (np.array([float(row.frame) for row in rows]), *table)
        if title in self._plots:
            self._plots[title].data = data
            return
        series: list[dict[str, Any]] = [{"label": "frame"}]
        series += [{"label": name, "stroke": COLOURS[k % len(COLOURS)], "width": 2} for k, name in enumerate(names)]
        gui: Any = self._gui
        with self._folder:
            self._plots[title] = gui.add_uplot(data, tuple(series), title=title, scales=PLAIN_SCALES, aspect=1.6)
