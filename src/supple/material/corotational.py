"""Co-rotational elasticity: the linear law in the frame of the polar decomposition F = R S.

ψ = μ |F - R|² + λ/2 (tr S - 3)². Its Hessian turns indefinite where elements are squeezed; the projection
clamps exactly the twist eigenvalues that McAdams et al. 2011 correct.
"""

from dataclasses import dataclass

from supple.linalg.small import add, inner, matmul, matmul_nt, matmul_tn, point, scale, signed_svd
from supple.material.material import ElasticMaterial
from supple.material.response import Response

__all__ = ["Corotational"]

# Two stretches that cancel leave the rotation undefined; the quotients stop here.
SMALLEST_SUM = 1e-6


@point
def _skew_over_sums(A, s):
    """X with X S + S X = A - Aᵀ, in the axes where S = diag(s)."""
    a = (A[1] - A[3]) / max(s[0] + s[1], SMALLEST_SUM)
    b = (A[2] - A[6]) / max(s[0] + s[2], SMALLEST_SUM)
    c = (A[5] - A[7]) / max(s[1] + s[2], SMALLEST_SUM)
    return 0.0, a, b, -a, 0.0, c, -b, -c, 0.0


@point
def psi(F, m):
    _, s, _ = signed_svd(F)
    x, y, z = s[0] - 1.0, s[1] - 1.0, s[2] - 1.0
    trace = x + y + z
    return m[0] * (x * x + y * y + z * z) + 0.5 * m[1] * trace * trace


@point
def stress(F, m):
    U, s, V = signed_svd(F)
    R = matmul_nt(U, V)
    return add(scale(2.0 * m[0], F), scale(m[1] * (s[0] + s[1] + s[2] - 3.0) - 2.0 * m[0], R))


@point
def spectrum(s, m):
    mu, lam = m[0], m[1]
    bend = 2.0 * lam * (s[0] + s[1] + s[2] - 3.0) - 4.0 * mu
    block = (2.0 * mu + lam, 2.0 * mu + lam, 2.0 * mu + lam, lam, lam, lam)
    twist = (
        2.0 * mu + bend / max(s[1] + s[2], SMALLEST_SUM),
        2.0 * mu + bend / max(s[0] + s[2], SMALLEST_SUM),
        2.0 * mu + bend / max(s[0] + s[1], SMALLEST_SUM),
    )
    return block, twist, (2.0 * mu, 2.0 * mu, 2.0 * mu)


@point
def curvature(F, A, B, m):
    U, s, V = signed_svd(F)
    # In the axes of V on the right and U on the left R is the identity and S is diag(s).
    a, b = matmul(matmul_tn(U, A), V), matmul(matmul_tn(U, B), V)
    turn_a, turn_b = _skew_over_sums(a, s), _skew_over_sums(b, s)
    S = (s[0], 0.0, 0.0, 0.0, s[1], 0.0, 0.0, 0.0, s[2])
    stretch_b = add(b, scale(-1.0, matmul(turn_b, S)))
    change = add(matmul_tn(turn_b, a), scale(-1.0, matmul(turn_a, stretch_b)))
    second = add(matmul(turn_b, turn_a), _skew_over_sums(change, s))
    trace_a, trace_b = a[0] + a[4] + a[8], b[0] + b[4] + b[8]
    total = scale(m[1] * (s[0] + s[1] + s[2] - 3.0) - 2.0 * m[0], second)
    total = add(total, scale(m[1] * trace_b, turn_a))
    total = add(total, scale(m[1] * trace_a, turn_b))
    c = m[1] * inner(turn_b, a)
    total = add(total, (c, 0.0, 0.0, 0.0, c, 0.0, 0.0, 0.0, c))
    return matmul_nt(matmul(U, total), V)


@dataclass(frozen=True, kw_only=True)
class Corotational(ElasticMaterial):
    """Linear stiffness that follows rotations; the material of [TMDK15] and of projective dynamics."""

    @property
    def response(self) -> Response:
        return _RESPONSE


_RESPONSE = Response("corotational", psi, stress, signed_svd, spectrum, curvature)
