"""Vectors inside compiled loops, number by number: the same with slices and sums of arrays costs the compiler seconds.

For `out[:] = values`, say, Numba compiles what puts shapes that do not fit into words.
"""

from numba import njit

__all__ = ["add_to", "are_equal", "put", "put_rows"]


@njit(cache=True)
def put(out, values):
    """Fill out (k,) with the first numbers of the values."""
    for i in range(out.size):
        out[i] = values[i]


@njit(cache=True)
def put_rows(out, values):
    """out[:] = values, both (n, m)."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = values[i, j]


@njit(cache=True)
def add_to(a, b):
    """Add b (k,) to the first numbers of a."""
    for i in range(b.size):
        a[i] += b[i]


@njit(cache=True)
def are_equal(a, b):
    """Whether two vectors of a size are the same."""
    same = True
    for i in range(a.size):
        same = same and a[i] == b[i]
    return same
