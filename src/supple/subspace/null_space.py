"""Displacements that satisfy linear constraints C u = 0, as u = Z y: Eqs. (29) and (30) of [XB16]."""

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

__all__ = ["independent_rows", "null_space"]

FloatArray = NDArray[np.float64]
_REDUNDANT = 1e-6  # the paper's threshold


def independent_rows(C: FloatArray) -> NDArray[np.intp]:
    """Numbers of rows of C that span all of them; rows are chosen, not mixed, so that sparse ones stay sparse."""
    if not len(C):
        return np.zeros(0, np.intp)
    _, R, order = scipy.linalg.qr(C.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return np.sort(order[: int(np.count_nonzero(size > _REDUNDANT * size[0]))])


def null_space(C: FloatArray) -> csr_array:
    """Z (columns of C, columns less constraints), with C Z = 0; rows of C must be independent.

    LU of Cᵀ with row pivoting picks the coordinates that the constraints determine: with P Cᵀ = [L_p; L_n] U the
    block -C_p⁻¹ C_n of Eq. (29) is -(L_n L_p⁻¹)ᵀ.
    """
    constraints, size = C.shape
    order, L, _ = scipy.linalg.lu(C.T, p_indices=True)
    picked = np.argsort(order)  # row k of P Cᵀ is row picked[k] of Cᵀ
    determined, rest = picked[:constraints], picked[constraints:]
    block = -scipy.linalg.solve_triangular(
        L[:constraints], L[constraints:].T, trans="T", lower=True, unit_diagonal=True
    )
    row, column = np.nonzero(block)
    ones = np.arange(size - constraints)
    rows = np.concatenate([determined[row], rest])
    columns = np.concatenate([column, ones])
    values = np.concatenate([block[row, column], np.ones(size - constraints)])
    return csr_array(coo_array((values, (rows, columns)), shape=(size, size - constraints)))
