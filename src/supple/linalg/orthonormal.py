"""Orthonormal columns in a diagonal metric."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["orthonormalise", "remove_components"]

FloatArray = NDArray[np.float64]


def remove_components(vector: FloatArray, columns: FloatArray, metric: FloatArray) -> FloatArray:
    """What is left of a vector without its components along orthonormal columns.

    Gram–Schmidt, done twice: once is not enough when little is left.
    """
    for _ in range(2):
        vector = vector - columns @ (columns.T @ (metric * vector))
    return vector


def orthonormalise(columns: FloatArray, metric: FloatArray, tolerance: float = 1e-10) -> FloatArray:
    """Orthonormal columns that span the given ones, in their order; columns that add nothing are left out."""
    kept = np.zeros((len(columns), 0))
    for column in columns.T:
        size = float(np.sqrt(column @ (metric * column)))
        left = remove_components(column, kept, metric)
        rest = float(np.sqrt(left @ (metric * left)))
        if size > 0.0 and rest > tolerance * size:
            kept = np.column_stack([kept, left / rest])
    return kept
