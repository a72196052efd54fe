"""How a body travels and turns in one step, as far as that can be told before: what damping must not resist."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.method.reduced.frame import rotation
from supple.method.state import FullState
from supple.solve.inputs import Inputs
from supple.subspace.rigid_fit import carries_frame, pin_frame

__all__ = ["StepFrame", "foresee_frame"]

FloatArray = NDArray[np.float64]


class Drift(NamedTuple):
    """A rigid field of velocities, times a step [m]: speed + spin x (x - centre)."""

    centre: FloatArray
    speed: FloatArray
    spin: FloatArray

    @classmethod
    def fit(cls, mass: FloatArray, x: FloatArray, way: FloatArray) -> "Drift":
        """The one nearest to ways (n, 3) [m] of masses at x (n, 3) [m]."""
        share = mass / mass.sum()
        centre, speed = share @ x, share @ way
        arms = x - centre
        second = arms.T @ (mass[:, None] * arms)
        momentum = mass @ np.cross(arms, way - speed)
        spin = np.linalg.lstsq(np.trace(second) * np.eye(3) - second, momentum, rcond=1e-12)[0]
        return cls(centre, speed, np.asarray(spin, np.float64))


class StepFrame(NamedTuple):
    """The rigid part of a step: x goes to c + R x."""

    R: FloatArray
    c: FloatArray
    """[m], (3,)"""
    drift: Drift
    """How it sets out."""

    def move(self, x: FloatArray) -> FloatArray:
        """Positions (n, 3) [m] after the rigid part."""
        return np.asarray(x @ self.R.T + self.c)

    def travel(self, x: FloatArray) -> FloatArray:
        """How far positions (n, 3) [m] would go at the velocities with which the frame sets out."""
        return np.asarray(self.drift.speed + np.cross(self.drift.spin, x - self.drift.centre))


def foresee_frame(rest: FloatArray, mass: FloatArray, pins: Pins, state: FullState, inputs: Inputs) -> StepFrame | None:
    """The frame of pins that carry the body, or of a body that nothing holds as it spins now; None where it stands."""
    live, h = state.live, inputs.duration
    if len(live.added.vertices) or len(live.released.vertices):
        return None
    held, begin, end = pins.vertices, inputs.begin.targets, inputs.end.targets
    if not len(held):
        return _go_on(Drift.fit(mass, state.x, h * state.v)) if state.v.any() else None
    if np.array_equal(begin, end) or not carries_frame(pins, rest):
        return None
    (R, c), (R_end, c_end) = (pin_frame(pins, rest, targets) for targets in (begin, end))
    turn = R_end @ R.T
    # Velocities of pins are half a step late: with those of the step itself they make the ones between
    way = 0.5 * (end - begin + h * state.v[held])
    return StepFrame(turn, c_end - turn @ c, Drift.fit(np.ones(len(held)), state.x[held], way))


def _go_on(drift: Drift) -> StepFrame:
    """The rigid motion that goes on as it is."""
    R = rotation(drift.spin)
    return StepFrame(R, drift.centre + drift.speed - R @ drift.centre, drift)
