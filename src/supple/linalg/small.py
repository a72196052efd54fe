"""3x3 kernels on plain scalars: no branches that stop a loop over elements from vectorising.

A matrix is a tuple of nine floats in row order, a symmetric one the six floats (00, 11, 22, 01, 02, 12).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from supple.linalg.jit import njit

__all__ = [
    "add",
    "clamp_symmetric",
    "cofactor",
    "det",
    "inner",
    "jacobi",
    "matmul",
    "matmul_nt",
    "matmul_tn",
    "perpendicular",
    "plain_point",
    "point",
    "scale",
    "signed_svd",
    "single_svd",
    "symmetric_eigen",
    "unit_or",
]

_TINY = 1e-300
_ONE_SINGLE, _TINY_SINGLE = np.float32(1.0), np.float32(1e-30)  # literals are double, and would make all else so

# The numpy error model: a division that might raise would put a branch into every loop over elements.
point = njit(forceinline=True, error_model="numpy", fastmath={"contract", "nsz"})


def plain_point(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `point`, for functions that are called with numbers in the code: `point` compiles a copy for each of them."""
    options: Any = {"forceinline": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
    overload(function, jit_options=options, strict=False)(lambda *_: function)
    return function


@point
def add(A, B):
    """A + B."""
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2],
        A[3] + B[3], A[4] + B[4], A[5] + B[5],
        A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@point
def scale(a, B):
    """a B."""
    return a * B[0], a * B[1], a * B[2], a * B[3], a * B[4], a * B[5], a * B[6], a * B[7], a * B[8]


@point
def inner(A, B):
    """Sum of the entrywise products of A and B."""
    return (
        A[0] * B[0] + A[1] * B[1] + A[2] * B[2]
        + A[3] * B[3] + A[4] * B[4] + A[5] * B[5]
        + A[6] * B[6] + A[7] * B[7] + A[8] * B[8]
    )  # fmt: skip


@point
def det(F):
    """Determinant of a 3x3 matrix."""
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6])


@point
def cofactor(F):
    """Cofactor matrix, the gradient of the determinant."""
    return (
        F[4] * F[8] - F[5] * F[7],
        F[5] * F[6] - F[3] * F[8],
        F[3] * F[7] - F[4] * F[6],
        F[2] * F[7] - F[1] * F[8],
        F[0] * F[8] - F[2] * F[6],
        F[1] * F[6] - F[0] * F[7],
        F[1] * F[5] - F[2] * F[4],
        F[2] * F[3] - F[0] * F[5],
        F[0] * F[4] - F[1] * F[3],
    )


@point
def matmul(A, B):
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@point
def _transpose(A):
    return (A[0], A[3], A[6], A[1], A[4], A[7], A[2], A[5], A[8])


@point
def matmul_tn(A, B):
    """Aᵀ B."""
    return matmul(_transpose(A), B)


@point
def matmul_nt(A, B):
    """A Bᵀ."""
    return matmul(A, _transpose(B))


@point
def jacobi(app, aqq, apq, one, tiny):
    """Cosine and sine of the Jacobi rotation that zeroes apq."""
    d, twice = aqq - app, apq + apq
    root = np.sqrt(d * d + twice * twice) + tiny
    t = twice / (d + np.copysign(root, d))
    c = one / np.sqrt(one + t * t)
    return c, t * c, t


@point
def _turn(c, s, a, b):
    """Two columns' entries rotated into each other."""
    return c * a - s * b, s * a + c * b


@point
def _sweep(A, V, one, tiny):
    """One cyclic Jacobi sweep of a symmetric A, collected in V."""
    zero = one - one
    a00, a11, a22, a01, a02, a12 = A
    v00, v01, v02, v10, v11, v12, v20, v21, v22 = V

    c, s, t = jacobi(a00, a11, a01, one, tiny)
    a00, a11 = a00 - t * a01, a11 + t * a01
    a02, a12 = _turn(c, s, a02, a12)
    v00, v01 = _turn(c, s, v00, v01)
    v10, v11 = _turn(c, s, v10, v11)
    v20, v21 = _turn(c, s, v20, v21)

    c, s, t = jacobi(a00, a22, a02, one, tiny)
    a00, a22 = a00 - t * a02, a22 + t * a02
    a01, a12 = _turn(c, s, zero, a12)
    v00, v02 = _turn(c, s, v00, v02)
    v10, v12 = _turn(c, s, v10, v12)
    v20, v22 = _turn(c, s, v20, v22)

    c, s, t = jacobi(a11, a22, a12, one, tiny)
    a11, a22 = a11 - t * a12, a22 + t * a12
    a01, a02 = _turn(c, s, a01, zero)
    v01, v02 = _turn(c, s, v01, v02)
    v11, v12 = _turn(c, s, v11, v12)
    v21, v22 = _turn(c, s, v21, v22)
    return (a00, a11, a22, a01, a02, zero), (v00, v01, v02, v10, v11, v12, v20, v21, v22)


