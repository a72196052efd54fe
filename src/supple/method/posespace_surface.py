"""The vertices of a character that are drawn: Φ̄(p) + A u with a basis stored in 16 bits ([XB16] Table 2, last row).

What is drawn needs four digits, not seven, and drawing is bound by memory: with half the bytes it takes half the time,
and of the whole mesh only the surface is kept.
"""

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

from supple.method.posespace_model import PoseSpaceModel
from supple.method.posespace_state import PoseSpaceState
from supple.rig import Rig
from supple.rig.part import pick_part

__all__ = ["PoseSurface"]

FloatArray = NDArray[np.float64]

_LARGEST = 32767  # of a number of 16 bits
_CHUNK = 128  # vertices that are displaced together: a thread takes that many at a time


class PoseSurface:
    """Some vertices of a character in pose space, quick to place."""

    def __init__(self, rig: Rig, model: PoseSpaceModel, vertices: NDArray[np.integer]) -> None:
        get_num_threads()  # starts the threads: a loop from the cache does not
        columns = model.columns[:, vertices]
        self._part = pick_part(rig, np.asarray(vertices))
        self._scale = np.maximum(np.abs(columns).max(axis=(1, 2)), 1e-30) / _LARGEST
        (m, count, _, r), chunks = columns.shape, -(-len(vertices) // _CHUNK)
        whole = np.zeros((m, chunks * _CHUNK, 3, r), np.int16)
        whole[:, :count] = np.rint(columns / self._scale[:, None, None])
        # Of every chunk and pose one column after another, so that whole vectors of vertices are read at once
        self._packed = np.ascontiguousarray(whole.reshape(m, chunks, 3 * _CHUNK, r).transpose(1, 0, 3, 2))

    @property
    def nbytes(self) -> int:
        """Of the stored basis."""
        return int(self._packed.nbytes + self._scale.nbytes)

    def positions(self, state: PoseSpaceState) -> FloatArray:
        """Where the vertices are in a state [m], (v, 3)."""
        x = self._part.positions(state.poses[0])
        active = np.flatnonzero(state.w[0])
        factors = (state.w[0, active, None] * self._scale[active] * state.y[0]).astype(np.float32)
        _displace(self._packed, active, factors, state.turns[0], x)
        return x


@njit(cache=True, parallel=True, error_model="numpy", fastmath={"contract", "nsz"})
def _displace(packed, active, factors, R, x):
    """Add R U(p) y to x (v, 3)."""
    for chunk in prange(packed.shape[0]):
        u = np.zeros(3 * _CHUNK, np.float32)
        for i in range(active.size):
            for k in range(factors.shape[1]):
                _add(packed[chunk, active[i], k], factors[i, k], u)
        first = chunk * _CHUNK
        for v in range(first, min(first + _CHUNK, x.shape[0])):
            at = 3 * (v - first)
            for i in range(3):
                x[v, i] += R[i, 0] * u[at] + R[i, 1] * u[at + 1] + R[i, 2] * u[at + 2]


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _add(column, factor, u):
    for j in range(u.size):
        u[j] += factor * np.float32(column[j])
