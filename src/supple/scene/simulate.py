"""The frames of a scene, one after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.errors import ConvergenceError
from supple.method import Report, Solver
from supple.scene.crossing import CrossingCheck, make_check
from supple.scene.drive import Drive
from supple.scene.progress import FrameRow, StepRow
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
    built: Built, start: Simulated | None = None, events: EventLog | None = None, versions: Versions | None = None
) -> Iterator[Simulated]:
    """Every frame after `start` (default: the scene's beginning) up to the last; pre-roll ones are negative.

    Events logged for frame k act on the way to frame k + 1. Where they change the scene, `versions` knows the solver of
    each frame.
    """
    now = start or start_scene(built)
    log: EventLog = {} if events is None else events
    versions = versions or Versions(built, log)
    check = make_check(built)
    while now.frame < built.scene.time.frames:
        now = go_on(versions, now, log.get(now.frame, ()), check)
        yield now


def go_on(versions: Versions, now: Simulated, events: Sequence[Event], check: CrossingCheck | None) -> Simulated:
    """The frame after `now`, by the solver that the scene then has."""
    built, state, told = versions.enter(now.frame, now.state)
    return advance(built, now._replace(state=state), (*told, *events), check)


def advance(
    built: Built, now: Simulated, events: Sequence[Event] = (), check: CrossingCheck | None = None
) -> Simulated:
    """The frame after `now`, through all its substeps; the events act on the way to it."""
    frame, state, time = now.frame, now.state, built.scene.time
    rate = time.fps * time.substeps
    reports: list[Report] = []
    crossings = 0
    for number in range(frame * time.substeps, (frame + 1) * time.substeps):
        given = events if number == frame * time.substeps else ()
        inputs = step_inputs(built.drive, number, -time.preroll * time.substeps, rate, given)
        begin = built.solver.positions(state)
        try:
            state, report = built.solver.step(state, inputs)
        except ConvergenceError as error:
            raise ConvergenceError(f"frame {frame + 1}: {error}") from error
        reports.append(report)
        if check is not None:
            crossings += check.count(begin, built.solver.positions(state), inputs, report.touching)
    row = _summarise(built, frame + 1, state, reports)
    if check is not None:
        row = replace(row, crossings=crossings)
    return Simulated(frame + 1, state, row, reports[-1].touching)


def _summarise(built: Built, frame: int, state: Any, reports: Sequence[Report]) -> FrameRow:
    """What the frame cost and the energies at its end; a state that is not finite is refused."""
    x, v, _ = built.solver.to_full(state)
    if not (np.isfinite(x).all() and np.isfinite(v).all()):
        worst = int(np.argmin(np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1)))
        raise ConvergenceError(
            f"frame {frame}: the motion of vertex {worst} is not a finite number; use more substeps."
        )
    time = frame / built.scene.time.fps
    return FrameRow(
        frame=frame,
        time=time,
        ms=sum(report.milliseconds["total"] for report in reports),
        newton_iterations=sum(report.newton_iterations for report in reports),
        residual=max(report.residual for report in reports),
        halvings=max(report.halvings for report in reports),
        kinetic_energy=float(0.5 * built.body.mass @ np.einsum("ij,ij->i", v, v)),
        elastic_energy=state.live.stiffness * _stored_energy(built, time, x, state.live.volume),
        kind=reports[-1].kind,
        contact_rounds=sum(report.contact_rounds for report in reports),
        contact_settled=all(report.contact_settled for report in reports),
        steps=tuple(_list_steps(reports)),
        phases=_sum_phases(reports),
        full_share=max(report.full_share for report in reports),
        estimated_error=reports[-1].estimated_error,
        body_contacts=_count_by_body(built, reports[-1].touching),
        **_sum_contacts(reports[-1].touching, len(built.drive.obstacles)),
    )


def _stored_energy(built: Built, time: float, x: NDArray[np.float64], volume: float) -> float:
    """Elastic energy [J] at positions [m], (n, 3), with the scene's stiffness and a target volume."""
    if built.tied is None or not built.scene.method.is_projective:
        return built.drive.rest_body(time).energy(x)
    return sum(constraint.inflated(volume).energy(x) for constraint in built.tied.constraints)


def _sum_phases(reports: Sequence[Report]) -> dict[str, float]:
    """Milliseconds of all steps by phase."""
    phases: dict[str, float] = {}
    for report in reports:
        for phase, spent in report.milliseconds.items():
            if phase != "total":
                phases[phase] = phases.get(phase, 0.0) + spent
    return phases


def _list_steps(reports: Sequence[Report]) -> Iterator[StepRow]:
    """What a method that skips steps did in each."""
    for report in reports:
        skip = report.skip
        if skip is not None:
            yield StepRow(
                report.kind, skip.checked, skip.rejected, skip.learned, skip.rank, skip.elements, report.estimated_error
            )


def _count_by_body(built: Built, touching: Touch | None) -> dict[str, int]:
    """How many contacts each of several bodies bears, those that it shares with another counted for both."""
    counts = {}
    for name, own in built.spans().items():
        borne = np.zeros(0) if touching is None else (touching.bearing >= own.start) & (touching.bearing < own.stop)
        counts[name] = 0 if touching is None else int((borne & (touching.weights != 0.0)).any(axis=1).sum())
    return counts


def _sum_contacts(touching: Touch | None, colliders: int) -> dict[str, Any]:
    """How many contacts there are, how deep the deepest, and with what force each collider pushes the body [N]."""
    forces = np.zeros((colliders, 3))
    if touching is not None:
        outside = touching.source != SELF
        np.add.at(forces, touching.source[outside], touching.force[outside])
    return {
        "contacts": 0 if touching is None else len(touching),
        "contact_depth": 0.0 if touching is None else float(touching.depth.max()),
        "contact_forces": tuple(tuple(force) for force in forces.tolist()),
    }
