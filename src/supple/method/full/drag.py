"""Stiffness-proportional damping of a step in full space: it resists motion relative to what takes the body along."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import VISCOUS, Body, Elements
from supple.method.look_ahead import shorten
from supple.method.rig_carry import RigCarry
from supple.method.state import FullState
from supple.method.step_frame import StepFrame
from supple.solve.increment import Drag, Motion
from supple.solve.inputs import Inputs
from supple.solve.system import System

__all__ = ["find_drag", "make_drag", "mean_edge", "take_along"]

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
    """The drag of a step."""
    x, origin = find_drag(body, parts, motion, state, inputs, frame)
    whole = system.whole.assemble(parts, x, np.empty(system.whole.pattern.nonzeros), form=VISCOUS)
    own, rows = system.map.extract(whole, system.places_in_whole), system.whole_rows
    return Drag(body.damping.stiffness, own, rows, rows.fill(whole), origin)


def find_drag(
    body: Body,
    parts: tuple[Elements, ...],
    motion: Motion,
    state: FullState,
    inputs: Inputs,
    frame: StepFrame | RigCarry | None,
) -> tuple[FloatArray, FloatArray]:
    """Positions whose stiffness damps a step, those of its beginning taken along by the frame, and positions that are
    no motion [m], (n, 3); Newmark's look ahead."""
    h, x, averages = inputs.duration, state.x, motion.xv is not state.x
    if averages:
        change = h * state.v if frame is None else h * state.v - frame.travel(x)
        x = x + shorten(change, change / mean_edge(parts))
    x = x if frame is None else frame.move(x)
    if averages:
        x = state.live.place(x, body.pins, inputs.end.targets)
    origin = motion.xv if frame is None else take_along(motion, state.x, h, frame)
    if averages:
        origin = origin + 0.25 * _find_lag(body, state, inputs)
    return x, origin


def mean_edge(parts: tuple[Elements, ...]) -> float:
    """Edge of a regular tet of the mean volume [m]."""
    volume, count = (
        sum(values) for values in zip(*((part.size.sum(), len(part.volume)) for part in parts), strict=True)
    )
    return float(np.cbrt(6.0 * np.sqrt(2.0) * volume / count))


def _find_lag(body: Body, state: FullState, inputs: Inputs) -> FloatArray:
    """How much farther held coordinates go than at the velocity they have [m], (n, 3); zero where nothing holds.

    That velocity is a difference of positions, half a step late, and Newmark's method makes 2 Δx/h - v of it: by a
    quarter of this lag, which is h² of their acceleration, it would be fast by half a step.
    """
    live = state.live
    pins = live.pins(body.pins)
    held, lag = pins.vertices, np.zeros_like(state.x)
    gone = live.place(state.x, body.pins, inputs.end.targets)[held] - state.x[held]
    lag[held] = np.where(pins.held, gone - inputs.duration * state.v[held], 0.0)
    return lag


def take_along(motion: Motion, x: FloatArray, h: float, frame: StepFrame | RigCarry) -> FloatArray:
    """The integrator's xv [m], (n, 3), of a step of h [s] from x [m], (n, 3), for velocities relative to a frame."""
    # What the integrator has gone ahead with the frame's own velocity is travel, not strain
    ahead = float(motion.xv is not x) / (h * motion.cv)
    return frame.move(motion.xv - ahead * frame.travel(x))
