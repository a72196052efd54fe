"""Arrays inside compiled loops, number by number: the same with slices and sums of arrays costs the compiler seconds.

For `out[:] = source`, say, Numba compiles what puts shapes that do not fit into words.
"""

from supple.linalg.jit import njit

__all__ = ["add_to", "are_equal", "copy_into", "copy_rows"]


@njit(cache=True)
def copy_into(source, out):
    """Fill out (k,) with the first numbers of the source."""
    for i in range(out.size):
        out[i] = source[i]


@njit(cache=True)
def copy_rows(source, out):
    """Fill out (n, m) with the first rows and columns of the source."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = source[i, j]


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
