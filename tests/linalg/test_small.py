"""3x3 kernels against NumPy, where they are singular too."""

import numpy as np
import pytest
from numba import njit

from supple.linalg.small import clamp_symmetric, signed_svd


@njit
def svd_of(f):
    return signed_svd((f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]))


@njit
def clamp_of(a):
    return clamp_symmetric((a[0], a[1], a[2], a[3], a[4], a[5]))


def cases() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    found = {f"random {k}": np.eye(3) + 0.7 * rng.normal(size=(3, 3)) for k in range(20)}
    found |= {
        "identity": np.eye(3),
        "zero": np.zeros((3, 3)),
        "rank one": np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 1.0]),
        "flat": np.diag([1.0, 2.0, 0.0]),
        "mirror": np.diag([1.0, 1.0, -1.0]),
        "point reflection": -np.eye(3),
        "nearly equal": np.eye(3) + 1e-9 * rng.normal(size=(3, 3)),
        "large": 1e6 * rng.normal(size=(3, 3)),
        "tiny": 1e-6 * rng.normal(size=(3, 3)),
    }
    return found


@pytest.mark.parametrize("name", cases())
def test_signed_svd_rebuilds_the_matrix_from_rotations(name: str) -> None:
    F = cases()[name]
    U, s, V = svd_of(F.ravel())
    U, V, s = np.reshape(U, (3, 3)), np.reshape(V, (3, 3)), np.array(s)
    assert np.allclose(U @ np.diag(s) @ V.T, F, rtol=0, atol=1e-13 * max(np.abs(F).max(), 1e-300))
    for rotation in (U, V):
        assert np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-13)
        assert np.isclose(np.linalg.det(rotation), 1.0)
    assert s[0] >= s[1] >= abs(s[2]) - 1e-12 * s[0]
    assert np.allclose(np.abs(s), np.linalg.svd(F)[1], atol=1e-12 * max(s[0], 1e-300))
    assert np.linalg.det(F) * s[2] >= 0.0


def test_clamp_keeps_positive_and_drops_negative_eigenvalues() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        A = rng.normal(size=(3, 3))
        A = A + A.T
        values, vectors = np.linalg.eigh(A)
        expected = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
        a = clamp_of(np.array([A[0, 0], A[1, 1], A[2, 2], A[0, 1], A[0, 2], A[1, 2]]))
        found = np.array([[a[0], a[3], a[4]], [a[3], a[1], a[5]], [a[4], a[5], a[2]]])
        assert np.allclose(found, expected, atol=1e-9)
