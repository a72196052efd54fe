"""What events have changed since a simulation began: part of its state."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.errors import SceneError
from supple.solve.events import AddPin, Event, Grab, Move, Release, RemovePin, SetGravity, SetStiffness, SetThrottle
from supple.solve.forces import Force, Gravity

__all__ = ["Live"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Live:
    """Settings that differ from the scene's, pins added and released, points held by the user."""

    stiffness: float = 1.0
    gravity: tuple[float, float, float] | None = None
    throttle: float = 1.0
    grabs: tuple[Grab, ...] = ()
    added: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Vertices pinned by the user, ascending."""
    places: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    """Where they are held [m]."""
    released: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    """Vertices whose own pins the user took away."""

    def after(self, events: tuple[Event, ...], x: FloatArray) -> "Live":
        """The settings after events that happen at positions x [m]."""
        live = self
        for event in events:
            live = live._apply(event, x)
        return live

    def _apply(self, event: Event, x: FloatArray) -> "Live":
        match event:
            case SetStiffness(factor):
                if not (math.isfinite(factor) and factor > 0):
                    raise SceneError(f"stiffness factor {factor} is not positive: give a number above 0.")
                return replace(self, stiffness=factor)
            case SetGravity(acceleration):
                return replace(self, gravity=acceleration)
            case SetThrottle(value):
                return replace(self, throttle=value)
            case Grab():
                _check_vertices(event.vertices, len(x))
                if len(event.vertices) != len(event.weights):
                    raise SceneError("a grab needs one weight for each vertex: correct the event.")
                return replace(self, grabs=(*(g for g in self.grabs if g.name != event.name), event))
            case Move(name, target):
                grabs = tuple(replace(g, target=target) if g.name == name else g for g in self.grabs)
                return replace(self, grabs=grabs)
            case Release(name):
                return replace(self, grabs=tuple(g for g in self.grabs if g.name != name))
            case AddPin(vertices):
                _check_vertices(vertices, len(x))
                added = np.union1d(self.added, vertices).astype(np.int32)
                places = x[added].copy()
                places[np.isin(added, self.added)] = self.places
                return replace(self, added=added, places=places, released=np.setdiff1d(self.released, added))
            case RemovePin(vertices):
                _check_vertices(vertices, len(x))
                keep = ~np.isin(self.added, vertices)
                released = np.union1d(self.released, vertices).astype(np.int32)
                return replace(self, added=self.added[keep], places=self.places[keep], released=released)

    def pins(self, own: Pins) -> Pins:
        """The pins in force: the body's own less the released, and the added."""
        if not len(self.added) and not len(self.released):
            return own
        return Pins.merge([own.without(self.released), Pins.of(self.added)])

    def place(self, x: FloatArray, own: Pins, targets: FloatArray) -> FloatArray:
        """Positions with every pinned coordinate where it is held."""
        x = x.copy()
        keep = ~np.isin(own.vertices, self.released)
        vertices, held = own.vertices[keep], own.held[keep]
        x[vertices] = np.where(held, targets[keep], x[vertices])
        x[self.added] = self.places
        return x

    def forces(self, scene: tuple[Force, ...]) -> tuple[Force, ...]:
        """The scene's forces, with gravity replaced when the user replaced it."""
        if self.gravity is None:
            return scene
        return (*(f for f in scene if not isinstance(f, Gravity)), Gravity(np.array(self.gravity)))


def _check_vertices(vertices: tuple[int, ...], count: int) -> None:
    if not vertices or min(vertices) < 0 or max(vertices) >= count:
        raise SceneError(f"an event names vertices {list(vertices)[:5]} of a body with {count}: correct their numbers.")
