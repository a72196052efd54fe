"""What every constraint of projective dynamics answers."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from supple.constraint.stencils import Stencils

__all__ = ["Constraint"]

FloatArray = NDArray[np.float64]


class Constraint(ABC):
    """e constraints of one type: the triplets {λ, S, p} of Eqs. (4) and (5) of [BEH18].

    Each stores the energy λ/2 |S x - p(S x)|², p the nearest point of its set.
    """

    kind: ClassVar[str]
    """The type's name in a user's words."""
    stencils: Stencils
    weight: FloatArray
    """λ, with the element's measure in it [J for a value without unit, J/m² for a length], (e,)."""

    @abstractmethod
    def project(self, values: FloatArray, members: NDArray[np.integer] | None = None) -> FloatArray:
        """The nearest points of the constraint sets to values S x, (m, p, 3), of all or of chosen elements."""

    def rest(self, rest: FloatArray) -> FloatArray:
        """The projections at the rest shape [m], (n, 3): (e, p, 3), from which Appendix C builds their subspace."""
        return self.project(self.stencils.values(rest))

    def energy(self, x: FloatArray) -> float:
        """Energy [J] at positions x [m], (n, 3)."""
        gap = self.stencils.values(x)
        gap = gap - self.project(gap)
        return 0.5 * float(self.weight @ np.einsum("epi,epi->e", gap, gap))

    def forces(self, x: FloatArray) -> FloatArray:
        """Forces on the vertices [N], (n, 3): -λ Sᵀ(S x - p), for at the nearest point p's own motion counts nothing."""
        values = self.stencils.values(x)
        return -self.stencils.gather(self.weight, values - self.project(values), len(x))
