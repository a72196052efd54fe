"""Bases turned so that their reduced rest stiffness is diagonal: every coordinate gets a frequency."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.errors import TrainingError
from supple.linalg.ties import settled_turn
from supple.subspace.basis import Basis
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["diagonalise", "uncouple"]

FloatArray = NDArray[np.float64]

_NOTHING = 1e-10  # a column that keeps a smaller share than this of its square was rigid motion, or twice there


def diagonalise(basis: Basis, body: Body) -> Basis:
    """The same subspace in coordinates where UᵀMU = I and UᵀK₀U = diag(λ), softest first, λ [1/s²] its importance.

    It is zero at pins and without rigid motions, which belong to the body's frame: what was nothing else is left out.
    """
    basis.check_vertices(len(body.mass))
    stiffness = RestStiffness(body)
    size = np.sqrt(np.einsum("ij,i,ij->j", basis.columns, basis.metric, basis.columns))
    columns = stiffness.without_rigid(stiffness.gather(basis.columns / np.where(size > 0.0, size, 1.0)))
    return _uncouple(basis, stiffness, columns)


def uncouple(basis: Basis, body: Body, x: FloatArray) -> Basis:
    """The same subspace in such coordinates about a shape x [m], its columns wherever they are, rigid or not."""
    stiffness = RestStiffness(body, x)
    return _uncouple(basis, stiffness, stiffness.gather(basis.columns))


def _uncouple(basis: Basis, stiffness: RestStiffness, columns: FloatArray) -> Basis:
    squares, directions = np.linalg.eigh(columns.T @ (stiffness.mass[:, None] * columns))
    kept = squares > _NOTHING
    if not kept.any():
        raise TrainingError(
            f"the basis ({basis.source}) has no column that deforms the body: make one from shapes that do."
        )
    columns = columns @ (directions[:, kept] / np.sqrt(squares[kept]))
    values, turn = np.linalg.eigh(columns.T @ (stiffness.matrix @ columns))
    columns = columns @ turn
    columns = columns @ settled_turn(values, columns, stiffness.mass)
    return replace(basis, columns=stiffness.spread(columns), importance=values)
