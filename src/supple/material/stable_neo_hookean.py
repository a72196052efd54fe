"""Stable neo-Hookean flesh (Smith, de Goes, Kim 2018): no singularity under inversion, right volume at rest.

ψ = μ/2 (I - 3) + λ/2 (J - α)² - μ/2 log(I + 1), with α that makes the rest shape stress-free.
"""

from dataclasses import dataclass

import numpy as np

from supple.linalg.small import point
from supple.material.material import ElasticMaterial
from supple.material.response import Response
from supple.material.separable import separable

__all__ = ["StableNeoHookean"]


@point
def stretch(I, m):
    mu, k = m[0], 1.0 / (I + 1.0)
    value = 0.5 * mu * (I - 3.0) - 0.5 * mu * np.log(0.25 * (I + 1.0)) - m[2]
    return value, 0.5 * mu * (1.0 - k), 0.5 * mu * k * k, -mu * k * k * k


@point
def quartic(m):
    return 0.0


@point
def volume(J, m):
    mu, lam = m[0], m[1]
    d = J - (1.0 + 0.75 * mu / lam)  # J - α, Eq. (14) of the paper
    return 0.5 * lam * d * d, lam * d, lam, 0.0


@dataclass(frozen=True, kw_only=True)
class StableNeoHookean(ElasticMaterial):
    """The default: robust under any deformation, close to incompressible flesh."""

    @property
    def moduli(self) -> tuple[float, float, float]:
        """μ, λ of the paper's energy that give the Lamé moduli at rest (section 3.4), and the energy at rest."""
        mu = 4.0 / 3.0 * self.mu
        lam = self.lam + 5.0 / 6.0 * self.mu
        return mu, lam, 0.5 * lam * (0.75 * mu / lam) ** 2

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = separable("stable_neo_hookean", stretch, quartic, volume)
