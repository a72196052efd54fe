"""What acts on the body at any time: pin targets, forces, pins taking hold and letting go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.scene.force import Force
from supple.scene.pin import Pin
from supple.solve import AddPin, Event, Gravity, Inputs, Moment, NodalForce, RemovePin

__all__ = ["Drive", "HeldPart", "Load"]

SolverForce = Gravity | NodalForce


@dataclass(frozen=True)
class HeldPart:
    """A scene's pin with the vertices it selects, shape (k,)."""

    pin: Pin
    vertices: NDArray[np.int32]


@dataclass(frozen=True)
class Load:
    """A scene's force with the vertices it acts on and their weights, shapes (k,); none for gravity."""

    force: Force
    vertices: NDArray[np.int32]
    weights: NDArray[np.float64]

    def at(self, time: float) -> SolverForce:
        """The force at `time` [s]; zero when it does not act, so that all moments have the same forces."""
        vector = self.force.strength(time) * np.asarray(self.force.vector)
        if self.force.kind == "gravity":
            return Gravity(vector)
        return NodalForce(self.vertices, self.weights, vector)


@dataclass(frozen=True)
class Drive:
    """All that a scene does to its body, as a function of time alone."""

    body: Body
    parts: tuple[HeldPart, ...]
    loads: tuple[Load, ...]
    gravity: tuple[float, float, float] | None

    def moment(self, time: float) -> Moment:
        """Targets and forces at `time` [s]; during the pre-roll (time < 0) pins stand where they begin."""
        return Moment(time=time, targets=self.targets(max(time, 0.0)), forces=self.forces(time))

    def targets(self, time: float) -> NDArray[np.float64]:
        """Positions [m] of the pinned vertices, shape (k, 3); where pins overlap, the last one counts."""
        pinned = self.body.pins.vertices
        targets = self.body.mesh.vertices[pinned].copy()
        for part in self.parts:
            if part.pin.from_ is not None:  # held where they are found, by an event
                continue
            rows = np.searchsorted(pinned, part.vertices)
            held = np.array([axis in part.pin.axes for axis in "xyz"])
            placed = part.pin.targets(self.body.mesh.vertices[part.vertices], time)
            targets[rows] = np.where(held, placed, targets[rows])
        return targets

    def forces(self, time: float) -> tuple[SolverForce, ...]:
        """The forces that act at `time` [s]."""
        steady = [] if self.gravity is None else [Gravity(np.asarray(self.gravity))]
        return (*steady, *(load.at(time) for load in self.loads))

    def changes(self, before: float | None, now: float) -> tuple[Event, ...]:
        """Pins that let go or take hold between steps that begin at `before` and at `now` [s].

        Before the first step (None) every pin holds that has no `from`.
        """
        was = [part.pin.from_ is None if before is None else part.pin.holds(before) for part in self.parts]
        held = [part.pin.holds(now) for part in self.parts]
        if was == held:
            return ()
        ended = _join(part for part, w, h in zip(self.parts, was, held, strict=True) if w and not h)
        kept = _join(part for part, w, h in zip(self.parts, was, held, strict=True) if w and h)
        begun = _join(part for part, w, h in zip(self.parts, was, held, strict=True) if h and not w)
        events: list[Event] = []
        if ended - kept:
            events.append(RemovePin(tuple(sorted(ended - kept))))
        if begun:
            events.append(AddPin(tuple(sorted(begun))))
        return tuple(events)

    def inputs(self, begin: float, end: float, events: Sequence[Event] = ()) -> Inputs:
        """What a step from `begin` to `end` [s] is given."""
        return Inputs(begin=self.moment(begin), end=self.moment(end), events=tuple(events))


def _join(parts: Iterable[HeldPart]) -> set[int]:
    """All vertices that these pins select."""
    return {int(vertex) for part in parts for vertex in part.vertices}
