"""A basis that grows by one column and shrinks to what was used lately: Algorithms 1 and 2 of [KJ09]."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.linalg.orthonormal import remove_components
from supple.linalg.ties import settled_turn
from supple.subspace.basis import Basis

__all__ = ["empty_basis", "grow", "shrink"]

FloatArray = NDArray[np.float64]


def empty_basis(mass: FloatArray) -> Basis:
    """A basis without columns, to grow from."""
    return Basis(np.zeros((3 * len(mass), 0)), mass, "grown from a run", np.zeros(0))


def grow(basis: Basis, u: FloatArray, discard: float) -> tuple[Basis, float]:
    """The basis with the new part of a displacement u [m], (n, 3), appended where it is worth it, and the size of that
    part relative to u (lines 4-8 of Algorithm 1)."""
    vector = u.ravel()
    size = float(np.sqrt(vector @ (basis.metric * vector)))
    if size == 0.0:
        return basis, 0.0
    left = remove_components(vector, basis.columns, basis.metric)
    rest = float(np.sqrt(left @ (basis.metric * left)))
    if rest <= discard * size:
        return basis, rest / size
    columns = np.column_stack([basis.columns, left / rest])
    return replace(basis, columns=columns, importance=np.append(basis.importance, rest)), rest / size


def shrink(basis: Basis, recent: FloatArray, rank: int) -> tuple[Basis, FloatArray]:
    """The basis turned to the principal directions of recent coordinates (k, r) and cut to `rank`, with the matrix R
    of the turn: new coordinates are Rᵀ q (lines 3-5 of Algorithm 2)."""
    turn, singular, _ = np.linalg.svd(recent.T, full_matrices=False)
    turn = (turn @ settled_turn(singular, turn))[:, :rank]
    singular = singular[:rank]
    return basis.rotated(turn, singular), turn
