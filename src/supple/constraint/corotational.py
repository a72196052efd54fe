"""Co-rotational tetrahedra: the energy of material/corotational.py as a constraint.

μ |F - R|² + λ/2 tr²(RᵀF - 1) per volume is the sum of two constraints: F is a rotation, with weight 2μ, and the
stretches of F add up to 3, with weight 3λ, whose nearest point is F - τ R, τ = (tr(RᵀF) - 3)/3. Their forces are those
of one constraint with weight 2μ + 3λ and the projection in between. It is no nearest point, so the energy is its own.
The second nearest point lies on its set unless the two smaller stretches add up to less than 2τ: elements that are
pulled to many times their length and thin; there the objective is not sure to fall.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_floats
from supple.constraint.checks import each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, MEMORY, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.elastic.kernels import read, write
from supple.linalg.rotation import quaternion_to_matrix, turn_to
from supple.linalg.small import add, inner, matmul_nt, point, scale, signed_svd

__all__ = ["CorotationalTets"]

FloatArray = NDArray[np.float64]
_ONE, _THIRD, _TINY = np.float32(1.0), np.float32(1.0 / 3.0), np.float32(1e-30)  # literals would make all double


@point
def _blend(t, l, F, R):
    """Write the projection between R and F - τ R, and the energy."""
    a, b = t[PARAMETERS, l], t[PARAMETERS + 1, l]
    tau = (inner(R, F) - 3.0) / 3.0
    gap = add(F, scale(-1.0, R))
    write(t, PROJECTION, l, add(scale(1.0 - a, F), scale(a - b * tau, R)))
    t[DISTANCE, l] = a * inner(gap, gap) + 3.0 * b * tau * tau


@point
def corotational(t, l):
    F = read(t, VALUE, l)
    U, _, V = signed_svd(F)
    _blend(t, l, F, matmul_nt(U, V))


@point
def corotational_warm(t, l):
    F = read(t, VALUE, l)
    q = t[MEMORY, l], t[MEMORY + 1, l], t[MEMORY + 2, l], t[MEMORY + 3, l]
    q = turn_to(F, turn_to(F, q, 1.0, 1e-300), 1.0, 1e-300)
    t[MEMORY, l], t[MEMORY + 1, l], t[MEMORY + 2, l], t[MEMORY + 3, l] = q
    _blend(t, l, F, quaternion_to_matrix(q))


@point
def corotational_single(t, l):
    F = read(t, VALUE, l)
    q = t[MEMORY, l], t[MEMORY + 1, l], t[MEMORY + 2, l], t[MEMORY + 3, l]
    q = turn_to(F, turn_to(F, q, _ONE, _TINY), _ONE, _TINY)
    t[MEMORY, l], t[MEMORY + 1, l], t[MEMORY + 2, l], t[MEMORY + 3, l] = q
    R = quaternion_to_matrix(q)
    a, b = t[PARAMETERS, l], t[PARAMETERS + 1, l]
    tau = inner(R, F) * _THIRD - _ONE
    write(t, PROJECTION, l, add(scale(_ONE - a, F), scale(a - b * tau, R)))


@dataclass(frozen=True, eq=False)
class CorotationalTets(Constraint):
    """Tetrahedra with Lamé's constants; λ = 0 leaves the plain constraint that F is a rotation."""

    kind: ClassVar = "corotational"
    lane: ClassVar = corotational
    warm_lane: ClassVar = corotational_warm
    single_lane: ClassVar = corotational_single
    width: ClassVar = 4

    @classmethod
    def build(cls, stencils: Stencils, mu: ArrayLike, lam: ArrayLike = 0.0) -> "CorotationalTets":
        """Tets (constraint/gradients.py) of shear modulus μ and Lamé's λ [Pa], one for all or one each."""
        mu = each(mu, len(stencils), "CorotationalTets.build(mu)", "Pa")
        shape = () if np.ndim(lam) == 0 else (len(stencils),)
        lam = np.broadcast_to(as_floats(lam, "CorotationalTets.build(lam)", shape, unit="Pa"), mu.shape)
        each(lam + 2.0 / 3.0 * mu, len(stencils), "CorotationalTets.build(lam + 2/3 mu)", "Pa")  # the bulk modulus
        weight = 2.0 * mu + 3.0 * np.maximum(lam, 0.0)
        return cls(stencils, weight * stencils.measure, np.stack([2.0 * mu / weight, 3.0 * lam / weight]))
