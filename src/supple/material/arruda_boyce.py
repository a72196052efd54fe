"""Arruda–Boyce: rubber as a network of chains of N segments that stiffens as the chains pull straight.

ψ = a(I) - μ₀ log J + κ/2 (J - 1)² with a = μ Σ c_k / N^(k-1) (I^k - 3^k), five terms of the inverse Langevin series.
μ₀ = 2 a'(3) is the shear modulus at rest, and κ = k - 2/3 μ₀ - 4 a''(3) makes k the bulk modulus there. log J is
continued below J = 0.2.
"""

from dataclasses import dataclass

from supple.errors import MaterialError
from supple.linalg.small import point
from supple.material.logarithm import continued_log
from supple.material.material import Material
from supple.material.response import Response
from supple.material.separable import separable

__all__ = ["ArrudaBoyce"]

# Coefficients c_1 .. c_5 of the series
C1, C2, C3, C4, C5 = 1.0 / 2.0, 1.0 / 20.0, 11.0 / 1050.0, 19.0 / 7000.0, 519.0 / 673750.0


@point
def stretch(I, m):
    mu, n = m[0], 1.0 / m[1]
    c2, c3, c4, c5 = C2 * n, C3 * n * n, C4 * n * n * n, C5 * n * n * n * n
    value = I * (C1 + I * (c2 + I * (c3 + I * (c4 + I * c5))))
    rest = 3.0 * (C1 + 3.0 * (c2 + 3.0 * (c3 + 3.0 * (c4 + 3.0 * c5))))
    slope = C1 + I * (2.0 * c2 + I * (3.0 * c3 + I * (4.0 * c4 + I * 5.0 * c5)))
    second = 2.0 * c2 + I * (6.0 * c3 + I * (12.0 * c4 + I * 20.0 * c5))
    third = 6.0 * c3 + I * (24.0 * c4 + I * 60.0 * c5)
    return mu * (value - rest), mu * slope, mu * second, mu * third


@point
def quartic(m):
    return 0.0


@point
def volume(J, m):
    rest = stretch(3.0, m)
    mu, d = 2.0 * rest[1], J - 1.0
    k = m[2] - 2.0 / 3.0 * mu - 4.0 * rest[2]
    f, f1, f2, f3 = continued_log(J)
    return 0.5 * k * d * d - mu * f, k * d - mu * f1, k - mu * f2, -mu * f3


@dataclass(frozen=True, kw_only=True)
class ArrudaBoyce(Material):
    """Rubber with limited chain extensibility, in the parameters of [KJ09]."""

    shear: float = 5000.0
    """μ [Pa]."""
    segments: float = 5000.0
    """N, segments per chain; small values stiffen early."""
    bulk: float = 1e5
    """k [Pa]."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("shear", "Pa", "About 5000 for soft rubber.", above=0.0)
        self._check("segments", "", "Small values stiffen early.", above=0.0)
        self._check("bulk", "Pa", "About 1e5 for soft rubber.", above=0.0)
        if self.bulk <= 2.0 / 3.0 * self.mu + 4.0 * float(stretch(3.0, self.moduli)[2]):
            raise MaterialError(
                f"bulk = {self.bulk:g} Pa is too small beside a shear modulus of {self.mu:g} Pa at rest: raise bulk."
            )

    @property
    def mu(self) -> float:
        return float(2.0 * stretch(3.0, self.moduli)[1])

    @property
    def lam(self) -> float:
        return self.bulk - 2.0 / 3.0 * self.mu

    @property
    def moduli(self) -> tuple[float, float, float]:
        return self.shear, self.segments, self.bulk

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = separable("arruda_boyce", stretch, quartic, volume)
