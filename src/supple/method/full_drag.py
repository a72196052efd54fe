"""Stiffness-proportional damping of a step in full space: it resists motion relative to what takes the body along."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import VISCOUS, Body, Elements
from supple.method.rig_carry import RigCarry
from supple.method.state import FullState
from supple.method.step_frame import StepFrame
from supple.solve.increment import Drag, Motion
from supple.solve.inputs import Inputs
from supple.solve.system import System

__all__ = ["make_drag", "take_along"]

FloatArray = NDArray[np.float64]


def make_drag(
    body: Body,
    parts: tuple[Elements, ...],
    system: System,
    motion: Motion,
    state: FullState,
    inputs: Inputs,
    frame: StepFrame | RigCarry | None,
) -> Drag:
    """The drag of a step, with the stiffness of its beginning, taken along by the frame."""
    h, x = inputs.duration, state.x if frame is None else frame.move(state.x)
    whole = system.whole.assemble(parts, x, np.empty(system.whole.pattern.nonzeros), form=VISCOUS)
    own, rows = system.map.extract(whole, system.places_in_whole), system.whole_rows
    origin = motion.xv if frame is None else take_along(motion, state.x, h, frame)
    return Drag(body.damping.stiffness, own, rows, rows.fill(whole), origin)


def take_along(motion: Motion, x: FloatArray, h: float, frame: StepFrame | RigCarry) -> FloatArray:
    """The integrator's xv [m], (n, 3), of a step of h [s] from x [m], (n, 3), for velocities relative to a frame."""
    # What the integrator has gone ahead with the frame's own velocity is travel, not strain
    ahead = float(motion.xv is not x) / (h * motion.cv)
    return frame.move(motion.xv - ahead * (frame.move(x) - x))
