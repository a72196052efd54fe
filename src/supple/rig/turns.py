"""How a rig turns the flesh around its vertices, where it knows."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.small import cofactor, det, matmul_nt, point, signed_svd
from supple.rig.rig import Rig

__all__ = ["find_turns", "nearest_rotations", "turn_rows"]

FloatArray = NDArray[np.float64]
Vertices = NDArray[np.integer] | None

_STEPS, _SAME = 8, 1e-9  # the step after so small a change would change a square of it
_FLAT = 1e-3  # determinant of matrices whose nearest rotation takes a singular value decomposition


def find_turns(rig: Rig, pose: FloatArray, vertices: Vertices = None) -> FloatArray | None:
    """Rotations of a rig at all vertices, or the chosen ones, (k, 3, 3); None for a black box."""
    ask: Callable[..., FloatArray | None] | None = getattr(rig, "turns", None)  # isinstance of a protocol takes 15 µs
    return None if ask is None else ask(pose, vertices)


def nearest_rotations(A: FloatArray) -> FloatArray:
    """The rotations nearest to matrices, (n, 3, 3) each; they exist where a matrix is singular, too."""
    turns = np.empty_like(A)
    _fill_rotations(A, turns)
    return turns


@njit(cache=True)
def _fill_rotations(A: FloatArray, R: FloatArray) -> None:
    for k in range(len(A)):
        a = A[k]
        F: tuple[float, ...] = (a[0, 0], a[0, 1], a[0, 2], a[1, 0], a[1, 1], a[1, 2], a[2, 0], a[2, 1], a[2, 2])
        turn, change = F, np.inf
        for _ in range(_STEPS):
            turn, change = _approach(turn)
            if not change > _SAME:
                break
        if not change <= _SAME:
            U, _, V = signed_svd(F)
            turn = matmul_nt(U, V)
        for i in range(3):
            for j in range(3):
                R[k, i, j] = turn[3 * i + j]


@point
def _approach(F: tuple[float, ...]) -> tuple[tuple[float, ...], float]:
    """(F + F⁻ᵀ) / 2, which ends at the nearest rotation, by twice as many digits each time; and what it changes. A
    matrix that is far from one is called infinitely far."""
    d = det(F)
    if not d > _FLAT:
        return F, np.inf
    C, change = cofactor(F), 0.0
    a = (
        0.5 * (F[0] + C[0] / d), 0.5 * (F[1] + C[1] / d), 0.5 * (F[2] + C[2] / d),
        0.5 * (F[3] + C[3] / d), 0.5 * (F[4] + C[4] / d), 0.5 * (F[5] + C[5] / d),
        0.5 * (F[6] + C[6] / d), 0.5 * (F[7] + C[7] / d), 0.5 * (F[8] + C[8] / d),
    )  # fmt: skip
    for i in range(9):
        change = max(change, abs(a[i] - F[i]))
    return a, change


@njit(cache=True)
def turn_rows(a: float, b: float, c: float) -> tuple[tuple[float, float, float], ...]:
    """The rotation of the vector (a, b, c) [rad], row by row."""
    square = a * a + b * b + c * c
    angle = np.sqrt(square)
    # sin(angle)/angle and (1 - cos(angle))/angle², with their series where the quotients lose digits
    sine = np.sin(angle) / angle if angle > 1e-4 else 1.0 - square / 6.0
    versine = 2.0 * (np.sin(0.5 * angle) / angle) ** 2 if angle > 1e-4 else 0.5 - square / 24.0
    cosine = 1.0 - versine * square
    return (
        (cosine + versine * a * a, versine * a * b - sine * c, versine * a * c + sine * b),
        (versine * a * b + sine * c, cosine + versine * b * b, versine * b * c - sine * a),
        (versine * a * c - sine * b, versine * b * c + sine * a, cosine + versine * c * c),
    )
