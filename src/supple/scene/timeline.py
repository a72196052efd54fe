"""The timeline of a run that skips steps: what kind each step was, in words, as a strip and as a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import FileFormatError
from supple.io.files import write_atomically, writing
from supple.io.tree import parse_json
from supple.scene.permission import timeline_path
from supple.scene.progress import FrameRow, StepRow
from supple.scene.simulate import Simulated

__all__ = ["Timeline", "tell_timeline"]

SCHEMA = "supple timeline 1"
TAIL = b"]}"  #: how the file ends
WIDTH = 72  #: characters of a strip
FULL, MIXED, REDUCED = "#", "+", "."


class Timeline:
    """The steps of a run, written beside its first output frame by frame: the file is whole after each.

    A run that goes on keeps what it left before; one of a method that skips no steps leaves nothing.
    """

    def __init__(self, outputs: Sequence[Path], resumed: Simulated | None, duration: float) -> None:
        """For steps of `duration` [s]; `resumed` is where the run goes on."""
        self._path = timeline_path(outputs)
        self._head = json.dumps({"schema": SCHEMA, "step_s": duration})[:-1] + ', "steps": ['
        self._end = 0  # of the last step in the file [bytes]; 0 before there is one
        if self._path is not None and self._path.exists():
            before = [] if resumed is None else [s for s in _load(self._path) if s["frame"] <= resumed.frame]
            with writing(self._path):
                self._path.unlink()  # of another run, or beyond where this one goes on
            self._append(before)

    @property
    def file(self) -> Path | None:
        """Where it is written; None where there is nothing to write."""
        return self._path if self._end else None

    def add(self, row: FrameRow) -> None:
        """Take in the steps of a frame."""
        self._append([{"frame": row.frame, **asdict(step)} for step in row.steps])

    def _append(self, steps: Sequence[dict[str, Any]]) -> None:
        """Write steps behind those that are there."""
        if self._path is None or not steps:
            return
        new = ", ".join(map(json.dumps, steps)).encode()
        if not self._end:
            whole = self._head.encode() + new
            write_atomically(self._path, [whole, TAIL])
            self._end = len(whole)
            return
        with writing(self._path), self._path.open("r+b", buffering=0) as stream:
            stream.seek(self._end)
            left = memoryview(b", " + new + TAIL)
            try:
                while left:
                    left = left[stream.write(left) :]
            except OSError:  # a full disk: leave what was there
                stream.seek(self._end)
                stream.write(TAIL)
                stream.truncate()
                raise
        self._end += len(b", " + new)


def _load(path: Path) -> list[dict[str, Any]]:
    """The steps that an earlier part of the run left."""
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        return [dict(step, frame=int(step["frame"])) for step in content["steps"]]
    except (ValueError, LookupError, TypeError):
        raise FileFormatError(f"{path} is no timeline of supple: move it away, or name another output.") from None


def tell_timeline(rows: Sequence[FrameRow]) -> list[str]:
    """How many steps were skipped, and a strip of them in time; nothing for methods that skip none."""
    steps = [step for row in rows for step in row.steps]
    if not steps:
        return []
    full = sum(step.kind == "full" for step in steps)
    rejected, checked, learned = (sum(getattr(s, name) for s in steps) for name in ("rejected", "checked", "learned"))
    return [
        f"{100 * (1 - full / len(steps)):.1f} % of {len(steps)} steps skipped: {full} full ({rejected} after "
        f"a rejected one), {checked} checked, {learned} times trained",
        f"{_draw(steps)}  {FULL} full, {MIXED} some full, {REDUCED} reduced",
    ]


def _draw(steps: Sequence[StepRow]) -> str:
    """One character for as many steps as fit the width."""
    is_full = np.array([step.kind == "full" for step in steps])
    shares = [part.mean() for part in np.array_split(is_full, min(WIDTH, len(steps)))]
    return "".join(FULL if share == 1.0 else REDUCED if share == 0.0 else MIXED for share in shares)
