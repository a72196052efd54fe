"""How a body travels and turns in one step, as far as that can be told before: what damping must not resist."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.method.reduced_frame import rotation
from supple.method.state import FullState
from supple.solve.inputs import Inputs
from supple.subspace.rigid_fit import carries_frame, pin_frame

__all__ = ["StepFrame", "foresee_frame"]

FloatArray = NDArray[np.float64]


class StepFrame(NamedTuple):
    """The rigid part of a step: x goes to c + R x."""

    R: FloatArray
    c: FloatArray
    """[m], (3,)"""

    def move(self, x: FloatArray) -> FloatArray:
        """Positions (n, 3) [m] after the rigid part."""
        return np.asarray(x @ self.R.T + self.c)


def foresee_frame(rest: FloatArray, mass: FloatArray, pins: Pins, state: FullState, inputs: Inputs) -> StepFrame | None:
    """The frame of pins that carry the body, or of a body that nothing holds as it spins now; None where it stands."""
    live = state.live
    if len(live.added.vertices) or len(live.released.vertices):
        return None
    if not len(pins.vertices):
        return _go_on(mass, state.x, state.v, inputs.duration) if state.v.any() else None
    if np.array_equal(inputs.begin.targets, inputs.end.targets) or not carries_frame(pins, rest):
        return None
    (R, c), (R_end, c_end) = (pin_frame(pins, rest, moment.targets) for moment in (inputs.begin, inputs.end))
    turn = R_end @ R.T
    return StepFrame(turn, c_end - turn @ c)


def _go_on(mass: FloatArray, x: FloatArray, v: FloatArray, h: float) -> StepFrame:
    """The rigid motion nearest to velocities v (n, 3), continued for h [s]."""
    share = mass / mass.sum()
    centre, speed = share @ x, share @ v
    arms = x - centre
    second = arms.T @ (mass[:, None] * arms)
    momentum = mass @ np.cross(arms, v - speed)
    spin = np.linalg.solve(np.trace(second) * np.eye(3) - second, momentum)
    R = rotation(h * spin)
    return StepFrame(R, centre + h * speed - R @ centre)
