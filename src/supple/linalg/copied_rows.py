"""Matrices copied inside compiled loops.

For `out[:] = source` Numba compiles what puts shapes that do not fit into words: two to three seconds a kernel. What
copies vectors is in `linalg/vectors.py`.
"""

from typing import Any

from numba import njit
from numpy.typing import NDArray

__all__ = ["copy_rows"]


@njit(cache=True)
def copy_rows(source: NDArray[Any], out: NDArray[Any]) -> None:
    """Fill out (n, m) with the first rows and columns of the source."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = source[i, j]
