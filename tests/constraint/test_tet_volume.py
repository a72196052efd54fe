"""The projection onto a volume in single precision, as the hyper-reduced solver runs it."""

import numpy as np
import pytest
from numba import njit
from scipy.spatial.transform import Rotation

from supple.constraint import TetVolume
from supple.constraint.kernels import PARAMETERS, PROJECTION, VALUE
from supple.constraint.stencils import Stencils


@njit
def project_single(lane, F, low, high, out):
    t = np.zeros((PARAMETERS + 4, 64), np.float32)
    for begin in range(0, len(F), 64):
        for l in range(64):
            t[PARAMETERS, l], t[PARAMETERS + 1, l] = low, high
            for k in range(9):
                t[VALUE + k, l] = F[begin + l, k]
        for l in range(64):
            lane(t, l)
        for l in range(64):
            for k in range(9):
                out[begin + l, k] = t[PROJECTION + k, l]


@pytest.mark.parametrize("volume", [0.5, 1.0, 3.0])
def test_both_precisions_find_the_same_nearest_matrices(volume: float) -> None:
    rng, count = np.random.default_rng(0), 640
    U, V = Rotation.random(count, rng=1).as_matrix(), Rotation.random(count, rng=2).as_matrix()
    stretches = rng.uniform(0.3, 2.0, (count, 3))
    stretches[::10, 2] *= -1.0  # inverted
    F = np.einsum("nij,nj,nkj->nik", U, stretches, V)
    stencils = Stencils(np.zeros((count, 4), np.int32), np.zeros((count, 3, 4)), np.ones(count))
    exact = TetVolume.build(stencils, 1.0, (volume, 1.2 * volume))
    found = np.empty((count, 9), np.float32)
    project_single(TetVolume.single_lane, F.reshape(count, 9), volume, 1.2 * volume, found)
    np.testing.assert_allclose(found.reshape(-1, 3, 3), exact.project(F), rtol=0, atol=2e-5)
