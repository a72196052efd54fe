"""Bodies that pins carry, or nothing: motions in the frame of the body, and models of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.method import ReducedModel
from supple.scene.cases import last_key
from supple.scene.snapshot_cache import Recorded
from supple.scene.stage import Stage
from supple.scene.training_motion import Snapshots
from supple.scene.training_rule import find_rule
from supple.subspace import Basis, BodyFrame, carried_fields
from supple.subspace.rigid_fit import pin_displacement

__all__ = ["PinGuide", "follow_pins"]

FloatArray = NDArray[np.float64]
CARRIED = 1e-6  #: share of the body's size to which pin displacements are followed
MOMENTS = 500  #: at which the scene's pins are looked at


class RigidView(NamedTuple):
    """x = c + R (X + d)."""

    R: FloatArray
    c: FloatArray

    def see(self, x: FloatArray) -> FloatArray:
        return np.asarray((x - self.c) @ self.R)

    def show(self, points: FloatArray) -> FloatArray:
        return np.asarray(points @ self.R.T + self.c)


@dataclass(frozen=True, eq=False)
class PinGuide:
    """Pins that carry a body along, or none of a body that flies."""

    frame: BodyFrame

    @property
    def body(self) -> Body:
        return self.frame.body

    @property
    def carried(self) -> FloatArray:
        return self.frame.carried

    def follow(self, recorded: Recorded) -> tuple[Sequence[RigidView], FloatArray]:
        targets = recorded.case.targets()
        views = [RigidView(*self.frame.fit(x, held)) for x, held in zip(recorded.x, targets, strict=True)]
        return views, np.stack([self.frame.follow(held) for held in targets])

    def make_model(
        self, basis: Basis, train: Snapshots, q: FloatArray, tolerance: float, rng: np.random.Generator
    ) -> ReducedModel:
        rule = find_rule(self.body, basis, self.carried, train, q, tolerance, rng)
        return ReducedModel(basis, rule, self.carried, float(np.sqrt((q**2 @ basis.importance).max())))


def follow_pins(stage: Stage) -> PinGuide:
    """The frame of the scene's body, with fields that hold all that its pins do over the scene."""
    pins, rest = stage.body.pins, stage.mesh.vertices
    end = stage.scene.time.frames / stage.scene.time.fps
    last = last_key(stage.drive)
    times = np.linspace(0.0, max(end, last if math.isfinite(last) else 0.0), MOMENTS)
    moved = any(part.pin.move is not None or part.pin.turn is not None for part in stage.drive.parts)
    held = [stage.drive.targets(float(time), float(time)) for time in (times if moved else times[:1])]
    displacements = np.stack([pin_displacement(pins, rest, targets) for targets in held])
    carried = carried_fields(stage.body, displacements, CARRIED * stage.mesh.size())
    return PinGuide(BodyFrame(stage.body, carried))
