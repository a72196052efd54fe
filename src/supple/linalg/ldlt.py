"""L D Lᵀ of a sparse positive-definite matrix for three right-hand sides at a time: x, y and z of one scalar matrix.

SciPy factorises; its factor is walked here, because one pass over it for all three columns costs little more than
one for one. Four columns after each other with nearly the same rows are a panel (`linalg/panels.py`): their products
stay in registers, and rows are looked up once for all. Vertices that are numbered in the order of elimination need no
permutation on the way.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.panels import lay_panels, substitute

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
        substitute(*self._panels, self._inverse, b, x)
        return x

    @property
    def memory(self) -> int:
        """Bytes of the factor."""
        return sum(int(part.nbytes) for part in self._panels)

    def _take(self, found: Any) -> None:
        diagonal = found.U.diagonal()
        if not (diagonal > 0.0).all():
            raise NotPositiveDefinite
        below = sp.csc_array(sp.tril(found.L, -1))
        below.sort_indices()
        self._panels = lay_panels(below.indptr.astype(np.int64), below.indices.astype(np.int32), below.data)
        self._inverse = 1.0 / diagonal


def _factorise(matrix: Any, order: str) -> Any:
    return splu(sp.csc_array(matrix), permc_spec=order, diag_pivot_thresh=0.0, options={"SymmetricMode": True})
