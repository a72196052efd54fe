"""Vectors inside compiled loops: the same with slices and sums of arrays costs the compiler seconds."""

from numba import njit

__all__ = ["add_to", "are_equal", "copy_into"]


@njit(cache=True)
def copy_into(source, out):
    """Fill out (k,) with the first numbers of the source."""
    for i in range(out.size):
        out[i] = source[i]


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
