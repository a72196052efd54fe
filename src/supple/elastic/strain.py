"""How much elements have deformed between two moments."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic.elements import Elements
from supple.linalg.jit import njit

__all__ = ["strain_between"]

FloatArray = NDArray[np.float64]


def strain_between(parts: tuple[Elements, ...], x: FloatArray, y: FloatArray) -> float:
    """The largest change of a deformation gradient, in Frobenius' norm, from positions x to y [m], (n, 3) each."""
    return float(np.sqrt(max((_square(part.tets, part.inverse, x, y) for part in parts), default=0.0)))


@njit(cache=True, fastmath={"contract", "nsz"})
def _square(tets: NDArray[np.int32], inverse: FloatArray, x: FloatArray, y: FloatArray) -> float:
    most = 0.0
    for e in range(tets.shape[1]):
        a, b, c, d = tets[0, e], tets[1, e], tets[2, e], tets[3, e]
        total = 0.0
        for i in range(3):
            origin = y[a, i] - x[a, i]
            p, q, r = y[b, i] - x[b, i] - origin, y[c, i] - x[c, i] - origin, y[d, i] - x[d, i] - origin
            for j in range(3):
                F = p * inverse[j, e] + q * inverse[3 + j, e] + r * inverse[6 + j, e]
                total += F * F
        most = max(most, total)
    return most