@point
def _eigen(A, one, tiny):
    """Nearly diagonal form and eigenvectors (columns) of a symmetric matrix; one more sweep reaches round-off."""
    zero = one - one
    V = (one, zero, zero, zero, one, zero, zero, zero, one)
    A, V = _sweep(A, V, one, tiny)  # written out: a loop here would keep the loop over elements from vectorising
    A, V = _sweep(A, V, one, tiny)
    return _sweep(A, V, one, tiny)


@point
def symmetric_eigen(A):
    """Nearly diagonal form and eigenvectors (columns) of a symmetric matrix in single precision."""
    return _eigen(A, _ONE_SINGLE, _TINY_SINGLE)


@point
def _descend(first, second, a, b):
    """Two columns with the longer first; one is negated in a swap, which keeps the orientation."""
    swap = first < second
    return (
        max(first, second),
        min(first, second),
        (b[0] if swap else a[0], b[1] if swap else a[1], b[2] if swap else a[2]),
        (-a[0] if swap else b[0], -a[1] if swap else b[1], -a[2] if swap else b[2]),
    )


@point
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@point
def perpendicular(a, one, tiny):
    """A unit vector perpendicular to the unit vector a."""
    zero = one - one
    flat = abs(a[0]) < 0.7
    p = (zero if flat else -a[1], -a[2] if flat else a[0], a[1] if flat else zero)
    scale = one / np.sqrt(_dot(p, p) + tiny)
    return p[0] * scale, p[1] * scale, p[2] * scale


@point
def unit_or(a, fallback, floor, one):
    """a / |a|, or the fallback where a is shorter than floor."""
    length = np.sqrt(_dot(a, a))
    good = length > floor
    scale = one / (length if good else one)
    return (
        a[0] * scale if good else fallback[0],
        a[1] * scale if good else fallback[1],
        a[2] * scale if good else fallback[2],
    )


@point
def _svd(F, values, V, one, tiny, digits):
    """U, s, V of F from eigenvalues and eigenvectors of FᵀF."""
    zero = one - one
    e0, e1, e2 = values[0], values[1], values[2]
    c0, c1, c2 = (V[0], V[3], V[6]), (V[1], V[4], V[7]), (V[2], V[5], V[8])
    e0, e1, c0, c1 = _descend(e0, e1, c0, c1)
    e0, e2, c0, c2 = _descend(e0, e2, c0, c2)
    e1, e2, c1, c2 = _descend(e1, e2, c1, c2)
    V = (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])
    B = matmul(F, V)
    b0, b1, b2 = (B[0], B[3], B[6]), (B[1], B[4], B[7]), (B[2], B[5], B[8])
    s0 = np.sqrt(_dot(b0, b0))
    u0 = unit_or(b0, (one, zero, zero), tiny, one)
    along = _dot(u0, b1)
    rest = (b1[0] - along * u0[0], b1[1] - along * u0[1], b1[2] - along * u0[2])
    u1 = unit_or(rest, perpendicular(u0, one, tiny), digits * s0 + tiny, one)
    u2 = (u0[1] * u1[2] - u0[2] * u1[1], u0[2] * u1[0] - u0[0] * u1[2], u0[0] * u1[1] - u0[1] * u1[0])
    U = (u0[0], u1[0], u2[0], u0[1], u1[1], u2[1], u0[2], u1[2], u2[2])
    return U, (s0, _dot(u1, b1), _dot(u2, b2)), V


@point
def signed_svd(F):
    """Rotations U, V and stretches s1 >= s2 >= |s3| with F = U diag(s) Vᵀ; s3 < 0 where F is inverted."""
    C = matmul_tn(F, F)
    A, V = _eigen((C[0], C[4], C[8], C[1], C[2], C[5]), 1.0, _TINY)
    A, V = _sweep(A, V, 1.0, _TINY)
    return _svd(F, A, V, 1.0, _TINY, 1e-13)


@point
def single_svd(F):
    """The same of a matrix in single precision."""
    C = matmul_tn(F, F)
    A, V = _eigen((C[0], C[4], C[8], C[1], C[2], C[5]), _ONE_SINGLE, _TINY_SINGLE)
    return _svd(F, A, V, _ONE_SINGLE, _TINY_SINGLE, np.float32(1e-6))


@point
def clamp_symmetric(A):
    """The symmetric positive-semidefinite matrix nearest to A: negative eigenvalues become zero."""
    values, V = _eigen(A, 1.0, _TINY)
    a, b, c = max(values[0], 0.0), max(values[1], 0.0), max(values[2], 0.0)
    return (
        a * V[0] * V[0] + b * V[1] * V[1] + c * V[2] * V[2],
        a * V[3] * V[3] + b * V[4] * V[4] + c * V[5] * V[5],
        a * V[6] * V[6] + b * V[7] * V[7] + c * V[8] * V[8],
        a * V[0] * V[3] + b * V[1] * V[4] + c * V[2] * V[5],
        a * V[0] * V[6] + b * V[1] * V[7] + c * V[2] * V[8],
        a * V[3] * V[6] + b * V[4] * V[7] + c * V[5] * V[8],
    )
