"""Isotropic materials whose density separates: ψ = a(I) + b Q + c(J).

I = |F|², Q = |FᵀF|², J = det F. A material gives `stretch(I, m) -> (a, a', a'', a''')`,
`quartic(m) -> b` and `volume(J, m) -> (c, c', c'', c''')`; everything else follows, without a division, so it
holds where stretches coincide, vanish or turn negative. Twist and flip eigenvalues: Smith et al. 2019,
"Analytic eigensystems for isotropic distortion energies".
"""

from collections.abc import Callable
from typing import Any

from supple.linalg.small import add, cofactor, det, inner, matmul, matmul_nt, matmul_tn, point, scale, signed_svd
from supple.material.response import Response

__all__ = ["separable"]


@point
def cofactor_pair(A, B):
    """The symmetric bilinear form whose value at (F, F) is twice the cofactor of F."""
    whole, first, second = cofactor(add(A, B)), cofactor(A), cofactor(B)
    return add(whole, scale(-1.0, add(first, second)))


@point
def cubic_slope(F, A):
    """Derivative of F FᵀF along A."""
    C = matmul_tn(F, F)
    return add(matmul(A, C), add(matmul(F, matmul_tn(A, F)), matmul(matmul_nt(F, F), A)))


@point
def cubic_curvature(F, A, B):
    """Second derivative of F FᵀF along A and B."""
    first = add(matmul(A, add(matmul_tn(B, F), matmul_tn(F, B))), matmul(B, matmul_tn(A, F)))
    second = add(matmul(F, add(matmul_tn(A, B), matmul_tn(B, A))), matmul(B, matmul_tn(F, A)))
    return add(first, second)


def separable(
    name: str, stretch: Callable[..., Any], quartic: Callable[..., Any], volume: Callable[..., Any]
) -> Response:
    """The point functions of the material ψ = a(I) + b Q + c(J)."""

    @point
    def psi(F, m):
        C = matmul_tn(F, F)
        return stretch(C[0] + C[4] + C[8], m)[0] + quartic(m) * inner(C, C) + volume(det(F), m)[0]

    @point
    def stress(F, m):
        # P = 2 a' F + 4 b F FᵀF + c' cof F
        a, b, c = stretch(inner(F, F), m), quartic(m), volume(det(F), m)
        cubic = matmul(F, matmul_tn(F, F))
        return add(add(scale(2.0 * a[1], F), scale(4.0 * b, cubic)), scale(c[1], cofactor(F)))

    @point
    def spectrum(s, m):
        x, y, z = s
        xx, yy, zz = x * x, y * y, z * z
        a, b, c = stretch(xx + yy + zz, m), quartic(m), volume(x * y * z, m)
        gx, gy, gz = y * z, x * z, x * y  # gradient of J
        block = (
            2.0 * a[1] + 12.0 * b * xx + 4.0 * a[2] * xx + c[2] * gx * gx,
            2.0 * a[1] + 12.0 * b * yy + 4.0 * a[2] * yy + c[2] * gy * gy,
            2.0 * a[1] + 12.0 * b * zz + 4.0 * a[2] * zz + c[2] * gz * gz,
            4.0 * a[2] * gz + c[2] * gx * gy + c[1] * z,
            4.0 * a[2] * gy + c[2] * gx * gz + c[1] * y,
            4.0 * a[2] * gx + c[2] * gy * gz + c[1] * x,
        )
        twist = (
            2.0 * a[1] + 4.0 * b * (yy + zz - gx) + c[1] * x,
            2.0 * a[1] + 4.0 * b * (xx + zz - gy) + c[1] * y,
            2.0 * a[1] + 4.0 * b * (xx + yy - gz) + c[1] * z,
        )
        flip = (
            2.0 * a[1] + 4.0 * b * (yy + zz + gx) - c[1] * x,
            2.0 * a[1] + 4.0 * b * (xx + zz + gy) - c[1] * y,
            2.0 * a[1] + 4.0 * b * (xx + yy + gz) - c[1] * z,
        )
        return block, twist, flip

    @point
    def curvature(F, A, B, m):
        G = cofactor(F)
        slope_A, slope_B = cofactor_pair(F, A), cofactor_pair(F, B)
        a, b, c = stretch(inner(F, F), m), quartic(m), volume(det(F), m)
        I_A, I_B, I_AB = 2.0 * inner(F, A), 2.0 * inner(F, B), 2.0 * inner(A, B)
        J_A, J_B, J_AB = inner(G, A), inner(G, B), inner(slope_B, A)
        total = scale(2.0 * (a[3] * I_A * I_B + a[2] * I_AB), F)
        total = add(total, scale(2.0 * a[2] * I_B, A))
        total = add(total, scale(2.0 * a[2] * I_A, B))
        total = add(total, scale(4.0 * b, cubic_curvature(F, A, B)))
        total = add(total, scale(c[3] * J_A * J_B + c[2] * J_AB, G))
        total = add(total, scale(c[2] * J_B, slope_A))
        total = add(total, scale(c[2] * J_A, slope_B))
        return add(total, scale(c[1], cofactor_pair(A, B)))

    return Response(name, psi, stress, signed_svd, spectrum, curvature)
