"""What acts on several bodies: on each what its own scene says, in its own frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.elastic.joined import join_bodies
from supple.method import CoupledInputs, OwnEvent
from supple.scene.drive import Drive
from supple.solve import Event, Inputs, Moment

__all__ = ["JointDrive"]


@dataclass(frozen=True)
class JointDrive(Drive):
    """The drives of all bodies; `body` is all of them as one."""

    drives: tuple[Drive, ...] = ()

    @property
    def moves(self) -> bool:
        """Whether anything that drives a body moves."""
        return any(drive.moves for drive in self.drives)

    def moment(self, time: float, holding: float | None = None) -> Moment:
        """Targets and poses of all bodies in turn, in the world, and where the colliders stand there."""
        moments = [drive.moment(time, holding) for drive in self.drives]
        targets = [
            moment.targets if drive.frame is None else drive.frame.move(moment.targets)
            for drive, moment in zip(self.drives, moments, strict=True)
        ]
        poses = [moment.pose for moment in moments if moment.pose is not None]
        pose = np.concatenate(poses) if poses else None
        return Moment(time, np.concatenate(targets), (), self.placements(time), pose)

    def place(self, start: Moment) -> NDArray[np.float64]:
        """Positions [m] of all vertices in a run that begins at a moment, (n, 3)."""
        placed = []
        for drive in self.drives:
            own = drive.place(drive.moment(start.time))
            placed.append(own if drive.frame is None else drive.frame.move(own))
        return np.concatenate(placed)

    def rest_body(self, time: float) -> Body:
        """All bodies with the rest shapes of `time` [s]."""
        return join_bodies([drive.rest_body(time) for drive in self.drives], self.body.mesh)

    def changes(self, before: float | None, now: float) -> tuple[Event, ...]:
        """What changes for each body between steps that begin at `before` and at `now` [s]."""
        found = [
            OwnEvent(number, event) for number, drive in enumerate(self.drives) for event in drive.changes(before, now)
        ]
        return cast(tuple[Event, ...], tuple(found))

    def inputs(self, begin: float, end: float, events: Sequence[Any] = ()) -> Inputs:
        """What a step of all bodies is given."""
        parts = []
        for number, drive in enumerate(self.drives):
            steered = drive if self.steering is None else replace(drive, steering=self.steering)
            own = [one.event for one in events if isinstance(one, OwnEvent) and one.member == number]
            parts.append(steered.inputs(begin, end, own))
        heard = tuple(event for event in events if not isinstance(event, OwnEvent))
        return CoupledInputs(self.moment(begin), self.moment(end, begin), heard, tuple(parts))
