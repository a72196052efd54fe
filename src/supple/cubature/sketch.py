"""Fewer equations that weigh about the same: rows added up with random signs in random groups (CountSketch)."""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["Sketch"]

FloatArray = NDArray[np.float64]


class Sketch:
    """A random map of rows to fewer ones that keeps the lengths of vectors on average."""

    def __init__(self, rows: int, size: int, rng: np.random.Generator) -> None:
        self.size = min(rows, size)
        self._is_exact = rows <= size
        self._group = rng.integers(0, self.size, rows)
        self._sign = rng.choice(np.array([-1.0, 1.0]), rows)

    def apply(self, lines: FloatArray) -> FloatArray:
        """The sketches of vectors, (k, rows) to (k, size); the vectors themselves when they are short."""
        if self._is_exact:
            return lines
        out = np.zeros((len(lines), self.size))
        _add_up(np.ascontiguousarray(lines), self._group, self._sign, out)
        return out


@njit(cache=True)
def _add_up(lines: FloatArray, group: NDArray[np.int64], sign: FloatArray, out: FloatArray) -> None:
    for i in range(lines.shape[0]):
        for j in range(lines.shape[1]):
            out[i, group[j]] += sign[j] * lines[i, j]
