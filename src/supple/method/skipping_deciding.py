"""What decides about a step before it is taken: has anything changed since the last one?"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.method.skipping_state import Memory, Situation, SkippingState
from supple.method.state import FullState
from supple.solve.inputs import Inputs
from supple.solve.live import Live
from supple.subspace.window import Window

__all__ = ["follow_load", "is_still", "remember_situation", "situation_of"]

FloatArray = NDArray[np.float64]
_JUMP = 0.5  # a load whose change differs by more than this share from its last change has jumped


def situation_of(before: Situation, live: Live, pins: Pins, duration: float) -> Situation:
    """What a step's matrix and model must be made for; a length that differs by a clock's round-off is no other."""
    if np.isclose(duration, before.duration, rtol=1e-6, atol=0.0):
        duration = before.duration
    return Situation(duration, live.stiffness, pins.vertices.tobytes() + pins.held.tobytes())


def remember_situation(state: SkippingState, now: Situation, full: FullState, mass: FloatArray) -> SkippingState:
    """The state at `full` in another situation: other pins forget all, another stiffness or length of the step the
    matrix and the model."""
    memory = state.memory
    if now.pins != memory.situation.pins:
        memory = Memory(Window(mass), now)
    else:
        memory = replace(memory, situation=now, progress=memory.progress._replace(passes=0), matrix=None)
    return replace(state, full=full, motion=None, memory=memory)


def follow_load(state: SkippingState, load: FloatArray) -> tuple[bool, SkippingState]:
    """Whether loads [N], (n, 3), jump in this step, and the state that knows them."""
    if state.load is None or state.trend is None:
        return True, replace(state, load=load, trend=np.zeros_like(load))
    trend = load - state.load
    jumps = float(np.linalg.norm(trend - state.trend)) > _JUMP * float(np.linalg.norm(state.trend))
    return jumps, replace(state, load=load, trend=trend)


def is_still(live: Live, inputs: Inputs) -> bool:
    """Whether nothing holds the body that moves: pins on their way and grabs need full steps."""
    return not live.grabs and np.array_equal(inputs.begin.targets, inputs.end.targets)
