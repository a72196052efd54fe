"""The frames of a scene, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.errors import ConvergenceError
from supple.method import Report
from supple.scene.build import Built
from supple.scene.progress import FrameRow
from supple.scene.replay import EventLog

__all__ = ["Simulated", "simulate", "start_scene"]


class Simulated(NamedTuple):
    """A frame, the solver's state at it, and how it was reached (None for where a run begins)."""

    frame: int
    state: Any
    row: FrameRow | None = None


def start_scene(built: Built) -> Simulated:
    """The state before the first step: frame 0, or the beginning of the pre-roll."""
    time = built.scene.time
    begin = -time.preroll / time.fps
    state = built.solver.start(built.drive.inputs(begin, begin))
    if built.velocity.any():
        x, _, a = built.solver.to_full(state)
        state = built.solver.from_full(x, built.velocity, a, begin)
    return Simulated(-time.preroll, state)


def simulate(built: Built, start: Simulated | None = None, events: EventLog | None = None) -> Iterator[Simulated]:
    """Every frame after `start` (default: the scene's beginning) up to the last; pre-roll ones are negative.

    Events logged for frame k act on the way to frame k + 1.
    """
    frame, state, _ = start or start_scene(built)
    while frame < built.scene.time.frames:
        frame, state, row = _advance(built, frame, state, (events or {}).get(frame, ()))
        yield Simulated(frame, state, row)


def _advance(built: Built, frame: int, state: Any, events: Sequence[Any]) -> Simulated:
    """The next frame, through all its substeps."""
    time = built.scene.time
    rate = time.fps * time.substeps
    reports: list[Report] = []
    for number in range(frame * time.substeps, (frame + 1) * time.substeps):
        first = number == -time.preroll * time.substeps
        changes = built.drive.changes(None if first else (number - 1) / rate, number / rate)
        given = tuple(events) if number == frame * time.substeps else ()
        inputs = built.drive.inputs(number / rate, (number + 1) / rate, (*changes, *given))
        try:
            state, report = built.solver.step(state, inputs)
        except ConvergenceError as error:
            raise ConvergenceError(f"frame {frame + 1}: {error}") from error
        reports.append(report)
    return Simulated(frame + 1, state, _summarise(built, frame + 1, state, reports))


def _summarise(built: Built, frame: int, state: Any, reports: Sequence[Report]) -> FrameRow:
    """What the frame cost and the energies at its end; a state that is not finite is refused."""
    x, v, _ = built.solver.to_full(state)
    if not (np.isfinite(x).all() and np.isfinite(v).all()):
        worst = int(np.argmin(np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1)))
        raise ConvergenceError(
            f"frame {frame}: the motion of vertex {worst} is not a finite number; use more substeps."
        )
    return FrameRow(
        frame=frame,
        time=frame / built.scene.time.fps,
        ms=sum(report.milliseconds["total"] for report in reports),
        newton_iterations=sum(report.newton_iterations for report in reports),
        residual=max(report.residual for report in reports),
        halvings=max(report.halvings for report in reports),
        kinetic_energy=float(0.5 * built.body.mass @ np.einsum("ij,ij->i", v, v)),
        elastic_energy=state.live.stiffness * built.body.energy(x),
        kind=reports[-1].kind,
    )
