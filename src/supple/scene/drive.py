"""What acts on the body at any time: pin targets, forces, pins taking hold and letting go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.elastic import Body, Pins
from supple.method.novelty import GRAVITY, digest_load, digest_pins, unit_of
from supple.scene.collider import ColliderTable
from supple.scene.force import Force
from supple.scene.obstacle import Obstacle
from supple.scene.pin import Pin
from supple.scene.rig_motion import unwind
from supple.scene.rigging import Rigging
from supple.scene.shell_table import VolumeTable
from supple.scene.steer import Steering
from supple.solve import AddPin, Event, Gravity, Inputs, Moment, NodalForce, Placement, RemovePin, SetVolume
from supple.solve.live import hold_events

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
        return self._nodal.along(vector)

    @cached_property
    def _nodal(self) -> NodalForce:
        return NodalForce(self.vertices, self.weights, np.zeros(3))

    def digest(self) -> str:
        """Fingerprint of what it acts on, by which a model knows the loads it was trained for."""
        return GRAVITY if self.force.kind == "gravity" else digest_load(self.vertices, self.weights)


@dataclass(frozen=True)
class Drive:
    """All that a scene does to its body, as a function of time alone."""

    body: Body
    parts: tuple[HeldPart, ...]
    loads: tuple[Load, ...]
    gravity: tuple[float, float, float] | None
    obstacles: tuple[Obstacle, ...] = ()
    rigging: Rigging | None = None
    volume: VolumeTable | None = None
    steering: Steering | None = None
    """What a user adds while it runs."""
    frame: Placement | None = None
    """Of the body's own frame in the world, in which colliders stand; None: they are one."""

    @property
    def colliders(self) -> tuple[Collider, ...]:
        """The solids that the body stops at."""
        return tuple(obstacle.solid for obstacle in self.obstacles)

    @property
    def moves(self) -> bool:
        """Whether a pin, a collider, the rig or the target volume moves."""
        posed = self.rigging is not None and self.rigging.course.moves
        keyed = self.volume is not None and self.volume.keys is not None
        return posed or keyed or any(table.move is not None or table.turn is not None for table in self.tables())

    def tables(self) -> list[Pin | ColliderTable]:
        """The tables of all that may move: pins, then colliders."""
        return [*(part.pin for part in self.parts), *(obstacle.table for obstacle in self.obstacles)]

    def moment(self, time: float, holding: float | None = None) -> Moment:
        """Targets, forces, colliders and pose at `time` [s].

        In the pre-roll (time < 0) pins and colliders stand where they begin; the rig goes to its first pose.
        `holding` [s] is the time that decides which pins hold: the beginning of a step, for all of it.
        """
        held = time if holding is None else holding
        pose = self.pose(time)
        targets = self.targets(max(time, 0.0), held, pose)
        return Moment(time, targets, self.forces(time), self.placements(time), pose)

    def pose(self, time: float) -> NDArray[np.float64] | None:
        """The pose of the rig at `time` [s], (p,); None without a rig."""
        if self.rigging is None:
            return None
        pose = self.rigging.course.pose(time)
        change = None if self.steering is None else self.steering.pose(time)
        return pose if change is None else pose + change

    def targets(self, time: float, holding: float, pose: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Positions [m] of the pinned vertices, shape (k, 3); where pins overlap, the last that holds counts.

        A pin counts before the rig, whose pose (p,) places what it holds.
        """
        pinned = self.body.pins.vertices
        targets = self.body.mesh.vertices[pinned].copy()
        if self.rigging is not None and pose is not None:
            targets[np.searchsorted(pinned, self.rigging.held.pins.vertices)] = self.rigging.held.targets(pose)
        for part in self._own():
            if part.pin.holds(holding):
                rows = np.searchsorted(pinned, part.vertices)
                held = np.array([axis in part.pin.axes for axis in "xyz"])
                placed = part.pin.targets(self.body.mesh.vertices[part.vertices], time)
                targets[rows] = np.where(held, placed, targets[rows])
        return targets

    def rest_body(self, time: float) -> Body:
        """The body with the rest shape against which its strain at `time` [s] is measured."""
        pose = self.pose(time)
        return self.body if self.rigging is None or pose is None else self.rigging.rest_body(self.body, pose)

    def place(self, start: Moment) -> NDArray[np.float64]:
        """Positions [m] of all vertices in a run that begins at a moment, shape (n, 3): skinned, and pinned."""
        x, pins = self.body.mesh.vertices.copy(), self.body.pins
        if self.rigging is not None and start.pose is not None:
            x = self.rigging.rig.positions(start.pose)
        x[pins.vertices] = np.where(pins.held, start.targets, x[pins.vertices])
        return x

    def placements(self, time: float) -> tuple[Placement, ...]:
        """Where the colliders stand at `time` [s]; before time 0, where they begin."""
        found = tuple(obstacle.place(max(time, 0.0)) for obstacle in self.obstacles)
        if self.steering is not None:
            found = tuple(self.steering.place(number, placement, time) for number, placement in enumerate(found))
        return found if self.frame is None else tuple(placement.seen_from(self.frame) for placement in found)

    def _own(self) -> list[HeldPart]:
        """The pins that hold from the start; the others hold vertices where they are found, by an event."""
        return [part for part in self.parts if part.pin.from_ is None]

    def forces(self, time: float) -> tuple[SolverForce, ...]:
        """The forces that act at `time` [s]."""
        steady = [] if self.gravity is None else [Gravity(np.asarray(self.gravity))]
        return (*steady, *(load.at(time) for load in self.loads))

    def directions(self) -> list[dict[str, Any]]:
        """Every patch that is pushed, gravity and pins that take hold among them, with the direction; of forces also
        the largest size [N or m/s²]. Plain JSON."""
        pushed: list[tuple[str, Any, float | None]] = []
        if self.gravity is not None:
            pushed.append((GRAVITY, self.gravity, 1.0))
        pushed += [(load.digest(), load.force.vector, load.force.most()) for load in self.loads]
        for begin in sorted({part.pin.from_ for part in self.parts if part.pin.from_ is not None}):
            axes = self._axes(part.pin.from_ == begin for part in self.parts)
            held = np.flatnonzero(axes.any(axis=0))
            pushed += [(digest_pins(np.flatnonzero(axes[:, axis])), np.eye(3)[axis], None) for axis in held]
        found = []
        for patch, vector, most in pushed:
            unit = unit_of(vector)
            if unit is not None:
                size = {} if most is None else {"size": most * float(np.linalg.norm(vector))}
                found.append({"patch": patch, "direction": unit, **size})
        return found

    def changes(self, before: float | None, now: float) -> tuple[Event, ...]:
        """Pins that let go or take hold, and target volumes that change, between steps that begin at `before` and at
        `now` [s].

        Before the first step (None) every pin holds that has no `from`, and the target is the volume at rest.
        """
        return (*self._change_volume(before, now), *self._change_pins(before, now))

    def _change_volume(self, before: float | None, now: float) -> tuple[Event, ...]:
        if self.volume is None:
            return ()
        was, wanted = 1.0 if before is None else self.volume.factor(before), self.volume.factor(now)
        return () if was == wanted else (SetVolume(wanted),)

    def _change_pins(self, before: float | None, now: float) -> tuple[Event, ...]:
        was = [part.pin.from_ is None if before is None else part.pin.holds(before) for part in self.parts]
        held = [part.pin.holds(now) for part in self.parts]
        if was == held:
            return ()
        ended = self._axes(w and not h for w, h in zip(was, held, strict=True))
        ended &= ~self._axes(w and h for w, h in zip(was, held, strict=True))
        if self.rigging is not None:  # which takes over what a pin lets go
            ended[self.rigging.held.pins.vertices] = False
        begun = self._axes(h and not w for w, h in zip(was, held, strict=True))
        everything = np.arange(len(ended), dtype=np.int32)
        return (*hold_events(RemovePin, Pins(everything, ended)), *hold_events(AddPin, Pins(everything, begun)))

    def _axes(self, chosen: Iterable[bool]) -> NDArray[np.bool_]:
        """The axes that the chosen pins hold, shape (n, 3)."""
        axes = np.zeros(self.body.mesh.vertices.shape, dtype=np.bool_)
        for part, counts in zip(self.parts, chosen, strict=True):
            if counts:
                axes[part.vertices] |= [axis in part.pin.axes for axis in "xyz"]
        return axes

    def inputs(self, begin: float, end: float, events: Sequence[Event] = ()) -> Inputs:
        """What a step from `begin` to `end` [s] is given."""
        first, last = self.moment(begin), self.moment(end, holding=begin)
        if self.rigging is not None and first.pose is not None and last.pose is not None:
            last = replace(last, pose=unwind(last.pose, first.pose, self.rigging.course.motion.turns))
        return Inputs(first, last, tuple(events))
