"""All vertices of a skinning space at once, as skinning does it: blend the handles' maps, then move the rest shape.

The same numbers as rows of U times q, but a vertex reads one weight a handle instead of four columns: a third of the
memory, which is what evaluating a whole mesh costs.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supple.subspace.block_rows import choose_rows

__all__ = ["Blended"]

FloatArray = NDArray[np.float64]


class Blended(NamedTuple):
    """n vertices that follow handles, in coordinates (X - X_j) scale of each handle j: Eq. (10) of [BEH18]."""

    starts: NDArray[np.int64]
    """(n + 1,)"""
    handles: NDArray[np.int32]
    """(m,)"""
    weights: FloatArray
    """(m,)"""
    rest: FloatArray
    """X [m], (n, 3)"""
    centres: FloatArray
    """X_j [m], (k, 3)"""
    scale: float
    """[1/m]"""

    def apply(self, q: FloatArray) -> FloatArray:
        """Positions [m], (n, 3), where handle j moves by rows 4 j to 4 j + 3 of q: its place, then along x, y, z."""
        steps = np.reshape(q, (-1, 4, 3))
        maps = np.empty((len(steps), 3, 4))
        maps[:, :, :3] = self.scale * steps[:, 1:].transpose(0, 2, 1)
        maps[:, :, 3] = steps[:, 0] - np.einsum("kij,kj->ki", maps[:, :, :3], self.centres)
        out = np.empty_like(self.rest)
        _blend(self.starts, self.handles, self.weights, self.rest, maps.reshape(-1, 12), out)
        return out

    def take(self, vertices: NDArray[np.integer]) -> "Blended":
        """Chosen vertices."""
        starts, places = choose_rows(self.starts, vertices)
        return Blended(
            starts, self.handles[places], self.weights[places], self.rest[vertices], self.centres, self.scale
        )


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _blend(starts, handles, weights, rest, m, out):
    """With maps m (k, 12): three rows of four."""
    for row in range(len(out)):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = 0.0
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1])):
            j, w = np.uint64(handles[k]), weights[k]
            a0, a1, a2, a3 = a0 + w * m[j, 0], a1 + w * m[j, 1], a2 + w * m[j, 2], a3 + w * m[j, 3]
            b0, b1, b2, b3 = b0 + w * m[j, 4], b1 + w * m[j, 5], b2 + w * m[j, 6], b3 + w * m[j, 7]
            c0, c1, c2, c3 = c0 + w * m[j, 8], c1 + w * m[j, 9], c2 + w * m[j, 10], c3 + w * m[j, 11]
        x, y, z = rest[row, 0], rest[row, 1], rest[row, 2]
        out[row, 0] = a0 * x + a1 * y + (a2 * z + a3)
        out[row, 1] = b0 * x + b1 * y + (b2 * z + b3)
        out[row, 2] = c0 * x + c1 * y + (c2 * z + c3)
