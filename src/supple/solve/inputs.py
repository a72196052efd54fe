"""What a scene prescribes: at one moment, and over one step."""

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from supple.arguments import as_floats, check_number, check_type, describe, refuse, remember
from supple.solve.events import Event
from supple.solve.forces import Force
from supple.solve.placement import Placement

__all__ = ["Inputs", "Moment", "round_duration"]


def round_duration(seconds: float) -> float:
    """The length of a step [s] to nine digits: times are sums, and equal steps differ in the last ones."""
    return float(f"{seconds:.9g}")


@dataclass(frozen=True, eq=False)
class Moment:
    """Everything prescribed at one time."""

    time: float
    """[s]"""
    targets: NDArray[np.float64]
    """Positions of the body's pinned vertices [m], (k, 3), in the order of its pins."""
    forces: tuple[Force, ...] = ()
    colliders: tuple[Placement, ...] = ()
    """Where the scene's colliders stand, in their order."""
    pose: NDArray[np.float64] | None = None
    """Of the rig that drives the body, (p,); None without one."""

    def __post_init__(self) -> None:
        check_number(self.time, "Moment(time)", unit="s")
        targets = as_floats(self.targets, "Moment(targets)", ("k", 3), unit="m")
        pose = None if self.pose is None else as_floats(self.pose, "Moment(pose)", ("p",), finite=False)
        check_type(self.forces, "Moment(forces)", (tuple, list), "a tuple of forces")
        for number, force in enumerate(self.forces):
            if not hasattr(force, "add_to"):  # a protocol's isinstance costs more than the step's other checks
                want = "a force such as Gravity((0, -9.81, 0))"
                refuse(f"Moment(forces[{number}])", describe(force), want)
        check_type(self.colliders, "Moment(colliders)", (tuple, list), "a tuple of placements")
        for number, place in enumerate(self.colliders):
            check_type(place, f"Moment(colliders[{number}])", Placement, "a Placement")
        remember(self, targets=targets, pose=pose, forces=tuple(self.forces), colliders=tuple(self.colliders))

    def blend(self, other: "Moment", share: float) -> "Moment":
        """The moment `share` of the way to another of the same step."""
        return Moment(
            (1.0 - share) * self.time + share * other.time,
            (1.0 - share) * self.targets + share * other.targets,
            tuple(a.blend(b, share) for a, b in zip(self.forces, other.forces, strict=True)),
            tuple(a.blend(b, share) for a, b in zip(self.colliders, other.colliders, strict=True)),
            None if self.pose is None or other.pose is None else (1.0 - share) * self.pose + share * other.pose,
        )


@dataclass(frozen=True, eq=False)
class Inputs:
    """One step: from `begin` to `end`, after what the user did."""

    begin: Moment
    end: Moment
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        for name, moment in (("begin", self.begin), ("end", self.end)):
            check_type(moment, f"Inputs({name})", Moment, "a Moment")
        check_type(self.events, "Inputs(events)", (tuple, list), "a tuple of events")
        for number, event in enumerate(self.events):
            check_type(event, f"Inputs(events[{number}])", get_args(Event), "an event such as SetGravity((0, 0, 0))")

    @property
    def duration(self) -> float:
        """Length of the step [s]."""
        return self.end.time - self.begin.time

    def halves(self) -> tuple["Inputs", "Inputs"]:
        """The same step as two of half the length; events belong to the first."""
        middle = self.begin.blend(self.end, 0.5)
        return Inputs(self.begin, middle, self.events), Inputs(middle, self.end)
