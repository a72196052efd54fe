"""The Laplacian of a body, and equations with it for many right-hand sides."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.linalg.direct import direct_solver
from supple.linalg.pattern import UpperPattern
from supple.mesh import TetMesh

__all__ = ["laplacian", "solve_columns", "vertex_volumes"]

FloatArray = NDArray[np.float64]


def laplacian(mesh: TetMesh) -> csr_array:
    """The stiffness [m] of heat conduction by linear elements, (n, n): positive semi-definite, rows sum to 0."""
    import igl

    return csr_array(-igl.cotmatrix(mesh.vertices, mesh.tets.astype(np.int64)))


def vertex_volumes(mesh: TetMesh) -> FloatArray:
    """The volume [m^3] that belongs to every vertex, (n,): a quarter of each tet around it."""
    shares = np.repeat(mesh.volumes() / 4.0, 4)
    return np.asarray(np.bincount(mesh.tets.ravel(), weights=shares, minlength=len(mesh.vertices)), np.float64)


def solve_columns(matrix: csr_array, columns: FloatArray) -> FloatArray:
    """x (n, b) with matrix x = columns, for a positive-definite matrix, factorised once."""
    pattern, entries = UpperPattern.of(matrix)
    factor = direct_solver(pattern)
    factor.factor(entries)
    return np.column_stack([factor.solve(column) for column in columns.T])
