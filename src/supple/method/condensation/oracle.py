"""Oracles: which vertices must be full (section 4.2 of [TMDK15]).

An oracle wants vertices to be full in the coming step, and holds full ones that must not return to the subspace yet.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.mesh.patches import find_edges
from supple.mesh.spread import Spread
from supple.method.condensation.region import Ground
from supple.method.condensation.rows import Rows
from supple.method.condensation.state import CondensedState, stray

__all__ = ["ContactOracle", "MotionOracle", "Oracle", "SettledOracle", "Sight", "Union"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]
_NOBODY = np.zeros(0, np.int32)
_INNER = 0.5  # share of the radius about what touches that is enough while contacts still shift
_FEW = 0.05  # share of a patch that is not worth a region of its own: to cut one costs as much as a step in it


@dataclass(frozen=True, eq=False)
class Sight:
    """What an oracle sees of a step."""

    ground: Ground
    state: CondensedState
    """As the step begins."""
    duration: float
    """[s]; 0 in statics."""
    seeds: IntArray = field(default_factory=lambda: _NOBODY)
    """Vertices that touch something or are pushed at a point."""
    loaded: IntArray = field(default_factory=lambda: _NOBODY)
    """Vertices that forces push, gravity apart."""
    known: IntArray = field(default_factory=lambda: _NOBODY)
    """What has been wanted already, where what touches is still to shift: nothing else need be wanted before it has,
    ascending."""
    unbalance: Callable[[IntArray], FloatArray] | None = None
    """Of chosen vertices: elastic and inertial forces less the loads [N], (k, 3)."""


class Oracle(Protocol):
    """Says where full space is needed."""

    def want(self, sight: Sight) -> IntArray:
        """Vertices that must be full in the coming step, ascending."""

    def hold(self, sight: Sight) -> BoolArray:
        """Which of the state's full vertices must stay so, (f,)."""


class ContactOracle:
    """All within a radius of what touches; the paper's own way to let go is to wait for two frames.

    Where flesh is pressed contacts shift as it gives way. A region waits until they are within half the radius of its
    border.
    """

    def __init__(self, ground: Ground, radius: float, frames: int = 2) -> None:
        """`radius` [m]; vertices are held for `frames` after they were last within it."""
        self._spread = Spread(ground.rest, ground.neighbours, ground.movable)
        self.radius, self._frames = radius, frames
        self._last = _NOBODY, _NOBODY

    def want(self, sight: Sight) -> IntArray:
        seeds, found = self._last
        if not np.array_equal(seeds, sight.seeds):
            if len(sight.known) and len(sight.seeds):
                inner = self._spread.reach(sight.seeds, _INNER * self.radius)
                if np.isin(inner, sight.known, assume_unique=True).all():
                    return sight.known
            found = self._spread.reach(sight.seeds, self.radius) if len(sight.seeds) else _NOBODY
            self._last = sight.seeds, found
        return found

    def hold(self, sight: Sight) -> BoolArray:
        return np.asarray(sight.state.idle < self._frames)


class MotionOracle:
    """Holds a patch until its mean velocity and mean acceleration are small, as the paper does in dynamics."""

    def __init__(self, speed: float, acceleration: float) -> None:
        """[m/s], [m/s²]"""
        self._limits = np.array([speed, acceleration])

    def want(self, sight: Sight) -> IntArray:
        return _NOBODY

    def hold(self, sight: Sight) -> BoolArray:
        state, held = sight.state, np.zeros(len(sight.state.full), np.bool_)
        for patch in sight.ground.list_patches(state.full):
            means = np.linalg.norm(state.motion[1:, patch], axis=2).mean(axis=1)
            held[patch] = bool((means > self._limits).any())
        return held


class SettledOracle:
    """Holds what the subspace would visibly move: vertices leave once they stay where it has them, and go with it.

    A patch leaves as a whole when the nearest motion of the subspace is close to all of it; of a patch that has to stay
    those leave that are far from what does not settle, unless they are few.
    """

    def __init__(self, tolerance: float, share: float = 0.0) -> None:
        """`tolerance` [m] in position, and per step in velocity, or `share` of the patch's displacement where that is
        more."""
        self._tolerance, self._share = tolerance, share

    def want(self, sight: Sight) -> IntArray:
        return _NOBODY

    def hold(self, sight: Sight) -> BoolArray:
        state, ground = sight.state, sight.ground
        held = np.zeros(len(state.full), np.bool_)
        for patch in ground.list_patches(state.full):
            idle = state.idle[patch]
            if idle.max() < 2:
                held[patch] = True
                continue
            away = stray(state, ground, patch)
            origin = ground.subspace.stance(state.below).origin(state.full[patch])
            far = np.linalg.norm(state.motion[0, patch] - origin, axis=1).max()
            limit = max(self._tolerance, self._share * float(far))
            scales = np.array([1.0, sight.duration])[:, None]
            if idle.min() > 0 and (_sizes(self._fit(ground, state, patch, away)) * scales <= limit).all():
                continue
            busy = (idle < 2) | (_sizes(away) * scales > limit).any(axis=0)
            stays = _widen(ground, state.full[patch], busy)
            held[patch] = stays | (np.count_nonzero(~stays) < _FEW * len(patch))
        return held

    def _fit(self, ground: Ground, state: CondensedState, patch: NDArray[np.intp], away: FloatArray) -> FloatArray:
        """What is left of the way if the patch leaves and the coordinates go along."""
        full, stance = state.full[patch], ground.subspace.stance(state.below)
        rows = Rows.of_full(stance, full, ground.rank)
        change = np.array([rows.gather_full(ground.mass[full, None] * way) for way in away])
        return np.asarray(away - rows.move_full(change.T).T.reshape(away.shape))


class Union:
    """What any of several oracles wants or holds."""

    def __init__(self, oracles: Sequence[Oracle]) -> None:
        self._oracles = tuple(oracles)

    def want(self, sight: Sight) -> IntArray:
        wanted = [some for oracle in self._oracles if len(some := oracle.want(sight))]
        if len(wanted) < 2:
            return wanted[0] if wanted else _NOBODY
        return np.unique(np.concatenate(wanted))

    def hold(self, sight: Sight) -> BoolArray:
        held = np.zeros(len(sight.state.full), np.bool_)
        for oracle in self._oracles:
            if not held.all():
                held |= oracle.hold(sight)
        return held


def _widen(ground: Ground, full: IntArray, busy: BoolArray) -> BoolArray:
    """Busy vertices and their neighbours, so that none is dropped beside one that moves on its own."""
    first, second = find_edges(ground.neighbours, full)
    wide = busy.copy()
    wide[second[busy[first]]] = True
    return wide


def _sizes(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(vectors, axis=-1))
