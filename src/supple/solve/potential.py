"""Terms of a step's potential that join a few vertices each: grabs, contacts."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Potential"]

FloatArray = NDArray[np.float64]


class Potential(Protocol):
    """A sum of m functions, each of one point sum_k w_k x_k."""

    @property
    def vertices(self) -> NDArray[np.integer]:
        """Vertices of each term, (m, k)."""

    @property
    def weights(self) -> FloatArray:
        """Their weights, (m, k); a vertex of weight zero does not count."""

    def energy(self, x: FloatArray) -> float:
        """Energy at positions x [J]."""

    def terms(self, x: FloatArray) -> dict[str, FloatArray]:
        """Derivative by the positions, by where it comes from [N], each (n, 3)."""

    def curvature(self, x: FloatArray, *, cautious: bool = False) -> FloatArray:
        """Symmetric second derivatives C by each term's point [N/m], (m, 3, 3): the Hessian has blocks w_i w_j C.

        `cautious`: those of quadratics that bound the terms from above and touch them at x.
        """
