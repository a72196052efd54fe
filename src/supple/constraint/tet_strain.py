"""Tetrahedra whose stretches stay within limits."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from supple.constraint.checks import check_limits, each
from supple.constraint.constraint import Constraint
from supple.constraint.kernels import DISTANCE, PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils
from supple.elastic.kernels import read, write
from supple.linalg.small import add, inner, matmul_nt, point, scale, signed_svd

__all__ = ["TetStrain"]


@point
def tet_strain(t, l):
    F = read(t, VALUE, l)
    low, high = t[PARAMETERS, l], t[PARAMETERS + 1, l]
    U, s, V = signed_svd(F)
    a, b, c = (min(max(s[0], low), high), min(max(s[1], low), high), min(max(s[2], low), high))
    U = U[0] * a, U[1] * b, U[2] * c, U[3] * a, U[4] * b, U[5] * c, U[6] * a, U[7] * b, U[8] * c
    P = matmul_nt(U, V)
    gap = add(F, scale(-1.0, P))
    write(t, PROJECTION, l, P)
    t[DISTANCE, l] = inner(gap, gap)


@dataclass(frozen=True, eq=False)
class TetStrain(Constraint):
    """Nothing resists stretches between the limits; beyond them, and against turning inside out, 2μ does.

    Without slack between the limits `CorotationalTets` does the same faster.
    """

    kind: ClassVar = "tet strain"
    lane: ClassVar = tet_strain
    width: ClassVar = 4

    @classmethod
    def build(cls, stencils: Stencils, mu: ArrayLike, limits: tuple[float, float]) -> "TetStrain":
        """Tets (constraint/gradients.py) of shear modulus μ [Pa] whose stretches are free within `limits`."""
        mu = each(mu, len(stencils), "TetStrain.build(mu)", "Pa")
        check_limits("TetStrain.build(limits)", limits)
        return cls(stencils, 2.0 * mu * stencils.measure, np.repeat(np.array(limits)[:, None], len(stencils), axis=1))
