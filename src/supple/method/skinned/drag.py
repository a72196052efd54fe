"""Drag by stiffness of a skinned body: what its elements resist while bones bend them and coordinates change."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.cubature.packed_elements import PackedElements
from supple.cubature.reduced_elements import ReducedElements
from supple.elastic import VISCOUS

__all__ = ["Drag", "make_drag", "turn_gradients"]

FloatArray = NDArray[np.float64]


class Drag(NamedTuple):
    """Stiffness as the coordinates of a step's end see it."""

    stiffness: FloatArray
    """K, (r, r)."""
    carried: FloatArray
    """K by how fast the pose alone strains the body, (r,)."""


def make_drag(elements: ReducedElements | PackedElements, F: FloatArray, rate: FloatArray) -> Drag:
    """Drag of elements in the pose of a step's end, with the stiffness of deformation gradients F (9 c,); the pose
    strains them at a rate (9 c,) [1/s]."""
    L, signs = elements.roots(F)
    K = elements.square(L, signs, VISCOUS)
    signs[:, 3:6] = False  # rotations are not resisted: the form VISCOUS of elastic/kernels.py
    strain = rate.astype(np.float32).reshape(-1, 9, 1)
    stress = (np.where(signs, (L @ strain)[:, :, 0], 0.0)[:, None, :] @ L).ravel()
    return Drag(K, elements.gather(np.asarray(stress, np.float64)))


def turn_gradients(turn: FloatArray, F: FloatArray) -> FloatArray:
    """R F of stacked deformation gradients (9 c,)."""
    return np.asarray(turn @ F.reshape(-1, 3, 3)).ravel()
