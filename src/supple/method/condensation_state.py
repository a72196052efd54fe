"""The state of a body of which some vertices are full: few numbers, and three vectors for each of those."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.sets import NO_PAIRS
from supple.method.condensation_region import Ground, Region
from supple.method.state import pack_live, unpack_live
from supple.solve.live import Live

__all__ = ["CondensedState", "fold_back", "stray"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_NOBODY, _NOWHERE, _UNTOUCHED = np.zeros(0, np.int32), np.zeros((3, 0, 3)), Live()


class CondensedState(NamedTuple):
    """Coordinates for the whole body, and full vertices that do not follow them."""

    time: float
    """[s]"""
    q: FloatArray
    """Coordinates, velocities and accelerations, (3, r)."""
    full: IntArray = _NOBODY
    """Full vertices, ascending, (f,)."""
    motion: FloatArray = _NOWHERE
    """Their positions [m], velocities [m/s] and accelerations [m/s²], (3, f, 3)."""
    idle: IntArray = _NOBODY
    """Steps since something wanted each of them full, (f,)."""
    steps: int = 0
    """That were taken."""
    live: Live = _UNTOUCHED
    pairs: NDArray[np.int32] = NO_PAIRS
    """Vertices and triangles of the body that touch, (k, 2)."""

    def gather(self, region: Region) -> FloatArray:
        """z = (x_f, q), its velocity and acceleration in a region that holds the state's full vertices, (3, 3 f + r).

        Vertices that become full go on where the subspace has them.
        """
        size, U = region.size, region.U_full
        z = np.empty((3, size + self.q.shape[1]))
        z[:, size:] = self.q
        z[:, :size] = self.q @ U.T
        z[0, :size] += region.rest[: len(region.full)].ravel()
        rows = np.searchsorted(region.full, self.full)
        z[:, :size].reshape(3, -1, 3)[:, rows] = self.motion
        return z

    def place(self, ground: Ground, vertices: NDArray[np.integer] | None = None, level: int = 0) -> FloatArray:
        """Positions (level 0), velocities (1) or accelerations (2) of all or of chosen vertices, (k, 3)."""
        rows = ground.rows if vertices is None else ground.rows[vertices]
        out = np.asarray(rows @ self.q[level])
        if level == 0:
            out += ground.rest if vertices is None else ground.rest[vertices]
        if vertices is None:
            out[self.full] = self.motion[level]
        elif len(self.full):
            where = np.minimum(np.searchsorted(self.full, vertices), len(self.full) - 1)
            own = self.full[where] == vertices
            out[own] = self.motion[level][where[own]]
        return out

    def pack(self) -> dict[str, NDArray[np.generic]]:
        """The state as plain arrays."""
        return {
            "time": np.array(self.time), "q": self.q, "full": self.full, "motion": self.motion, "idle": self.idle,
            "steps": np.array(self.steps), "pairs": self.pairs, **pack_live(self.live),
        }  # fmt: skip

    @classmethod
    def unpack(cls, arrays: Mapping[str, NDArray[np.generic]]) -> "CondensedState":
        """The state that was packed."""
        return cls(
            float(arrays["time"]), np.asarray(arrays["q"], np.float64), np.asarray(arrays["full"], np.int32),
            np.asarray(arrays["motion"], np.float64), np.asarray(arrays["idle"], np.int32), int(arrays["steps"]),
            unpack_live(arrays), np.asarray(arrays["pairs"], np.int32),
        )  # fmt: skip


def stray(state: CondensedState, ground: Ground, rows: NDArray[np.integer]) -> FloatArray:
    """How far full vertices (by their places in the state) are from where the subspace has them, and how much faster
    they are than it, (2, k, 3)."""
    vertices = state.full[rows]
    out = state.motion[:2, rows] - (ground.rows[vertices] @ state.q[:2].T).transpose(2, 0, 1)
    out[0] -= ground.rest[vertices]
    return np.asarray(out)


def fold_back(state: CondensedState, ground: Ground, keep: NDArray[np.bool_]) -> CondensedState:
    """The state in which only some full vertices are kept, (f,); the others return to the subspace.

    The coordinates go to the motion that is nearest in the mass of all vertices that are not full afterwards: its
    matrix is I - U_fᵀ M U_f of those kept, not UᵀMU = I.
    """
    if keep.all():
        return state
    kept, gone = state.full[keep], state.full[~keep]
    U, mass = ground.rows[kept].reshape(-1, ground.rank), np.repeat(ground.mass[kept], 3)
    left = np.eye(ground.rank) - U.T @ (mass[:, None] * U)
    rows = ground.rows[gone]
    away = state.motion[:, ~keep] - (rows @ state.q.T).transpose(2, 0, 1)
    away[0] -= ground.rest[gone]
    push = np.einsum("v,vir,kvi->rk", ground.mass[gone], rows, away)
    # What the kept vertices leave hardly any mass to cannot be told, and stays as it is
    change = np.linalg.lstsq(left, push, rcond=1e-9)[0].T
    return state._replace(q=state.q + change, full=kept, motion=state.motion[:, keep], idle=state.idle[keep])
