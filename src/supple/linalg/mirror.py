"""Both triangles of a symmetric matrix of which one is known."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["mirror"]


@njit(cache=True)
def mirror(upper: NDArray[np.floating]) -> NDArray[np.float64]:
    """The symmetric matrix with an upper triangle, in double precision, (r, r)."""
    out = np.empty(upper.shape)
    for i in range(len(upper)):
        for j in range(i, len(upper)):
            out[i, j] = out[j, i] = upper[i, j]
    return out
