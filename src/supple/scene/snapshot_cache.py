"""Full-space runs of training cases, kept on disk as they come: a stopped training goes on, a repeated one reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from supple.errors import ConvergenceError, FileFormatError, TrainingError
from supple.io.files import write_atomically, writing
from supple.io.npz_file import NpzFile
from supple.io.npz_zip import pack_npz
from supple.linalg.work_clock import work_clock
from supple.method import Report
from supple.scene.cases import Case, play_case
from supple.scene.progress import FrameRow, Listener
from supple.scene.solvers import full_solver
from supple.scene.stage import Stage

__all__ = ["Recorded", "SnapshotCache", "record_cases"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recorded:
    """A case with what the full solver made of it."""

    case: Case
    x: FloatArray
    """Positions before the first step and after every one [m], (steps + 1, n, 3)."""
    seconds: float
    """What it took, when it was simulated."""


@dataclass(frozen=True)
class SnapshotCache:
    """A folder with one file a case, each stamped with all that decides its content; None keeps nothing."""

    folder: Path | None

    def path(self, case: Case) -> Path | None:
        """Where a case lies."""
        return None if self.folder is None else self.folder / f"{case.name}.npz"

    def read(self, case: Case, stamp: str, say: Callable[[str], None]) -> Recorded | None:
        """The case as it was simulated before; None when it was not, or otherwise, which is said."""
        path = self.path(case)
        if path is None or not path.exists():
            return None
        try:
            with NpzFile(path) as file:
                if str(file.read("stamp")) != stamp:
                    say(f"{path} holds another motion (the scene has changed): it is simulated anew")
                    return None
                x, seconds = file.read("x"), float(file.read("seconds"))
        except (FileFormatError, TypeError, ValueError):
            say(f"{path} is damaged: it is simulated anew")
            return None
        shape = (case.steps + 1, *case.velocity.shape)
        if x.shape != shape or x.dtype != np.float64 or not np.isfinite(x).all():
            say(f"{path} is damaged: it is simulated anew")
            return None
        return Recorded(case, x, seconds)

    def write(self, recorded: Recorded, stamp: str) -> None:
        """Keep a case, whole or not at all."""
        path = self.path(recorded.case)
        if path is None:
            return
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        arrays = {"stamp": np.array(stamp), "seconds": np.array(recorded.seconds), "x": recorded.x}
        write_atomically(path, pack_npz(arrays))


def record_cases(stage: Stage, cases: Sequence[Case], cache: SnapshotCache, listener: Listener) -> list[Recorded]:
    """Every case as the full solver moves it: read where the cache has it, else simulated and kept."""
    body = stage.body.hash() + stage.contact_key()
    stamps = [case.stamp(body, stage.scene.method.residual) for case in cases]
    found = [cache.read(case, stamp, listener.say) for case, stamp in zip(cases, stamps, strict=True)]
    missing = sum(case.steps for case, known in zip(cases, found, strict=True) if known is None)
    read = sum(known is not None for known in found)
    if read:
        listener.say(f"{read} of {len(cases)} training cases are read from {cache.folder}")
    recorded: list[Recorded] = []
    done = 0
    if missing:
        listener.begin(missing, "step")
    try:
        for case, stamp, known in zip(cases, stamps, found, strict=True):
            if known is None:
                known = _simulate(stage, case, done, listener)
                cache.write(known, stamp)
                done += case.steps
            recorded.append(known)
    finally:
        listener.end()
    return recorded


def _simulate(stage: Stage, case: Case, done: int, listener: Listener) -> Recorded:
    """The case under the full solver; the listener, who counts steps as frames, has seen `done` of them."""
    begin, solver = work_clock(), full_solver(stage)  # its own, whose factors know no case before
    x = np.empty((case.steps + 1, *stage.mesh.vertices.shape))
    try:
        for number, (positions, report) in enumerate(play_case(case, solver)):
            x[number] = positions
            if report is not None:
                listener.frame(_row(done + number, (case.first + number) / case.rate, report))
    except ConvergenceError as error:
        raise TrainingError(
            f"training {case.name} failed, so lower training.strength or training.load: {error}"
        ) from error
    if not np.isfinite(x).all():
        raise TrainingError(f"training {case.name} has motion that is not finite: lower training.strength.")
    return Recorded(case, x, work_clock() - begin)


def _row(number: int, end: float, report: Report) -> FrameRow:
    """A step as listeners know frames; energies are not asked for."""
    spent = report.milliseconds["total"]
    return FrameRow(
        number, end, spent, report.newton_iterations, report.residual, report.halvings, None, None, report.kind
    )
