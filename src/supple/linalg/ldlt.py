"""L D Lᵀ of a sparse positive-definite matrix for three right-hand sides at a time: x, y and z of one scalar matrix.

SciPy factorises; its factor is walked here, because one pass over it for all three columns costs little more than
one for one. Vertices that are numbered in the order of elimination need no permutation on the way.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from supple.linalg.direct import NotPositiveDefinite

__all__ = ["LDLT"]

FloatArray = NDArray[np.float64]


class LDLT:
    """A factor in the order of elimination."""

    def __init__(self, matrix: Any) -> None:
        """The factor of a matrix whose rows stand in the order of elimination."""
        self._take(_factorise(matrix, "NATURAL"))

    @classmethod
    def ordered(cls, matrix: Any) -> tuple["LDLT", NDArray[np.int64]]:
        """The factor of a matrix in any order, and the place of every row in an order of little fill, (n,)."""
        found = _factorise(matrix, "MMD_AT_PLUS_A")
        factor = cls.__new__(cls)
        factor._take(found)
        return factor, np.asarray(found.perm_c, np.int64)

    def solve(self, b: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """x with A x = b, both (n, 3); `out` may be b itself."""
        x = np.empty((len(b), 3)) if out is None else out
        if x is not b:
            x[:] = b
        _substitute(self._start, self._rows, self._values, self._inverse, x)
        return x

    @property
    def memory(self) -> int:
        """Bytes of the factor."""
        return int(self._values.nbytes + self._rows.nbytes)

    def _take(self, found: Any) -> None:
        diagonal = found.U.diagonal()
        if not (diagonal > 0.0).all():
            raise NotPositiveDefinite
        below = sp.csc_array(sp.tril(found.L, -1))
        below.sort_indices()
        self._start, self._rows = below.indptr.astype(np.int64), below.indices.astype(np.int32)
        self._values, self._inverse = below.data, 1.0 / diagonal


def _factorise(matrix: Any, order: str) -> Any:
    return splu(sp.csc_array(matrix), permc_spec=order, diag_pivot_thresh=0.0, options={"SymmetricMode": True})


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _substitute(start, rows, values, inverse, x):
    """Forward through the columns of L, back through them as rows of Lᵀ, in place."""
    count = start.size - 1
    for j in range(count):
        a, b, c = x[j, 0], x[j, 1], x[j, 2]
        for k in range(np.uint64(start[j]), np.uint64(start[j + 1])):
            i, l = np.uint64(rows[k]), values[k]
            x[i, 0] -= l * a
            x[i, 1] -= l * b
            x[i, 2] -= l * c
    for j in range(count - 1, -1, -1):
        a, b, c = inverse[j] * x[j, 0], inverse[j] * x[j, 1], inverse[j] * x[j, 2]
        for k in range(np.uint64(start[j]), np.uint64(start[j + 1])):
            i, l = np.uint64(rows[k]), values[k]
            a -= l * x[i, 0]
            b -= l * x[i, 1]
            c -= l * x[i, 2]
        x[j, 0], x[j, 1], x[j, 2] = a, b, c
