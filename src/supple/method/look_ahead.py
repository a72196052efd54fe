"""The shape whose stiffness damps a step of Newmark's method: that of its end, as far as it is safe to foresee it.

With the stiffness of the beginning a step would be of first order. Far ahead of a body that rings lie shapes that it
never takes, with stiffnesses that jump from step to step and feed energy into it.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["shorten"]

FloatArray = NDArray[np.float64]
_FARTHEST = 0.5  # strain that is foreseen


def shorten(change: FloatArray, strain: NDArray[np.floating]) -> FloatArray:
    """As much of a change in a step as strains the body by what is safe, from the strain that all of it would be."""
    return change * min(1.0, _FARTHEST / max(float(np.abs(strain).max(initial=0.0)), _FARTHEST))
