"""A material that no element gets through inside out: for fits of shapes, not for flesh.

ψ = μ/2 (I - 3) - μ log J + λ/2 (log J)² as of rubber, but the logarithm holds down to J = 0.01. From there on it is
continued, so that a search may step on the far side and is thrown back.
"""

from dataclasses import dataclass

import numpy as np

from supple.linalg.small import point
from supple.material.material import ElasticMaterial
from supple.material.neo_hookean import quartic, stretch
from supple.material.response import Response
from supple.material.separable import separable

__all__ = ["Barrier"]

LEAST = 0.01  #: volume ratio below which the logarithm is continued


@point
def volume(J, m):
    mu, lam = m[0], m[1]
    inside = J < LEAST
    base = LEAST if inside else J
    d = (J - LEAST) if inside else 0.0
    k = 1.0 / base
    f, f1, f2 = np.log(base) + k * d - 0.5 * k * k * d * d, k - k * k * d, -k * k
    f3 = 0.0 if inside else 2.0 * k * k * k
    slope = lam * f - mu  # of the energy in log J
    return (
        0.5 * lam * f * f - mu * f,
        slope * f1,
        slope * f2 + lam * f1 * f1,
        slope * f3 + 3.0 * lam * f1 * f2,
    )


@dataclass(frozen=True, kw_only=True)
class Barrier(ElasticMaterial):
    """Rubber that can be pressed flat but not turned inside out."""

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = separable("barrier", stretch, quartic, volume)
