"""The state of a body of which some vertices are full: few numbers, and three vectors for each of those."""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.method.condensation.region import Ground, Region
from supple.method.condensation.stride import Stride
from supple.method.condensation.subspace import Below
from supple.solve.live import Live

__all__ = ["CondensedState", "fold_back", "stray"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_NOBODY, _NOWHERE = np.zeros(0, np.int32), np.zeros((3, 0, 3))


class CondensedState(NamedTuple):
    """Coordinates for the whole body, and full vertices that do not follow them."""

    below: Any
    """The state of the coordinates, as `Below` has it."""
    full: IntArray = _NOBODY
    """Full vertices, ascending, (f,)."""
    motion: FloatArray = _NOWHERE
    """Their positions [m], velocities [m/s] and accelerations [m/s²], (3, f, 3)."""
    idle: IntArray = _NOBODY
    """Steps since something wanted each of them full, (f,)."""
    steps: int = 0
    """That were taken."""
    pairs: NDArray[np.int32] = NO_PAIRS
    """Vertices and triangles of the body that touch, (k, 2)."""
    stride: Stride | None = None
    """Of the last step, where that was an equilibrium with full vertices."""

    @property
    def time(self) -> float:
        """[s]"""
        return float(self.below.time)

    @property
    def q(self) -> FloatArray:
        """Coordinates, velocities and accelerations, (3, r)."""
        return np.asarray(self.below.shapes)

    @property
    def live(self) -> Live:
        """What events have changed."""
        return cast(Live, self.below.live)

    def hear(self, live: Live) -> "CondensedState":
        """The state after events."""
        return self._replace(below=self.below._replace(live=live))

    def gather(self, region: Region) -> FloatArray:
        """Positions, velocities and accelerations of the full vertices of a region, (3, f, 3), that holds the state's.

        Vertices that become full go on where the subspace has them.
        """
        if np.array_equal(region.full, self.full):
            return self.motion
        return np.array([self.place(region.ground, region.full, level) for level in range(3)])

    def place(self, ground: Ground, vertices: NDArray[np.integer] | None = None, level: int = 0) -> FloatArray:
        """Positions (level 0), velocities (1) or accelerations (2) of all or of chosen vertices, (k, 3)."""
        out = ground.subspace.field(self.below, level, vertices)
        if vertices is None:
            out[self.full] = self.motion[level]
        elif len(self.full):
            where = np.minimum(np.searchsorted(self.full, vertices), len(self.full) - 1)
            own = self.full[where] == vertices
            out[own] = self.motion[level][where[own]]
        return out

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        own = {"full": self.full, "motion": self.motion, "idle": self.idle, "steps": np.array(self.steps)}
        return {**self.below.pack(), **own, "pairs": self.pairs, **({} if self.stride is None else self.stride.pack())}

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]], below: Below) -> "CondensedState":
        """The state that was packed, on the state of its coordinates."""
        return cls(
            below, np.asarray(arrays["full"], np.int32), np.asarray(arrays["motion"], np.float64),
            np.asarray(arrays["idle"], np.int32), int(arrays["steps"]), np.asarray(arrays["pairs"], np.int32),
            Stride.unpack(arrays),
        )  # fmt: skip


def stray(state: CondensedState, ground: Ground, rows: NDArray[np.integer]) -> FloatArray:
    """How far full vertices (by their places in the state) are from where the subspace has them, and how much faster
    they are than it, (2, k, 3)."""
    followed = [ground.subspace.field(state.below, level, state.full[rows]) for level in (0, 1)]
    return np.asarray(state.motion[:2, rows] - np.array(followed))


def fold_back(state: CondensedState, ground: Ground, keep: NDArray[np.bool_]) -> CondensedState:
    """The state in which only some full vertices are kept, (f,); the others return to the subspace.

    The coordinates go to the motion that is nearest in the mass of all vertices that are not full afterwards: its
    matrix is UᵀMU, which is I but for linear blends, less U_fᵀ M U_f of those kept.
    """
    if keep.all():
        return state
    below = ground.subspace.fold(state.below, state.full[keep], state.full[~keep], state.motion[:, ~keep])
    return state._replace(below=below, full=state.full[keep], motion=state.motion[:, keep], idle=state.idle[keep])
