"""Linear elasticity, ψ = μ |ε|² + λ/2 (tr ε)² with ε the symmetric part of F - I: small motions only."""

from dataclasses import dataclass

from supple.linalg import small
from supple.linalg.small import point
from supple.material.material import ElasticMaterial
from supple.material.response import Response

__all__ = ["Linear"]


@point
def stress(F, m):
    mu = m[0]
    pressure = m[1] * (F[0] + F[4] + F[8] - 3.0)
    xy, xz, yz = mu * (F[1] + F[3]), mu * (F[2] + F[6]), mu * (F[5] + F[7])
    return (
        2.0 * mu * (F[0] - 1.0) + pressure, xy, xz,
        xy, 2.0 * mu * (F[4] - 1.0) + pressure, yz,
        xz, yz, 2.0 * mu * (F[8] - 1.0) + pressure,
    )  # fmt: skip


@point
def psi(F, m):
    P = stress(F, m)
    return 0.5 * (small.inner(P, F) - P[0] - P[4] - P[8])


@point
def frame(F):
    identity = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return identity, (1.0, 1.0, 1.0), identity


@point
def spectrum(s, m):
    mu, lam = m[0], m[1]
    block = (2.0 * mu + lam, 2.0 * mu + lam, 2.0 * mu + lam, lam, lam, lam)
    return block, (0.0, 0.0, 0.0), (2.0 * mu, 2.0 * mu, 2.0 * mu)


@point
def curvature(F, A, B, m):
    return 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0


@dataclass(frozen=True, kw_only=True)
class Linear(ElasticMaterial):
    """The textbook law: exact for vibrations and small loads, swells when it turns."""

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = Response("linear", psi, stress, frame, spectrum, curvature)
