"""Tetrahedra of any material as constraints: the quasi-Newton view of projective dynamics (Liu et al. 2017).

A material has no set to project to, but p = F - P(F)/w, P its stress and w = 2μ + 3λ its stiffest modulus at rest,
takes the place of a projection: the force is that of the material, and the matrix is one that resists as it does near
the rest shape. The matrix need not bound the energy from above, so steps must be checked
(method/projective/quasi_newton.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any, ClassVar

import numpy as np

from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.elastic.kernels import read, write
from supple.linalg.small import point
from supple.material import Material
from supple.material.response import Response

__all__ = ["Hyperelastic"]


def _template(t, l):
    """`psi` and `stress` are the material's; values are transposed deformation gradients."""
    a, b, c, d, e, f, g, h, i = read(t, VALUE, l)
    F = a, d, g, b, e, h, c, f, i
    moduli, inverse = (t[PARAMETERS, l], t[PARAMETERS + 1, l], t[PARAMETERS + 2, l]), t[PARAMETERS + 3, l]
    P = stress(F, moduli)
    row = a - inverse * P[0], b - inverse * P[3], c - inverse * P[6]
    row = *row, d - inverse * P[1], e - inverse * P[4], f - inverse * P[7]
    write(t, PROJECTION, l, (*row, g - inverse * P[2], h - inverse * P[5], i - inverse * P[8]))
    t[DISTANCE, l] = 2.0 * inverse * psi(F, moduli)


@cache
def _lane_of(response: Response) -> Callable[..., Any]:
    scope = {**_template.__globals__, "psi": response.psi, "stress": response.stress}
    return point(FunctionType(_template.__code__, scope, f"hyperelastic_{response.name}"))


@dataclass(frozen=True, eq=False)
class Hyperelastic(Constraint):
    """Tets of one material."""

    kind: ClassVar = "hyperelastic"
    width: ClassVar = 4
    bounded: ClassVar = False
    material: Material

    @classmethod
    def build(cls, stencils: Stencils, material: Material) -> "Hyperelastic":
        """Tets (constraint/gradients.py) of a material."""
        stiffest = 2.0 * material.mu + 3.0 * max(material.lam, 0.0)
        parameters = np.repeat(np.array([*material.moduli, 1.0 / stiffest])[:, None], len(stencils), axis=1)
        return cls(stencils, stiffest * stencils.measure, parameters, material)

    def find_lane(self, *, warm: bool) -> Callable[..., Any]:
        return _lane_of(self.material.response)
