"""A material's answers for many deformation gradients at once."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import describe, refuse
from supple.linalg.small import clamp_symmetric
from supple.material.response import Response, specialise

__all__ = ["curvature_at", "hessian_at", "psi_at", "stress_at"]

FloatArray = NDArray[np.float64]
Moduli = tuple[float, float, float]
_LANES = 8  # deformation gradients at a time


def _psi_many(F, m, out):
    for i in range(F.shape[0]):
        f = F[i]
        out[i] = psi((f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]), m)


def _stress_many(F, m, out):
    t, count = np.empty((18, _LANES)), len(F)
    for begin in range(0, count, _LANES):
        for l in range(_LANES):
            e = min(begin + l, count - 1)  # lanes past the end repeat the last one
            for k in range(9):
                t[k, l] = F[e, k]
        for l in range(_LANES):  # no branch, one array: this becomes vector instructions
            f = t[0, l], t[1, l], t[2, l], t[3, l], t[4, l], t[5, l], t[6, l], t[7, l], t[8, l]
            P = stress(f, m)
            t[9, l], t[10, l], t[11, l] = P[0], P[1], P[2]
            t[12, l], t[13, l], t[14, l] = P[3], P[4], P[5]
            t[15, l], t[16, l], t[17, l] = P[6], P[7], P[8]
        for l in range(min(_LANES, count - begin)):
            for k in range(9):
                out[begin + l, k] = t[9 + k, l]


def _hessian_many(F, m, project, out):
    for e in range(F.shape[0]):
        f = F[e]
        U, s, V = frame((f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]))
        block, twist, flip = spectrum(s, m)
        if project:
            block = clamp_symmetric(block)
        axes = np.zeros((9, 9))  # the Hessian in the frame of U and V, index 3 row + column
        pairs = ((0, 0, 0), (1, 1, 1), (2, 2, 2), (0, 1, 3), (0, 2, 4), (1, 2, 5))
        for i, j, k in pairs:
            axes[4 * i, 4 * j] = axes[4 * j, 4 * i] = block[k]
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            t = max(twist[k], 0.0) if project else twist[k]
            p = max(flip[k], 0.0) if project else flip[k]
            axes[3 * i + j, 3 * i + j] = axes[3 * j + i, 3 * j + i] = 0.5 * (p + t)
            axes[3 * i + j, 3 * j + i] = axes[3 * j + i, 3 * i + j] = 0.5 * (p - t)
        turn = np.empty((9, 9))
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    for l in range(3):
                        turn[3 * i + j, 3 * k + l] = U[3 * i + k] * V[3 * j + l]
        half = turn @ axes
        for i in range(9):
            for j in range(9):
                total = 0.0
                for k in range(9):
                    total += half[i, k] * turn[j, k]
                out[e, i, j] = total


def _curvature_many(F, A, B, m, out):
    for i in range(F.shape[0]):
        f, a, b = F[i], A[i], B[i]
        C = curvature(
            (f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]),
            (a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8]),
            (b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8]),
            m,
        )
        for k in range(9):  # one by one: to assign a row costs the compiler seconds
            out[i, k] = C[k]


@cache
def _compiled(template: Any, response: Response) -> Any:
    return specialise(template, response)


def _rows(F: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    try:
        array = np.asarray(F, dtype=np.float64)
    except (TypeError, ValueError):
        refuse("F", describe(F), "(..., 3, 3)")
    if array.shape[-2:] != (3, 3):
        refuse("F", f"shape {array.shape}", "(..., 3, 3)")
    return np.ascontiguousarray(array.reshape(-1, 9)), array.shape[:-2]


def psi_at(response: Response, F: ArrayLike, moduli: Moduli) -> FloatArray:
    """Energy density, shape (...)."""
    rows, lead = _rows(F)
    out = np.empty(len(rows))
    _compiled(_psi_many, response)(rows, moduli, out)
    return out.reshape(lead)


def stress_at(response: Response, F: ArrayLike, moduli: Moduli) -> FloatArray:
    """First Piola–Kirchhoff stress, shape (..., 3, 3)."""
    rows, lead = _rows(F)
    out = np.empty_like(rows)
    _compiled(_stress_many, response)(rows, moduli, out)
    return out.reshape(*lead, 3, 3)


def hessian_at(response: Response, F: ArrayLike, moduli: Moduli, project: bool) -> FloatArray:
    """Derivative of the stress, shape (..., 3, 3, 3, 3)."""
    rows, lead = _rows(F)
    out = np.empty((len(rows), 9, 9))
    _compiled(_hessian_many, response)(rows, moduli, project, out)
    return out.reshape(*lead, 3, 3, 3, 3)


def curvature_at(response: Response, F: ArrayLike, A: ArrayLike, B: ArrayLike, moduli: Moduli) -> FloatArray:
    """Second derivative of the stress along A and B, shape (..., 3, 3)."""
    F, A, B = np.broadcast_arrays(np.asarray(F, float), np.asarray(A, float), np.asarray(B, float))
    rows, lead = _rows(F)
    out = np.empty_like(rows)
    _compiled(_curvature_many, response)(rows, _rows(A)[0], _rows(B)[0], moduli, out)
    return out.reshape(*lead, 3, 3)
