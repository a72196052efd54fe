"""What decides about a step before it is taken: has anything changed since the last one?"""

from dataclasses import replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import SELF
from supple.contact.result import Touch
from supple.elastic import Pins
from supple.method.skipping.state import Memory, Situation, SkippingState
from supple.method.state import FullState
from supple.solve.live import Live
from supple.subspace.window import Window

__all__ = [
    "LONGEST",
    "News",
    "Refusal",
    "follow_load",
    "follow_pose",
    "follow_touch",
    "identify_pins",
    "list_touched",
    "next_check",
    "remember_situation",
    "situation_of",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
LONGEST = 10  # reduced steps between checks
_AGAIN = 0.8  # of the way to what is refused, after which an error that was taken away is looked at
_NEW = 0.75  # ways of the bones in this step: a pose farther from those seen is new
_JUMP = 0.5  # a load whose change differs by more than this share from its last change has jumped


def situation_of(before: Situation, live: Live, pins: Pins, duration: float) -> Situation:
    """What a step's matrix and model must be made for; a length that differs by a clock's round-off is no other."""
    if abs(duration - before.duration) <= 1e-6 * before.duration:
        duration = before.duration
    return Situation(duration, live.stiffness, identify_pins(pins))


def identify_pins(pins: Pins) -> bytes:
    """What differs between different pins."""
    return pins.vertices.tobytes() + pins.held.tobytes()


def remember_situation(state: SkippingState, now: Situation, full: FullState, mass: FloatArray) -> SkippingState:
    """The state at `full` in another situation: other pins forget all, another stiffness or length of the step the
    matrix and the model."""
    memory = state.memory
    if now.pins != memory.situation.pins:
        memory = Memory(Window(mass), now)
    else:
        memory = replace(memory, situation=now, progress=memory.progress._replace(passes=0), matrix=None, pose=None)
    return replace(state, full=full, motion=None, memory=memory, defect=None)


def next_check(
    before: float, estimate: float, interval: int, since: int, refused: float, static: bool, *,
    left: float | None = None, longest: int = LONGEST,
) -> int:  # fmt: skip
    """Reduced steps to the next check: twice as many, but fewer where the estimate, `since` steps after the one
    `before`, would be refused by then if it grew on.

    Above half of what is refused they are half as many; in statics, which forgets errors, only while these grow: there
    by a factor a step, where that brings them to it sooner, as when a pose leaves those that were seen. `left` is what
    is left of the error where the check has taken it away: it will grow again, and a little sooner.
    """
    after = estimate if left is None else left
    growth, near = (estimate - before) / since, after > 0.5 * refused
    if near and not static:
        return max(1, interval // 2)
    most = min(longest, 2 * interval)
    way = (refused - after) * (0.5 if near else 1.0 if left is None else _AGAIN)
    if growth <= 0.0:
        return most
    ahead = way / growth
    if static and before > 0.0 and left is None:
        ahead = min(ahead, since * np.log(max(refused / estimate, 1.0)) / np.log(estimate / before))
    return int(np.clip(ahead, 1, most))


def follow_load(state: SkippingState, load: FloatArray) -> tuple[bool, SkippingState]:
    """Whether loads [N], (n, 3), jump in this step, and the state that knows them."""
    if state.load is None or state.trend is None:
        return True, replace(state, load=load, trend=np.zeros_like(load))
    if load is state.load and not state.trend.any():
        return False, state
    trend = load - state.load
    return _jumps(trend, state.trend), replace(state, load=load, trend=trend)


def follow_pose(state: SkippingState, begin: FloatArray, end: FloatArray) -> tuple[bool, SkippingState]:
    """Whether bones start, stop, turn round or leave the poses (p,) of the window; and the state that knows how they
    went."""
    turn, poses = end - begin, state.memory.window.poses
    nearest = float(np.linalg.norm(np.stack(poses) - end, axis=1).min()) if poses else np.inf
    strays = nearest > _NEW * float(np.linalg.norm(turn))
    news = state.turn is None or _jumps(turn, state.turn) or (strays and not state.strays)
    return news, replace(state, turn=turn, strays=strays)


class News(Enum):
    """How contacts have changed in a step."""

    NONE = "none"
    LESS = "less"
    """The last one has parted."""
    MORE = "more"
    """Some have come, or the body has touched itself."""


class Refusal(Enum):
    """Why a reduced step does not count."""

    ERROR = "error"
    """It could not be taken, or a check found too much error in it."""
    CONTACT = "contact"
    """It met something new."""


def list_touched(touching: Touch | None) -> IntArray:
    """The vertices that touch something, sorted."""
    return np.zeros(0, np.int32) if touching is None else np.unique(touching.vertex).astype(np.int32)


def follow_touch(before: IntArray, touching: Touch | None) -> tuple[IntArray, News]:
    """Vertices that have touched something since it was first touched, and what is new about those that do now.

    A contact that comes back, while others stay, is not new.
    """
    now = list_touched(touching)
    if touching is not None and ((touching.source == SELF).any() or not np.isin(now, before).all()):
        return now, News.MORE
    if len(now) or not len(before):
        return before, News.NONE
    return now, News.LESS


def _jumps(change: FloatArray, before: FloatArray) -> bool:
    return float(np.linalg.norm(change - before)) > _JUMP * float(np.linalg.norm(before))
