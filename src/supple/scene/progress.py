"""Who is told how a run goes: nobody, a log, or a person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TextIO

from supple.linalg.work_clock import work_clock

__all__ = [
    "FrameRow",
    "Listener",
    "LogListener",
    "SilentListener",
    "StepRow",
    "TerminalListener",
    "pick_listener",
    "tell_span",
]


@dataclass(frozen=True)
class StepRow:
    """What a method that skips steps did in one."""

    kind: str  #: "full" or "reduced"
    checked: bool  #: reduced, and its error was estimated in full space
    rejected: bool  #: full, in place of a reduced step that was refused
    learned: bool  #: full, and a model was trained after it
    rank: int  #: of the subspace
    elements: int  #: that forces come from; 0 in full space
    error: float | None  #: of a step, by the last check, relative to the motion


@dataclass(frozen=True)
class FrameRow:
    """What one frame cost and how the body was at its end."""

    frame: int
    time: float  #: [s]
    ms: float  #: milliseconds of its steps
    newton_iterations: int
    residual: float | None  #: None where a method measures none
    halvings: int
    kinetic_energy: float | None  #: [J], at the method's own points; None where nobody asked for it
    elastic_energy: float | None  #: [J], likewise
    kind: str
    contacts: int = 0  #: that act at the end
    contact_depth: float = 0.0  #: of the deepest of them [m]
    contact_forces: tuple[tuple[float, float, float], ...] = ()  #: of every collider on the body [N]
    contact_rounds: int = 0  #: looks for contacts
    contact_settled: bool = True  #: a further look would have changed nothing
    body_contacts: dict[str, int] = field(default_factory=dict)  #: the same by body, where there are several
    crossings: int | None = None  #: passages through a surface; None where that is not checked
    steps: tuple[StepRow, ...] = ()  #: of a method that skips steps
    phases: dict[str, float] = field(default_factory=dict)  #: milliseconds by what they were spent on
    full_share: float = 0.0  #: of the unknowns that were solved for in full space, at most
    estimated_error: float | None = None  #: relative to the full solver, measured while it runs; None: not measured
    trained_error: float | None = None  #: of the model on held-out cases; None once the run leaves what it was made for
    frame_ms: float | None = None  #: milliseconds of the whole frame by a clock: steps, positions, checks, writing
    work: float | None = None  #: done on the body by gravity and forces in the frame [J]; None where these changed
    inverted: int | None = None  #: tets with a volume ratio of 0 or less; None in frames that do not place all vertices
    min_jacobian: float | None = None  #: the least volume ratio of a tet, likewise
    local_global_iterations: int = 0  #: of projective dynamics
    change: float | None = None  #: largest share of its way that a step of these had left; None for other methods
    converged: bool = True  #: whether every step met its convergence test


class Listener(Protocol):
    """Told of everything a person may want to see while work goes on."""

    def say(self, text: str) -> None:
        """A line of information."""

    def begin(self, frames: int, unit: str = "frame") -> None:
        """Work of so many frames, or of what else is counted, begins."""

    def frame(self, row: FrameRow) -> None:
        """A frame is done."""

    def end(self) -> None:
        """No more frames come."""


class SilentListener:
    """Tells nobody."""

    def say(self, text: str) -> None: ...

    def begin(self, frames: int, unit: str = "frame") -> None: ...

    def frame(self, row: FrameRow) -> None: ...

    def end(self) -> None: ...


class LogListener:
    """Plain lines; the frames are one line that grows by tenths, with the time left, or a line each."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = work_clock, *, each: bool = False) -> None:
        self._stream, self._clock, self._each = stream, clock, each
        self._frames = self._done = 0
        self._unit, self._began = "frame", 0.0
        self._growing = False  #: whether the last line has no end yet

    def say(self, text: str) -> None:
        self.end()
        print(text, file=self._stream, flush=True)

    def begin(self, frames: int, unit: str = "frame") -> None:
        self.end()
        self._frames, self._done, self._unit, self._began = frames, 0, unit, self._clock()

    def frame(self, row: FrameRow) -> None:
        self._done += 1
        tenth = 10 * self._done // max(self._frames, 1)
        if not self._each and tenth == 10 * (self._done - 1) // max(self._frames, 1):
            return
        left = tell_span((self._clock() - self._began) / self._done * (self._frames - self._done))
        if not self._each:
            start = ", " if self._growing else f"{self._frames} {self._unit}s: "
            words = f"{start}{10 * tenth} %" + (f" ({left} left)" if tenth < 10 else "")
            print(words, end="", file=self._stream, flush=True)
            self._growing = True
            return
        did = f"{row.newton_iterations} Newton iterations"
        if row.local_global_iterations:
            did = f"{row.local_global_iterations} iterations"
        if row.contacts:
            did += f", {_count_contacts(row)} up to {1e3 * row.contact_depth:.3g} mm deep"
        self.say(f"{self._unit} {row.frame}: {row.ms:.1f} ms, {did}, {left} left")

    def end(self) -> None:
        if self._growing:
            self._growing = False
            print(file=self._stream, flush=True)


class TerminalListener:
    """A progress bar with milliseconds per frame and the time left."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console

        self._console = Console(file=stream, highlight=False)
        self._bar: Any = None
        self._task: Any = None
        self._ms = 0.0
        self._done = 0

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    def begin(self, frames: int, unit: str = "frame") -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn(f"{unit}s  {{task.fields[ms]:.1f}} ms/{unit}{{task.fields[touch]}}"),
            TimeRemainingColumn(),
            TextColumn("left"),
            console=self._console,
            get_time=work_clock,
        )
        self._task = self._bar.add_task("simulating", total=frames, ms=0.0, touch="")
        self._ms, self._done = 0.0, 0
        self._bar.start()

    def frame(self, row: FrameRow) -> None:
        self._done += 1
        self._ms += row.ms
        touch = f"  {_count_contacts(row)}" if row.contacts else ""
        self._bar.update(self._task, advance=1, ms=self._ms / self._done, touch=touch)

    def end(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def pick_listener(verbosity: int) -> Listener:
    """A bar on a terminal, plain lines elsewhere or with -v, nothing when quiet; always on standard error."""
    if verbosity < 0:
        return SilentListener()
    if verbosity == 0 and sys.stderr.isatty():
        return TerminalListener(sys.stderr)
    return LogListener(sys.stderr, each=verbosity > 0)


def _count_contacts(row: FrameRow) -> str:
    return f"{row.contacts} contact{'s' * (row.contacts > 1)}"


def tell_span(seconds: float) -> str:
    """A duration as a person says it."""
    if seconds < 90:
        return f"{seconds:.{1 if seconds < 9.95 else 0}f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
