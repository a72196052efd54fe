"""What several bodies that are stepped side by side are given, and the state they are in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.result import Touch
from supple.contact.sets import NO_PAIRS
from supple.elastic import Body
from supple.method.solver import Solver
from supple.solve import AddPin, Event, Grab, Inputs, Move, PassingForce, Placement, RemovePin, SetGravity
from supple.solve.live import Live

__all__ = ["CoupledInputs", "CoupledState", "Member", "OwnEvent"]

FloatArray = NDArray[np.float64]


class Member(NamedTuple):
    """One of several bodies, with the solver of its own, which sees it in a frame of its own."""

    name: str
    solver: Solver[Any]
    body: Body
    place: Placement
    """Of that frame in the world."""
    vertices: slice
    """Of the body, among those of all."""
    controls: int = 0
    """Numbers in a pose of its rig."""

    def localise(self, field: FloatArray) -> FloatArray:
        """Vectors at all vertices of the world, (n, 3), as the body sees those of its own."""
        return np.asarray(field[self.vertices] @ self.place.rotation)

    def hear(self, event: Event) -> Event | None:
        """What an event in the world is to this body; None where it does not concern it."""
        match event:
            case Grab(_, vertices, _, target):
                own = self._number(vertices)
                return replace(event, vertices=own, target=self._localise(target)) if own else None
            case Move(_, target):
                return replace(event, target=self._localise(target))
            case AddPin(vertices) | RemovePin(vertices):
                own = self._number(vertices)
                return replace(event, vertices=own) if own else None
            case SetGravity(acceleration):
                return SetGravity(_tuple(np.asarray(acceleration) @ self.place.rotation))
        return event

    def push(self, inputs: Inputs, forces: FloatArray) -> Inputs:
        """A step in which forces of the world act on the body, too [N], (n, 3)."""
        acting = PassingForce.of(forces @ self.place.rotation)
        begin = replace(inputs.begin, forces=(*inputs.begin.forces, *acting))
        return replace(inputs, begin=begin, end=replace(inputs.end, forces=(*inputs.end.forces, *acting)))

    def show(self, touching: Touch) -> Touch:
        """What the body touches, in the world and with the numbers that its vertices have among all."""
        first = np.int32(self.vertices.start)
        return replace(
            touching, vertex=touching.vertex + first, bearing=touching.bearing + first,
            point=self.place.move(touching.point), normal=self.place.turn(touching.normal),
            force=self.place.turn(touching.force),
        )  # fmt: skip

    def _number(self, vertices: Sequence[int]) -> tuple[int, ...]:
        first, last = self.vertices.start, self.vertices.stop
        return tuple(v - first for v in vertices) if all(first <= v < last for v in vertices) else ()

    def _localise(self, point: Sequence[float]) -> tuple[float, float, float]:
        return _tuple(self.place.localise(np.asarray([point], np.float64))[0])


@dataclass(frozen=True)
class OwnEvent:
    """An event that one of several bodies hears, as it sees it."""

    member: int
    event: Event


@dataclass(frozen=True, eq=False)
class CoupledInputs(Inputs):
    """A step of all bodies: what each is given, in its own frame."""

    parts: tuple[Inputs, ...] = ()

    def halves(self) -> tuple["CoupledInputs", "CoupledInputs"]:
        """The same step as two of half the length; events belong to the first."""
        early, late = super().halves()
        first, second = zip(*(part.halves() for part in self.parts), strict=True)
        return (
            CoupledInputs(early.begin, early.end, early.events, first),
            CoupledInputs(late.begin, late.end, late.events, second),
        )


@dataclass(frozen=True, eq=False)
class CoupledState:
    """The states of all bodies, and what presses them apart."""

    states: tuple[Any, ...]
    push: FloatArray
    """On every vertex by other bodies in the last step [N], (n, 3)."""
    pressed: FloatArray
    """The same on vertices that touch, without what they feel as parts of what is touched [N], (n, 3)."""
    pairs: NDArray[np.int32] = field(default_factory=lambda: NO_PAIRS)
    """Vertices and the triangles of other bodies that they touch, (k, 2)."""

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.states[0].time)

    @property
    def live(self) -> Live:
        """What the user changed of the first body; stiffness and gravity are changed for all alike."""
        live: Live = self.states[0].live
        return live

    def pack(self, members: Sequence[Member]) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        packed: dict[str, NDArray[np.generic]] = {"push": self.push, "pressed": self.pressed, "pairs": self.pairs}
        for number, (member, state) in enumerate(zip(members, self.states, strict=True)):
            packed |= {f"{number}.{name}": array for name, array in member.solver.pack(state).items()}
        return packed

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]], members: Sequence[Member]) -> "CoupledState":
        """The state that was packed."""
        states = []
        for number, member in enumerate(members):
            prefix = f"{number}."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            states.append(member.solver.unpack(own))
        push, pressed = (np.asarray(arrays[name], np.float64) for name in ("push", "pressed"))
        return cls(tuple(states), push, pressed, np.asarray(arrays["pairs"], np.int32))


def _tuple(vector: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in vector)
    return x, y, z
