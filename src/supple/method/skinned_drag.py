"""Drag by stiffness of a skinned body: what its elements resist while bones bend them and coordinates change."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements

__all__ = ["Drag", "make_drag", "turn_gradients"]

FloatArray = NDArray[np.float64]


class Drag(NamedTuple):
    """The stiffness of a step's beginning, as the coordinates of its end see it."""

    stiffness: FloatArray
    """K, (r, r)."""
    carried: FloatArray
    """K by how the pose alone strains the body in the step, (r,)."""


def make_drag(elements: ReducedElements, q: FloatArray, begin: FloatArray) -> Drag:
    """Drag of elements in the pose of a step's end; `begin` (9 c,) are their deformation gradients at its beginning,
    turned along, and q (r,) its coordinates."""
    L, signs = np.empty((elements.count, 9, 9), np.float32), np.empty((elements.count, 9), np.bool_)
    elements.loops.roots(begin, elements.table, elements.bounds, 0, 0, elements.count, L, signs)
    signs[:, 3:6] = False  # rotations are not resisted: the form VISCOUS of elastic/kernels.py
    L[~signs] = 0.0
    change = elements.rest + elements.gradient @ q - begin
    rows = (L @ elements.gradient.reshape(elements.count, 9, elements.rank)).reshape(-1, elements.rank)
    strain = (L @ change.reshape(elements.count, 9, 1)).ravel()
    return Drag(rows.T @ rows, strain @ rows)


def turn_gradients(turn: FloatArray, F: FloatArray) -> FloatArray:
    """R F of stacked deformation gradients (9 c,)."""
    return np.asarray(turn @ F.reshape(-1, 3, 3)).ravel()
