"""Triangles that resist stretch and shear in their plane, as a membrane in plane stress or beyond limits only."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.arguments import check_number
from supple.constraint.checks import check_limits, each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.errors import MaterialError
from supple.linalg.small import jacobi, perpendicular, point, unit_or

__all__ = ["TriangleStrain"]

_TINY = 1e-300


@point
def triangle_strain(t, l):
    a0, a1, a2 = t[VALUE, l], t[VALUE + 1, l], t[VALUE + 2, l]
    b0, b1, b2 = t[VALUE + 3, l], t[VALUE + 4, l], t[VALUE + 5, l]
    # Rows turned until they are perpendicular: their lengths are the stretches
    c, s, _ = jacobi(a0 * a0 + a1 * a1 + a2 * a2, b0 * b0 + b1 * b1 + b2 * b2, a0 * b0 + a1 * b1 + a2 * b2, 1.0, _TINY)
    u = c * a0 - s * b0, c * a1 - s * b1, c * a2 - s * b2
    v = s * a0 + c * b0, s * a1 + c * b1, s * a2 + c * b2
    su, sv = np.sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]), np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    if su >= sv:
        u = unit_or(u, (1.0, 0.0, 0.0), _TINY, 1.0)
        v = unit_or(v, perpendicular(u, 1.0, _TINY), 1e-14 * su + _TINY, 1.0)
    else:
        v = unit_or(v, (1.0, 0.0, 0.0), _TINY, 1.0)
        u = unit_or(u, perpendicular(v, 1.0, _TINY), 1e-14 * sv + _TINY, 1.0)
    rigid, bulk, low, high = t[PARAMETERS, l], t[PARAMETERS + 1, l], t[PARAMETERS + 2, l], t[PARAMETERS + 3, l]
    tau = 0.5 * (su + sv) - 1.0
    gap_u, gap_v = su - min(max(su, low), high), sv - min(max(sv, low), high)
    pu, pv = su - rigid * gap_u - bulk * tau, sv - rigid * gap_v - bulk * tau
    for i in range(3):
        t[PROJECTION + i, l] = c * pu * u[i] + s * pv * v[i]
        t[PROJECTION + 3 + i, l] = c * pv * v[i] - s * pu * u[i]
    t[DISTANCE, l] = rigid * (gap_u * gap_u + gap_v * gap_v) + 2.0 * bulk * tau * tau


@dataclass(frozen=True, eq=False)
class TriangleStrain(Constraint):
    """Membranes; without limits the co-rotational law in plane stress, μ |F - R|² + λ'/2 tr²(RᵀF - 1) per volume.

    As for tets it is the sum of two constraints: F is a rotation, weight 2μ, and its stretches add up to 2, weight
    2λ', λ' = E ν/(1 - ν²). With limits, stretches between them cost nothing and 2μ resists beyond.
    """

    kind: ClassVar = "triangle strain"
    lane: ClassVar = triangle_strain
    width: ClassVar = 3

    @classmethod
    def build(
        cls,
        stencils: Stencils,
        young: ArrayLike,
        poisson: float,
        thickness: float,
        limits: tuple[float, float] | None = None,
    ) -> "TriangleStrain":
        """Triangles (constraint/gradients.py) of Young's modulus [Pa], Poisson's ratio and thickness [m]."""
        young = each(young, len(stencils), "TriangleStrain.build(young)", "Pa")
        check_number(thickness, "TriangleStrain.build(thickness)", above=0.0, unit="m", error=MaterialError)
        check_number(poisson, "TriangleStrain.build(poisson)", above=-1.0, below=0.5, error=MaterialError)
        mu, lam = young / (2.0 * (1.0 + poisson)), young * poisson / (1.0 - poisson**2)
        if limits is None:
            weight, low, high = 2.0 * mu + 2.0 * np.maximum(lam, 0.0), 1.0, 1.0
        else:
            check_limits("TriangleStrain.build(limits)", limits)
            weight, lam, (low, high) = 2.0 * mu, 0.0 * mu, limits
        ends = np.repeat([[low], [high]], len(stencils), axis=1)
        parameters = np.concatenate([[2.0 * mu / weight, 2.0 * lam / weight], ends])
        return cls(stencils, weight * thickness * stencils.measure, parameters)
