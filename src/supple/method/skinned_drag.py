"""Drag by stiffness of a skinned body: what its elements resist while bones bend them and coordinates change."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.cubature.reduced_stiffness import square_rows
from supple.elastic import VISCOUS
from supple.linalg.blas import square_address

__all__ = ["Drag", "make_drag", "turn_gradients"]

FloatArray = NDArray[np.float64]


class Drag(NamedTuple):
    """Stiffness as the coordinates of a step's end see it."""

    stiffness: FloatArray
    """K, (r, r)."""
    carried: FloatArray
    """K by how fast the pose alone strains the body, (r,)."""


def make_drag(elements: ReducedElements, F: FloatArray, rate: FloatArray) -> Drag:
    """Drag of elements in the pose of a step's end, with the stiffness of deformation gradients F (9 c,); the pose
    strains them at a rate (9 c,) [1/s]."""
    count, rank = elements.count, elements.rank
    L, signs = np.empty((count, 9, 9), np.float32), np.empty((count, 9), np.bool_)
    elements.loops.roots(F, elements.table, elements.bounds, 0, 0, count, L, signs)
    stack, K = np.empty((9 * count, elements.single.shape[2]), np.float32), np.zeros((rank, rank), np.float32)
    square_rows(square_address(), elements.single, L, signs, 0, count, VISCOUS, stack, K)
    signs[:, 3:6] = False  # rotations are not resisted: the form VISCOUS of elastic/kernels.py
    strain = rate.astype(np.float32).reshape(count, 9, 1)
    stress = (np.where(signs, (L @ strain)[:, :, 0], 0.0)[:, None, :] @ L).ravel()
    return Drag(np.asarray(np.tril(K) + np.tril(K, -1).T, np.float64), stress @ elements.gradient)


def turn_gradients(turn: FloatArray, F: FloatArray) -> FloatArray:
    """R F of stacked deformation gradients (9 c,)."""
    return np.asarray(turn @ F.reshape(-1, 3, 3)).ravel()
