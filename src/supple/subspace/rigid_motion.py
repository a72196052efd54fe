"""Displacements without their rigid part: what is left deforms the body."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Body
from supple.subspace.rest_stiffness import RestStiffness

__all__ = ["remove_rigid"]

FloatArray = NDArray[np.float64]


def remove_rigid(displacements: FloatArray, body: Body) -> FloatArray:
    """Displacements (k, n, 3) [m] less the small rigid motions that the pins leave free, and zero at the pins.

    Turns are taken to first order: shapes that turned by more than some degrees are to be aligned (`fit_rigid`) first.
    """
    stiffness = RestStiffness(body)
    vectors = stiffness.gather(displacements.reshape(len(displacements), -1).T)
    return stiffness.spread(stiffness.without_rigid(vectors)).T.reshape(displacements.shape)
