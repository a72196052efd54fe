"""The frames of a scene, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.errors import ConvergenceError
from supple.method import Report, Solver
from supple.scene.build import Built
from supple.scene.drive import Drive
from supple.scene.progress import FrameRow
from supple.scene.replay import EventLog
from supple.solve import Inputs

__all__ = ["Simulated", "simulate", "start_motion", "start_scene", "step_inputs"]


class Simulated(NamedTuple):
    """A frame, the solver's state at it, and how it was reached (None for where a run begins)."""

    frame: int
    state: Any
    row: FrameRow | None = None


def start_scene(built: Built) -> Simulated:
    """The state before the first step: frame 0, or the beginning of the pre-roll."""
    time = built.scene.time
    begin = -time.preroll / time.fps
    return Simulated(-time.preroll, start_motion(built.solver, built.drive, built.velocity, begin))


def start_motion(solver: Solver[Any], drive: Drive, velocity: NDArray[np.float64], begin: float) -> Any:
    """A solver's state at time `begin` [s]: at rest, or moving with the velocities (n, 3) [m/s]."""
    state = solver.start(drive.inputs(begin, begin))
    if velocity.any():
        x, _, a = solver.to_full(state)
        state = solver.from_full(x, velocity, a, begin)
    return state


def step_inputs(drive: Drive, number: int, first: int, rate: float, events: Sequence[Any] = ()) -> Inputs:
    """What step `number` is given, with `rate` steps a second; step 0 begins at time 0, the run with step `first`."""
    changes = drive.changes(None if number == first else (number - 1) / rate, number / rate)
    return drive.inputs(number / rate, (number + 1) / rate, (*changes, *events))


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
        given = events if number == frame * time.substeps else ()
        inputs = step_inputs(built.drive, number, -time.preroll * time.substeps, rate, given)
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
