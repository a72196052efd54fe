"""Saint Venant–Kirchhoff: the linear law in Green's strain, ψ = μ tr E² + λ/2 (tr E)².

Alone it softens below a stretch of 0.58 and takes the mirror image for the rest shape, ψ(F) = ψ(-F); below
J = 0.3 a cubic barrier in J turns inverted elements back (the aim of Irving et al. 2004, kept as an energy).
"""

from dataclasses import dataclass

from supple.linalg.small import point
from supple.material.material import ElasticMaterial
from supple.material.response import Response
from supple.material.separable import separable

__all__ = ["StVK"]

BARRIER = 0.3


@point
def stretch(I, m):
    mu, lam, d = m[0], m[1], I - 3.0
    return 0.125 * lam * d * d - 0.5 * mu * I + 0.75 * mu, 0.25 * lam * d - 0.5 * mu, 0.25 * lam, 0.0


@point
def quartic(m):
    return 0.25 * m[0]


@point
def volume(J, m):
    k = 2.0 * (m[1] + 2.0 * m[0])
    d = max(BARRIER - J, 0.0)
    third = -2.0 * k if d > 0.0 else 0.0
    return k / 3.0 * d * d * d, -k * d * d, 2.0 * k * d, third


@dataclass(frozen=True, kw_only=True)
class StVK(ElasticMaterial):
    """The material of most papers on model reduction; weak in strong compression."""

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = separable("stvk", stretch, quartic, volume)
