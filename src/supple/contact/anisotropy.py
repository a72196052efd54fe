"""Vectors and tensors told apart along and across a normal."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["build_tensor", "split"]

FloatArray = NDArray[np.float64]


def split(normal: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The component n·v of each vector, (m,), and what is left of it across the unit normal, (m, 3)."""
    along = np.einsum("mi,mi->m", normal, vectors)
    return along, vectors - along[:, None] * normal


def build_tensor(normal: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
    """along n nᵀ + across (I - n nᵀ), (m, 3, 3); N of Eq. (7) of [TOK14] is along = 1, across = α."""
    tensor = ((along - across)[:, None] * normal)[:, :, None] * normal[:, None, :]
    tensor[:, range(3), range(3)] += across[:, None]
    return np.asarray(tensor)
