"""The rotation nearest to a 3x3 matrix, by Newton's method on a unit quaternion that is kept from call to call.

Kugelstadt, Koschier, Bender, "Fast corotated FEM using operator splitting", 2018: with B = RᵀA the trace of RᵀA grows
fastest by the turn w of (tr S - S) w = axl(B), S the symmetric part of B, axl the vector of B - Bᵀ. Where that matrix
is not safely positive definite the step is one of the gradient instead (Müller et al. 2016). The result is a rotation
also of inverted matrices. One step from a nearby quaternion squares the error; from afar 8 to 15 are needed.

Matrices are tuples of nine floats in row order, quaternions (w, x, y, z) of four; types are those of the arguments,
single or double precision. Loops that call these over lanes vectorise when their arrays were made in the same function.
"""

import numpy as np

from supple.linalg.jit import njit
from supple.linalg.small import matmul_nt, matmul_tn, point, signed_svd

__all__ = ["nearest_quaternions", "quaternion_to_matrix", "turn_to"]


@point
def quaternion_to_matrix(q):
    """The rotation of a unit quaternion."""
    w, x, y, z = q
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    one = w * w + x * x + y * y + z * z
    return one - yy - zz, xy - wz, xz + wy, xy + wz, one - xx - zz, yz - wx, xz - wy, yz + wx, one - xx - yy


@point
def turn_to(A, q, one, tiny):
    """One step of the unit quaternion q towards the rotation nearest to A; `one` and `tiny` have the type of both."""
    half = one / (one + one)
    B = matmul_tn(quaternion_to_matrix(q), A)
    g0, g1, g2 = B[7] - B[5], B[2] - B[6], B[3] - B[1]
    s01, s02, s12 = half * (B[1] + B[3]), half * (B[2] + B[6]), half * (B[5] + B[7])
    h00, h11, h22 = B[4] + B[8], B[0] + B[8], B[0] + B[4]
    # The adjugate of H = tr(S) - S
    c00, c11, c22 = h11 * h22 - s12 * s12, h00 * h22 - s02 * s02, h00 * h11 - s01 * s01
    c01, c02, c12 = s02 * s12 + s01 * h22, s01 * s12 + s02 * h11, s01 * s02 + s12 * h00
    det = h00 * c00 - s01 * c01 - s02 * c02
    size = abs(h00) + abs(h11) + abs(h22) + abs(s01) + abs(s02) + abs(s12) + tiny
    safe = (h00 > 0) & (c22 > 0) & (det > np.float32(1e-4) * size * size * size)
    scale = one / (det if safe else abs(B[0] + B[4] + B[8]) + tiny)
    w0 = scale * (c00 * g0 + c01 * g1 + c02 * g2 if safe else g0)
    w1 = scale * (c01 * g0 + c11 * g1 + c12 * g2 if safe else g1)
    w2 = scale * (c02 * g0 + c12 * g1 + c22 * g2 if safe else g2)
    # Cayley's map: q times (1, w/2), then to unit length
    w0, w1, w2 = half * w0, half * w1, half * w2
    a, b, c, d = q
    p0, p1 = a - b * w0 - c * w1 - d * w2, b + a * w0 + c * w2 - d * w1
    p2, p3 = c + a * w1 + d * w0 - b * w2, d + a * w2 + b * w1 - c * w0
    unit = one / np.sqrt(p0 * p0 + p1 * p1 + p2 * p2 + p3 * p3)
    return p0 * unit, p1 * unit, p2 * unit, p3 * unit


@point
def _largest(R):
    """A unit quaternion of a rotation, from the largest of its four entries."""
    w, x, y, z = 1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8], 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]
    if w >= x and w >= y and w >= z:
        q = w, R[7] - R[5], R[2] - R[6], R[3] - R[1]
    elif x >= y and x >= z:
        q = R[7] - R[5], x, R[1] + R[3], R[2] + R[6]
    elif y >= z:
        q = R[2] - R[6], R[1] + R[3], y, R[5] + R[7]
    else:
        q = R[3] - R[1], R[2] + R[6], R[5] + R[7], z
    unit = 1.0 / np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return q[0] * unit, q[1] * unit, q[2] * unit, q[3] * unit


@njit(cache=True, error_model="numpy")
def nearest_quaternions(matrices):
    """Quaternions, (4, m), of the rotations nearest to matrices (m, 3, 3), found from nothing."""
    out = np.empty((4, len(matrices)))
    for e in range(len(matrices)):
        A = matrices[e]
        U, _, V = signed_svd((A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]))
        out[0, e], out[1, e], out[2, e], out[3, e] = _largest(matmul_nt(U, V))
    return out
