"""The vertices of a character that are drawn: Φ̄(p) + A u with a basis stored in 16 bits ([XB16] Table 2, last row).

What is drawn needs four digits, not seven, and drawing is bound by memory: with half the bytes it takes half the time,
and of the whole mesh only the surface is kept, with the columns that move it: vertices that the same regions move are
displaced together.
"""

import numpy as np
from numba import get_num_threads, prange
from numpy.typing import NDArray

from supple.elastic import Body
from supple.linalg.jit import njit
from supple.method.posespace.model import PoseSpaceModel
from supple.method.posespace.state import PoseSpaceState
from supple.rig import Rig
from supple.rig.part import pick_part
from supple.subspace.vertex_turns import VertexTurns

__all__ = ["PoseSurface"]

FloatArray = NDArray[np.float64]

_LARGEST = 32767  # of a number of 16 bits
_CHUNK = 32  # vertices that are displaced together


class PoseSurface:
    """Some vertices of a character in pose space, quick to place."""

    def __init__(
        self, rig: Rig, model: PoseSpaceModel, vertices: NDArray[np.integer], body: Body | None = None
    ) -> None:
        """The `body` is looked at where columns turn with the flesh and the rig does not tell how that turns."""
        get_num_threads()  # starts the threads: a loop from the cache does not
        columns = model.columns[:, vertices]
        self._part = pick_part(rig, np.asarray(vertices))
        self._turning = VertexTurns(body, rig, np.asarray(vertices)) if model.turning else None
        self._scale = np.maximum(np.abs(columns).max(axis=(1, 2)), 1e-30) / _LARGEST
        whole = np.rint(columns / self._scale[:, None, None]).astype(np.int16)  # (m, v, 3, r)
        self._order = _sort_by_regions(whole, model.owners)
        chunks = [self._order[k : k + _CHUNK] for k in range(0, len(self._order), _CHUNK)]
        packed, moving = zip(*(_pack_chunk(whole[:, chunk]) for chunk in chunks), strict=True)
        self._packed, self._moving = np.concatenate(packed), np.concatenate(moving)
        self._starts = np.cumsum([0, *(len(one) for one in moving)])

    @property
    def nbytes(self) -> int:
        """Of the stored basis."""
        return sum(one.nbytes for one in (self._packed, self._scale, self._order, self._moving, self._starts))

    def positions(self, state: PoseSpaceState) -> FloatArray:
        """Where the vertices are in a state [m], (v, 3)."""
        if self._turning is None:
            x, turns = self._part.positions(state.poses[0]), state.turns[0][None]
        else:
            placed = self._turning.place(state.poses[0])
            x, turns = placed[:, :3].copy(), placed[:, 3:].reshape(-1, 3, 3)
        factors = (state.w[0, :, None] * self._scale * state.y[0]).astype(np.float32)
        _displace(self._packed, self._starts, self._moving, self._order, state.w[0], factors, turns, x)
        return x


def _sort_by_regions(columns: NDArray[np.int16], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Vertices of columns (m, v, 3, r) so that those that the same regions move are beside each other, (v,)."""
    if not len(owners):
        return np.arange(columns.shape[1])
    moved = np.asarray(columns.any(axis=(0, 2)))
    return np.lexsort([moved[:, owners == region].any(axis=1) for region in np.unique(owners)])


def _pack_chunk(columns: NDArray[np.int16]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
    """Columns (m, v, 3, r) of a few vertices as (k, m, 3 _CHUNK), one after another, so that whole vectors of vertices
    are read at once, and which k of them move any of these."""
    moving = np.flatnonzero(columns.any(axis=(0, 1, 2)))
    m, count = columns.shape[:2]
    out = np.zeros((len(moving), m, 3 * _CHUNK), np.int16)
    out[:, :, : 3 * count] = columns[..., moving].reshape(m, 3 * count, -1).transpose(2, 0, 1)
    return out, moving


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract", "nsz"})
def _displace(packed, starts, moving, order, w, factors, turns, x):
    """Add R U(p) y to x (v, 3), with turns R of all vertices or one for all, (v or 1, 3, 3)."""
    for chunk in prange(starts.size - 1):
        u = np.zeros(3 * _CHUNK, np.float32)
        for k in range(starts[chunk], starts[chunk + 1]):
            for i in range(w.size):
                if w[i] > 0.0:
                    _add(packed[k, i], factors[i, moving[k]], u)
        first = chunk * _CHUNK
        for v in range(first, min(first + _CHUNK, x.shape[0])):
            at, who = 3 * (v - first), order[v]
            R = turns[who] if turns.shape[0] > 1 else turns[0]
            for i in range(3):
                x[who, i] += R[i, 0] * u[at] + R[i, 1] * u[at + 1] + R[i, 2] * u[at + 2]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _add(column, factor, u):
    for j in range(u.size):
        u[j] += factor * np.float32(column[j])
