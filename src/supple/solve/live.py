"""What events have changed since a simulation began: part of its state."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.arguments import refuse
from supple.elastic import Pins
from supple.errors import SceneError
from supple.solve.events import (
    AddPin,
    Event,
    Grab,
    Move,
    MoveCollider,
    Release,
    RemovePin,
    SetGravity,
    SetPose,
    SetScene,
    SetStiffness,
    SetThrottle,
    SetVolume,
)
from supple.solve.forces import Force, Gravity

__all__ = ["Live", "hold_events"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Live:
    """Settings that differ from the scene's, pins added and released, points held by the user."""

    stiffness: float = 1.0
    gravity: tuple[float, float, float] | None = None
    throttle: float = 1.0
    grabs: tuple[Grab, ...] = ()
    added: Pins = field(default_factory=Pins.none)
    """Pins put by the user."""
    places: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    """Where they hold [m], (k, 3)."""
    released: Pins = field(default_factory=Pins.none)
    """The axes along which the user let vertices go that the scene holds."""
    volume: float = 1.0
    """What volume constraints aim at, times the scene's."""

    def after(self, events: tuple[Event, ...], x: FloatArray) -> "Live":
        """The settings after events that happen at positions x [m]."""
        live = self
        for event in events:
            live = live._apply(event, x)
        return live

    def _apply(self, event: Event, x: FloatArray) -> "Live":
        match event:
            case SetStiffness(factor):
                _check_factor("stiffness", factor)
                return replace(self, stiffness=factor)
            case SetVolume(factor):
                _check_factor("volume", factor)
                return replace(self, volume=factor)
            case SetGravity(acceleration):
                return replace(self, gravity=acceleration)
            case SetThrottle(value):
                return replace(self, throttle=value)
            case Grab():
                _check_vertices(event.vertices, len(x))
                return replace(self, grabs=(*(g for g in self.grabs if g.name != event.name), event))
            case Move(name, target):
                grabs = tuple(replace(g, target=target) if g.name == name else g for g in self.grabs)
                return replace(self, grabs=grabs)
            case Release(name):
                return replace(self, grabs=tuple(g for g in self.grabs if g.name != name))
            case SetPose() | MoveCollider() | SetScene():  # which come to a solver by its inputs, or bring another
                return self
            case AddPin(vertices, axes):
                _check_vertices(vertices, len(x))
                added = Pins.merge([self.added, Pins.of(vertices, axes)])
                places = x[added.vertices].copy()
                known = np.isin(added.vertices, self.added.vertices)
                places[known] = np.where(self.added.held, self.places, places[known])
                return replace(self, added=added, places=places)
            case RemovePin(vertices, axes):
                _check_vertices(vertices, len(x))
                gone = Pins.of(vertices, axes)
                added = self.added.without(gone)
                places = self.places[np.isin(self.added.vertices, added.vertices)]
                return replace(self, added=added, places=places, released=Pins.merge([self.released, gone]))

    def retell(self) -> tuple[Event, ...]:
        """The events that make these settings of untouched ones; pins hold where their vertices are then."""
        gravity = () if self.gravity is None else (SetGravity(self.gravity),)
        pins = (*hold_events(RemovePin, self.released), *hold_events(AddPin, self.added))
        factors = SetStiffness(self.stiffness), SetThrottle(self.throttle), SetVolume(self.volume)
        return (*factors, *gravity, *pins, *self.grabs)

    def pins(self, own: Pins) -> Pins:
        """The pins in force: the body's own less the released, and the added."""
        if not len(self.added.vertices) and not len(self.released.vertices):
            return own
        return Pins.merge([own.without(self.released), self.added])

    def place(self, x: FloatArray, own: Pins, targets: FloatArray) -> FloatArray:
        """Positions with every pinned coordinate where it is held."""
        if targets.shape != own.held.shape:
            remedy = "Give one target for every pinned vertex."
            refuse("Moment(targets)", f"shape {targets.shape}", f"{own.held.shape} [m]", remedy)
        x = x.copy()
        if not len(self.added.vertices) and not len(self.released.vertices):
            x[own.vertices] = np.where(own.held, targets, x[own.vertices])
            return x
        kept = own.without(self.released)
        rows = np.isin(own.vertices, kept.vertices)
        x[kept.vertices] = np.where(kept.held, targets[rows], x[kept.vertices])
        x[self.added.vertices] = np.where(self.added.held, self.places, x[self.added.vertices])
        return x

    def forces(self, scene: tuple[Force, ...]) -> tuple[Force, ...]:
        """The scene's forces, with gravity replaced when the user replaced it."""
        if self.gravity is None:
            return scene
        return (*(f for f in scene if not isinstance(f, Gravity)), Gravity(np.array(self.gravity)))


def hold_events(kind: type[AddPin] | type[RemovePin], pins: Pins) -> list[Event]:
    """The events that take hold of vertices, or let them go, as these pins have them: one for each set of axes."""
    events: list[Event] = []
    for pattern in np.unique(pins.held[pins.held.any(axis=1)], axis=0):
        vertices = pins.vertices[(pins.held == pattern).all(axis=1)]
        events.append(kind(tuple(vertices.tolist()), "".join(np.array(list("xyz"))[pattern])))
    return events


def _check_factor(what: str, factor: float) -> None:
    if not (math.isfinite(factor) and factor > 0):
        raise SceneError(f"{what} factor {factor} is not positive: give a number above 0.")


def _check_vertices(vertices: tuple[int, ...], count: int) -> None:
    if not vertices or min(vertices) < 0 or max(vertices) >= count:
        raise SceneError(f"an event names vertices {list(vertices)[:5]} of a body with {count}: correct their numbers.")
