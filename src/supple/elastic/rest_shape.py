"""Elements measured against another rest shape."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.small import cofactor, det

__all__ = ["FLAT", "measure_rest", "volume_ratios"]

FloatArray = NDArray[np.float64]

FLAT = 1e-6  #: volume ratio of a new rest shape to the old one below which it is no rest shape


def measure_rest(positions: FloatArray, tets: NDArray[np.int32], inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Inverse edge matrices [1/m], (9, m), of tets (4, m) with vertices at `positions` [m], (n, 3), and the ratios (m,)
    of their volumes to those of the given inverse; negative where a tet is inside out."""
    fresh, ratio = np.empty_like(inverse), np.empty(inverse.shape[1])
    _fill_rest(np.ascontiguousarray(positions), tets, inverse, fresh, ratio)
    return fresh, ratio


@njit(cache=True)
def volume_ratios(x: FloatArray, tets: NDArray[np.int32], inverse: FloatArray) -> FloatArray:
    """Volumes of tets (4, m) with vertices at x [m], (n, 3), over those of the given inverse edge matrices, (9, m), as
    (m,) numbers; negative where a tet is inside out."""
    ratio = np.empty(tets.shape[1])
    for e in range(tets.shape[1]):
        o, a, b, c = tets[0, e], tets[1, e], tets[2, e], tets[3, e]
        D = (
            x[a, 0] - x[o, 0], x[b, 0] - x[o, 0], x[c, 0] - x[o, 0],
            x[a, 1] - x[o, 1], x[b, 1] - x[o, 1], x[c, 1] - x[o, 1],
            x[a, 2] - x[o, 2], x[b, 2] - x[o, 2], x[c, 2] - x[o, 2],
        )  # fmt: skip
        G = inverse[:, e]
        ratio[e] = det(D) * det((G[0], G[1], G[2], G[3], G[4], G[5], G[6], G[7], G[8]))
    return ratio


@njit(cache=True, error_model="numpy")
def _fill_rest(
    x: FloatArray, tets: NDArray[np.int32], inverse: FloatArray, fresh: FloatArray, ratio: FloatArray
) -> None:
    for e in range(tets.shape[1]):
        o, a, b, c = tets[0, e], tets[1, e], tets[2, e], tets[3, e]
        D = (
            x[a, 0] - x[o, 0], x[b, 0] - x[o, 0], x[c, 0] - x[o, 0],
            x[a, 1] - x[o, 1], x[b, 1] - x[o, 1], x[c, 1] - x[o, 1],
            x[a, 2] - x[o, 2], x[b, 2] - x[o, 2], x[c, 2] - x[o, 2],
        )  # fmt: skip
        G = inverse[:, e]
        volume, C = det(D), cofactor(D)
        ratio[e] = volume * det((G[0], G[1], G[2], G[3], G[4], G[5], G[6], G[7], G[8]))
        for i in range(3):
            for j in range(3):
                fresh[3 * i + j, e] = C[3 * j + i] / volume
