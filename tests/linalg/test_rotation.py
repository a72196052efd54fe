import numpy as np
import pytest
from numba import njit
from scipy.spatial.transform import Rotation

from supple.linalg.rotation import nearest_quaternions, quaternion_to_matrix, turn_to

RNG = np.random.default_rng(2)


@njit
def _turn(A, q, steps, one, tiny):
    out = np.empty((len(A), 9), A.dtype)
    for e in range(len(A)):
        r = q[0, e], q[1, e], q[2, e], q[3, e]
        a = A[e, 0], A[e, 1], A[e, 2], A[e, 3], A[e, 4], A[e, 5], A[e, 6], A[e, 7], A[e, 8]
        for _ in range(steps):
            r = turn_to(a, r, one, tiny)
        R = quaternion_to_matrix(r)
        for k in range(9):
            out[e, k] = R[k]
    return out


def nearest(A):
    U, _, V = np.linalg.svd(A)
    U[:, :, 2] *= np.sign(np.linalg.det(U @ V))[:, None]
    return U @ V


def test_from_nothing_also_inverted_and_half_turned():
    A = np.concatenate(
        [RNG.standard_normal((500, 3, 3)), Rotation.from_rotvec([[np.pi, 0, 0], [0, 0, 1e-9]]).as_matrix()]
    )
    R = _turn(A.reshape(-1, 9), nearest_quaternions(A), 0, 1.0, 1e-300).reshape(-1, 3, 3)
    size = np.abs(np.linalg.svd(A)[1]).sum(axis=1)
    np.testing.assert_allclose(np.einsum("eij,eij->e", R - nearest(A), A) / size, 0.0, atol=1e-12)
    np.testing.assert_allclose(R @ R.transpose(0, 2, 1), np.tile(np.eye(3), (len(A), 1, 1)), atol=1e-12)


@pytest.mark.parametrize(("kind", "error"), [(np.float64, 1e-12), (np.float32, 2e-6)])
def test_two_steps_follow_a_drift(kind, error):
    turn = Rotation.random(1000, random_state=1).as_matrix()
    A = turn + 0.02 * RNG.standard_normal(turn.shape)
    q = nearest_quaternions(turn).astype(kind)
    R = _turn(A.reshape(-1, 9).astype(kind), q, 2, kind(1.0), kind(1e-30))
    assert R.dtype == kind
    np.testing.assert_allclose(R.reshape(-1, 3, 3), nearest(A), atol=error)


def test_any_rotation_is_reached_from_the_identity():
    turn = Rotation.random(2000, random_state=3).as_matrix()
    q = np.zeros((4, len(turn)))
    q[0] = 1.0
    R = _turn(turn.reshape(-1, 9), q, 15, 1.0, 1e-300).reshape(-1, 3, 3)
    np.testing.assert_allclose(R, turn, atol=1e-9)
