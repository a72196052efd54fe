"""All vertices of a skinning space at once, as skinning does it: blend the handles' maps, then move the rest shape.

The same numbers as rows of U times q, but a vertex reads one weight a handle instead of four columns: a third of the
memory, which is what evaluating a whole mesh costs.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.linalg.jit import block_njit
from supple.subspace.block_rows import choose_rows

__all__ = ["Blended"]

FloatArray = NDArray[np.float64]


class Blended(NamedTuple):
    """n vertices that follow handles, in coordinates (X - X_j) scale of each handle j: Eq. (10) of [BEH18].

    Every vertex has an even number of handles, one perhaps without weight: two sums at a time hide how long each takes.
    """

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

    @classmethod
    def build(cls, weights: sp.csr_array, rest: FloatArray, centres: FloatArray, scale: float) -> "Blended":
        """Vertices with weights (n, k)."""
        counts = np.diff(weights.indptr)
        starts = np.concatenate([[0], np.cumsum(counts + counts % 2)]).astype(np.int64)
        places = np.arange(weights.nnz) + np.repeat(starts[:-1] - weights.indptr[:-1], counts)
        handles, own = np.zeros(starts[-1], np.int32), np.zeros(starts[-1])
        handles[places], own[places] = weights.indices, weights.data
        return cls(starts, handles, own, rest, centres, scale)

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


@block_njit
def _blend(starts, handles, weights, rest, m, out):
    """With maps m (k, 12): three rows of four."""
    one = np.uint64(1)
    for row in range(len(out)):
        a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = c0 = c1 = c2 = c3 = 0.0
        d0 = d1 = d2 = d3 = e0 = e1 = e2 = e3 = f0 = f1 = f2 = f3 = 0.0
        for k in range(np.uint64(starts[row]), np.uint64(starts[row + 1]), np.uint64(2)):
            i, j, v, w = np.uint64(handles[k]), np.uint64(handles[k + one]), weights[k], weights[k + one]
            a0, a1, a2, a3 = a0 + v * m[i, 0], a1 + v * m[i, 1], a2 + v * m[i, 2], a3 + v * m[i, 3]
            b0, b1, b2, b3 = b0 + v * m[i, 4], b1 + v * m[i, 5], b2 + v * m[i, 6], b3 + v * m[i, 7]
            c0, c1, c2, c3 = c0 + v * m[i, 8], c1 + v * m[i, 9], c2 + v * m[i, 10], c3 + v * m[i, 11]
            d0, d1, d2, d3 = d0 + w * m[j, 0], d1 + w * m[j, 1], d2 + w * m[j, 2], d3 + w * m[j, 3]
            e0, e1, e2, e3 = e0 + w * m[j, 4], e1 + w * m[j, 5], e2 + w * m[j, 6], e3 + w * m[j, 7]
            f0, f1, f2, f3 = f0 + w * m[j, 8], f1 + w * m[j, 9], f2 + w * m[j, 10], f3 + w * m[j, 11]
        x, y, z = rest[row, 0], rest[row, 1], rest[row, 2]
        out[row, 0] = (a0 + d0) * x + (a1 + d1) * y + ((a2 + d2) * z + (a3 + d3))
        out[row, 1] = (b0 + e0) * x + (b1 + e1) * y + ((b2 + e2) * z + (b3 + e3))
        out[row, 2] = (c0 + f0) * x + (c1 + f1) * y + ((c2 + f2) * z + (c3 + f3))
