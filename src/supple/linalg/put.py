"""Arrays copied into arrays inside kernels.

For `out[:] = values` Numba compiles what puts shapes that do not fit into words: two to three seconds a kernel.
"""

from typing import Any

from numba import njit
from numpy.typing import NDArray

__all__ = ["put", "put_rows"]


@njit(cache=True)
def put(out: NDArray[Any], values: NDArray[Any]) -> None:
    """out[:] = values, both (n,)."""
    for i in range(out.size):
        out[i] = values[i]


@njit(cache=True)
def put_rows(out: NDArray[Any], values: NDArray[Any]) -> None:
    """out[:] = values, both (n, m)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = values[i, j]
