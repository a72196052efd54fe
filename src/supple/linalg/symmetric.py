"""A factor of a sparse positive-definite matrix for several right-hand sides at once."""

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import splu

from supple.linalg.direct import NotPositiveDefinite

__all__ = ["SymmetricFactor"]

FloatArray = NDArray[np.float64]
_FILLED = 0.2  # share of entries above which the dense factor is the quicker one


class SymmetricFactor:
    """Cholesky where much of the matrix is filled, sparse LU in symmetric order elsewhere."""

    def __init__(self, matrix: sp.sparray) -> None:
        self._dense: Any = None
        size = matrix.shape[0]
        if matrix.nnz > _FILLED * size * size:
            try:
                self._dense = cho_factor(matrix.toarray(), lower=True, overwrite_a=True, check_finite=False)
            except LinAlgError:
                raise NotPositiveDefinite from None
            return
        with warnings.catch_warnings():
            warnings.simplefilter("error", sp.linalg.MatrixRankWarning)
            options = {"SymmetricMode": True}
            self._sparse = splu(
                sp.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options
            )

    def solve(self, b: FloatArray) -> FloatArray:
        """x with A x = b, (c,) or (c, k)."""
        if self._dense is not None:
            return np.asarray(cho_solve(self._dense, b, check_finite=False))
        return np.asarray(self._sparse.solve(b))
