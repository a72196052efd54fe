"""Bases turned so that their reduced rest stiffness is diagonal: every coordinate gets a frequency."""

import numpy as np

from supple.elastic import Body
from supple.subspace.basis import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["diagonalise"]


def diagonalise(basis: Basis, body: Body) -> Basis:
    """The same subspace in coordinates where UᵀMU = I and UᵀK₀U = diag(λ), softest first, λ [1/s²] its importance."""
    stiffness = RestStiffness(body)
    columns = stiffness.gather(basis.columns)
    reduced_mass = columns.T @ (stiffness.mass[:, None] * columns)
    reduced = columns.T @ (stiffness.matrix @ columns)
    factor = np.linalg.cholesky(reduced_mass)
    half = np.linalg.solve(factor, reduced)
    values, turn = np.linalg.eigh(np.linalg.solve(factor, half.T))
    return basis.rotated(np.linalg.solve(factor.T, turn), values)
