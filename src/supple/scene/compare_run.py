"""One solver taken through a scene, with all that a frame costs and every position kept for measuring."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import IO, Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from supple.errors import ConvergenceError, OutputError
from supple.linalg.work_clock import work_clock
from supple.method import Report, Solver
from supple.scene.monitor import Placed
from supple.scene.progress import FrameRow, Listener
from supple.scene.simulate import simulate, start_scene
from supple.scene.stage import Built
from supple.solve import Inputs

__all__ = ["KeptFrames", "Track", "run_track", "time_first_frames"]

FloatArray = NDArray[np.float64]


class KeptFrames(Sequence[FloatArray]):
    """Positions [m], (n, 3) each, of frames kept in a temporary file: a long run of a large body fits no memory."""

    def __init__(self, vertices: int) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (it vanishes with the object)
        self._vertices, self._count = vertices, 0

    def __len__(self) -> int:
        return self._count

    def append(self, x: FloatArray) -> None:
        """Keep a frame."""
        try:
            self._file.seek(self._count * self._bytes)
            self._file.write(np.ascontiguousarray(x, np.float64).tobytes())
            self._file.flush()
        except OSError as error:
            raise OutputError(
                f"{tempfile.gettempdir()} cannot keep the frames to compare ({error.strerror}): free some space there, "
                "or set TMPDIR to a folder on another disk."
            ) from error
        self._count += 1

    @overload
    def __getitem__(self, place: int) -> FloatArray: ...
    @overload
    def __getitem__(self, place: slice) -> list[FloatArray]: ...
    def __getitem__(self, place: int | slice) -> FloatArray | list[FloatArray]:
        if isinstance(place, slice):
            return [self[k] for k in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        self._file.seek(place * self._bytes)
        return np.frombuffer(self._file.read(self._bytes), np.float64).reshape(-1, 3)

    @property
    def _bytes(self) -> int:
        return 24 * self._vertices


@dataclass(frozen=True, eq=False)
class Track:
    """How a solver went through a scene: frames 1, 2, ...; the pre-roll is not counted."""

    start: FloatArray  #: positions [m] before the first step, pre-roll included, (n, 3)
    frames: KeptFrames
    rows: tuple[FrameRow, ...]
    lift_ms: FloatArray  #: what it took to have the positions of all vertices, (t,)
    phases: Mapping[str, float]  #: milliseconds a frame in each phase of a step
    estimates: tuple[float, ...] = ()  #: errors that the solver itself estimated, where it does
    failure: str | None = None  #: why it ended early

    @property
    def frame_ms(self) -> FloatArray:
        """All that every frame cost online by a clock: inputs, steps, positions of all vertices, checks [ms], (t,)."""
        return np.array([row.frame_ms for row in self.rows], np.float64)

    @property
    def rest_ms(self) -> FloatArray:
        """What of that went to inputs, energies and checks [ms], (t,)."""
        return np.asarray(self.frame_ms - [row.ms for row in self.rows] - self.lift_ms, np.float64)

    @property
    def ms_per_frame(self) -> float:
        """Mean of all frames [ms]: the dear ones count."""
        return float(self.frame_ms.mean()) if self.rows else 0.0

    @property
    def median_ms(self) -> float:
        """Median of all frames [ms]: what a frame costs when the machine does nothing else."""
        return float(np.median(self.frame_ms)) if self.rows else 0.0


@dataclass
class _Watched:
    """A solver that keeps the reports of its steps."""

    solver: Solver[Any]
    reports: list[Report] = field(default_factory=list)

    def step(self, state: Any, inputs: Inputs) -> tuple[Any, Report]:
        state, report = self.solver.step(state, inputs)
        self.reports.append(report)
        return state, report

    def __getattr__(self, name: str) -> Any:
        return getattr(self.solver, name)


def run_track(built: Built, listener: Listener) -> Track:
    """Take the scene's solver through all its frames; a step that fails ends it early."""
    watched = _Watched(built.solver)
    running = replace(built, solver=cast(Solver[Any], watched))
    begun = start_scene(running)
    start = built.solver.positions(begun.state).copy()
    kept, rows, lifts, failure = KeptFrames(len(start)), list[FrameRow](), list[float](), None
    listener.begin(built.scene.time.frames - begun.frame)
    spent: list[float] = []

    def lift(_: Built, frame: int, state: Any) -> Placed:
        begin = work_clock()
        x = built.solver.positions(state)
        spent.append(1e3 * (work_clock() - begin))
        return Placed(x)

    gc.collect()  # what compiling left would be swept out within a frame, which then took 0.2 s
    try:
        for now in simulate(running, begun, lift=lift):
            if now.row is not None:
                listener.frame(now.row)
            if now.row is not None and now.placed is not None and now.frame > 0:
                kept.append(now.placed.x)
                rows.append(now.row)
                lifts.append(spent[-1])
            else:
                watched.reports.clear()
    except ConvergenceError as error:
        failure = str(error)
    finally:
        listener.end()
    return Track(
        start,
        kept,
        tuple(rows),
        np.array(lifts),
        _sum_phases(watched.reports, len(rows)),
        tuple(report.estimated_error for report in watched.reports if report.estimated_error is not None),
        failure,
    )


def time_first_frames(built: Built, count: int) -> list[float]:
    """Milliseconds that each of the first frames costs, pre-roll included, positions of all vertices too."""
    frames = simulate(built, lift=lambda one, _, state: Placed(one.solver.positions(state)))
    return [now.row.frame_ms or 0.0 for now in islice(frames, count) if now.row is not None]


def _sum_phases(reports: Sequence[Report], frames: int) -> dict[str, float]:
    """Milliseconds a frame in every phase, the dearest first, without the total."""
    sums: dict[str, float] = {}
    for report in reports:
        for name, spent in report.milliseconds.items():
            if name != "total":
                sums[name] = sums.get(name, 0.0) + spent / max(frames, 1)
    return dict(sorted(sums.items(), key=lambda item: -item[1]))
