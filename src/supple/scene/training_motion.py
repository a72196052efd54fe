"""Recorded cases as a reduced model sees them: displacements in the body's own frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError
from supple.method.measure import measure_errors
from supple.scene.build import Stage
from supple.scene.cases import Case, last_key
from supple.scene.snapshot_cache import Recorded
from supple.subspace import BodyFrame, carried_fields
from supple.subspace.rigid_fit import pin_displacement

__all__ = ["LocalMotion", "Snapshots", "follow_pins", "gather_snapshots", "see_locally"]

FloatArray = NDArray[np.float64]
STILL = 1e-9  #: share of the body's size below which nothing moved
CARRIED = 1e-6  #: share of the body's size to which pin displacements are followed
MOMENTS = 500  #: at which the scene's pins are looked at


@dataclass(frozen=True, eq=False)
class LocalMotion:
    """A case in the frame of the reference: x = c + R (X + d), d = S p + u."""

    case: Case
    frames: list[tuple[FloatArray, FloatArray]]
    """R (3, 3) and c [m] at every step."""
    d: FloatArray
    """Displacements in the frame [m], (steps + 1, n, 3)."""
    p: FloatArray
    """Coordinates of the carried fields, (steps + 1, s)."""
    u: FloatArray
    """What carried fields leave of them [m], (steps + 1, n, 3): what a basis must hold."""
    share: float = 1.0
    """What errors relative to the displacements in the frame are multiplied by."""

    @property
    def largest(self) -> float:
        """Largest displacement of a vertex in the frame [m]."""
        return float(np.linalg.norm(self.d, axis=2).max())

    def error(self, positions: Sequence[FloatArray], rest: FloatArray, mass: FloatArray, size: float) -> float:
        """Relative error of positions (n, 3) [m] at every step: in the metric, to the displacements in the frame."""
        seen = [(x - c) @ R for x, (R, c) in zip(positions, self.frames, strict=True)]
        return self.share * measure_errors(seen[1:], rest + self.d[1:], rest, mass, size).relative


@dataclass(frozen=True, eq=False)
class Snapshots:
    """What a basis and its rule learn from: the steps of all training motions, one after another."""

    u: FloatArray
    """As in a motion [m], (t, n, 3)."""
    p: FloatArray
    """(t, s)"""
    largest: float
    """Largest displacement of a vertex in the frame [m]."""
    cases: int

    def join(self, other: Snapshots) -> Snapshots:
        """These snapshots and others after them."""
        u, p = np.concatenate([self.u, other.u]), np.concatenate([self.p, other.p])
        return Snapshots(u, p, max(self.largest, other.largest), self.cases + other.cases)


def gather_snapshots(motions: Iterable[LocalMotion], count: int) -> Snapshots:
    """The `count` steps of motions that may come one by one: none of them is kept."""
    u = None
    p: list[FloatArray] = []
    largest, end = 0.0, 0
    for motion in motions:
        u = np.empty((count, *motion.u.shape[1:])) if u is None else u
        u[end : end + len(motion.u)] = motion.u
        end += len(motion.u)
        p.append(motion.p)
        largest = max(largest, motion.largest)
    assert u is not None
    return Snapshots(u, np.concatenate(p), largest, len(p))


def follow_pins(stage: Stage) -> BodyFrame:
    """The frame of the scene's body, with fields that hold all that its pins do over the scene."""
    pins, rest = stage.body.pins, stage.mesh.vertices
    end = stage.scene.time.frames / stage.scene.time.fps
    last = last_key(stage.drive)
    times = np.linspace(0.0, max(end, last if math.isfinite(last) else 0.0), MOMENTS)
    moved = any(part.pin.move is not None or part.pin.turn is not None for part in stage.drive.parts)
    held = [stage.drive.targets(float(time), float(time)) for time in (times if moved else times[:1])]
    displacements = np.stack([pin_displacement(pins, rest, targets) for targets in held])
    return BodyFrame(stage.body, carried_fields(stage.body, displacements, CARRIED * stage.mesh.size()))


def see_locally(recorded: Recorded, frame: BodyFrame, *, lands: bool = False) -> LocalMotion:
    """A recorded case in the body's frame; one in which nothing moves is refused.

    Errors are relative to displacements in the frame. Where a body flies and `lands`, they are relative to its whole
    motion: when and where it lands decides how it deforms, and a thousandth of a long fall may be a whole dent.
    """
    rest = frame.body.mesh.vertices
    targets = recorded.case.targets()
    frames = [frame.fit(x, held) for x, held in zip(recorded.x, targets, strict=True)]
    d = np.stack([(x - c) @ R - rest for x, (R, c) in zip(recorded.x, frames, strict=True)])
    p = np.stack([frame.follow(held) for held in targets])
    u = d - (p @ frame.carried.T).reshape(d.shape) if frame.carried.shape[1] else d
    share = _share_of(d, recorded.x, frame.body.mass) if lands else 1.0
    motion, size = LocalMotion(recorded.case, frames, d, p, u, share), frame.body.mesh.size()
    if motion.largest <= STILL * size:
        raise TrainingError(
            f"nothing deforms in training {recorded.case.name}: the largest displacement is {motion.largest:.3g} m of "
            f"a body {size:.3g} m across; give the scene a load, or add a [[training.load]]."
        )
    return motion


def _share_of(d: FloatArray, x: FloatArray, mass: FloatArray) -> float:
    """Size of displacements (t, n, 3) beside that of the motion x (t, n, 3), both in the mass norm."""
    local, whole = (float(np.einsum("tni,tni,n->", field, field, mass)) for field in (d[1:], x[1:] - x[0]))
    return math.sqrt(local / whole) if whole > local else 1.0
