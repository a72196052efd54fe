"""The frames of a scene, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.result import Touch
from supple.errors import ConvergenceError
from supple.method import Solver
from supple.scene.drive import Drive
from supple.scene.monitor import Lift, Placed, RunMonitor
from supple.scene.progress import FrameRow
from supple.scene.replay import EventLog
from supple.scene.stage import Built
from supple.scene.versions import Versions, steer
from supple.solve import Event, Inputs

__all__ = ["Simulated", "advance", "go_on", "simulate", "start_motion", "start_scene", "steer", "step_inputs"]


class Simulated(NamedTuple):
    """A frame, the solver's state at it, and how it was reached (None for where a run begins)."""

    frame: int
    state: Any
    row: FrameRow | None = None
    touching: Touch | None = None
    """What penetrates, where anything does."""
    placed: Placed | None = None
    """All vertices, where somebody asked for them."""


def start_scene(built: Built) -> Simulated:
    """The state before the first step: frame 0, or the beginning of the pre-roll."""
    time = built.scene.time
    begin = -time.preroll / time.fps
    return Simulated(-time.preroll, start_motion(built.solver, built.drive, built.velocity, begin))


def start_motion(solver: Solver[Any], drive: Drive, velocity: NDArray[np.float64], begin: float) -> Any:
    """A solver's state at time `begin` [s]: at rest, or moving with the velocities (n, 3) [m/s]."""
    inputs = drive.inputs(begin, begin)
    state = solver.start(inputs)
    if velocity.any():
        x, _, a = solver.to_full(state)
        state = solver.from_full(x, velocity, a, begin, pose=inputs.begin.pose)
    return state


def step_inputs(drive: Drive, number: int, first: int, rate: float, events: Sequence[Any] = ()) -> Inputs:
    """What step `number` is given, with `rate` steps a second; step 0 begins at time 0, the run with step `first`."""
    changes = drive.changes(None if number == first else (number - 1) / rate, number / rate)
    return drive.inputs(number / rate, (number + 1) / rate, (*changes, *events))


def simulate(
    built: Built,
    start: Simulated | None = None,
    events: EventLog | None = None,
    versions: Versions | None = None,
    lift: Lift | None = None,
) -> Iterator[Simulated]:
    """Every frame after `start` (default: the scene's beginning) up to the last; pre-roll ones are negative.

    Events logged for frame k act on the way to frame k + 1. Where they change the scene, `versions` knows the solver of
    each frame. `lift` places all vertices of the frames that are written or kept.
    """
    now = start or start_scene(built)
    log: EventLog = {} if events is None else events
    versions = versions or Versions(built, log)
    monitor = RunMonitor(built, lift)
    while now.frame < built.scene.time.frames:
        now = go_on(versions, now, log.get(now.frame, ()), monitor)
        yield now


def go_on(versions: Versions, now: Simulated, events: Sequence[Event], monitor: RunMonitor) -> Simulated:
    """The frame after `now`, by the solver that the scene then has."""
    built, state, told = versions.enter(now.frame, now.state)
    return advance(built, now._replace(state=state), (*told, *events), monitor)


def advance(built: Built, now: Simulated, events: Sequence[Event] = (), monitor: RunMonitor | None = None) -> Simulated:
    """The frame after `now`, through all its substeps; the events act on the way to it. Only a monitor makes a row."""
    frame, state, time = now.frame, now.state, built.scene.time
    rate = time.fps * time.substeps
    if monitor is not None:
        monitor.begin(built, frame, state)
    for number in range(frame * time.substeps, (frame + 1) * time.substeps):
        given = events if number == frame * time.substeps else ()
        inputs = step_inputs(built.drive, number, -time.preroll * time.substeps, rate, given)
        begin = state
        try:
            state, report = built.solver.step(begin, inputs)
        except ConvergenceError as error:
            raise ConvergenceError(f"frame {frame + 1}: {error}") from error
        if monitor is not None:
            monitor.step(built, begin, state, inputs, report)
    if monitor is None:
        return Simulated(frame + 1, state, None, report.touching)
    row, placed = monitor.finish(built, frame + 1, state, inputs)
    return Simulated(frame + 1, state, row, report.touching, placed)
