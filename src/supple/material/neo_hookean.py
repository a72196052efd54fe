"""Neo-Hookean rubber, ψ = μ/2 (I - 3) - μ log J + λ/2 (log J)², with log J continued below J = 0.2."""

from dataclasses import dataclass

from supple.linalg.small import point
from supple.material.logarithm import continued_log
from supple.material.material import ElasticMaterial
from supple.material.response import Response
from supple.material.separable import separable

__all__ = ["NeoHookean"]


@point
def stretch(I, m):
    return 0.5 * m[0] * (I - 3.0), 0.5 * m[0], 0.0, 0.0


@point
def quartic(m):
    return 0.0


@point
def volume(J, m):
    mu, lam = m[0], m[1]
    f, f1, f2, f3 = continued_log(J)
    slope = lam * f - mu  # of the energy in log J
    return (
        0.5 * lam * f * f - mu * f,
        slope * f1,
        slope * f2 + lam * f1 * f1,
        slope * f3 + 3.0 * lam * f1 * f2,
    )


@dataclass(frozen=True, kw_only=True)
class NeoHookean(ElasticMaterial):
    """Rubber by the textbook."""

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = separable("neo_hookean", stretch, quartic, volume)
