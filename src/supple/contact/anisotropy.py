"""Vectors and tensors told apart along and across a normal."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["build_tensor", "split"]

FloatArray = NDArray[np.float64]


def split(normal: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The component n·v of each vector, (m,), and what is left of it across the unit normal, (m, 3)."""
    along = np.einsum("mi,mi->m", normal, vectors)
    return along, vectors - along[:, None] * normal


@njit(cache=True)
def build_tensor(normal: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
    """along n nᵀ + across (I - n nᵀ), (m, 3, 3); N of Eq. (7) of [TOK14] is along = 1, across = α."""
    tensor = np.empty((len(normal), 3, 3))
    for m in range(len(normal)):
        for i in range(3):
            n = (along[m] - across[m]) * normal[m, i]
            for j in range(3):
                tensor[m, i, j] = n * normal[m, j]
            tensor[m, i, i] += across[m]
    return tensor
