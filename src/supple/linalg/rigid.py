"""Rigid motions of points: small ones as columns, and the one x = c + R X that is nearest to how points have moved."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_rigid", "rigid_modes"]

FloatArray = NDArray[np.float64]
_FLAT = 1e-6  # a second singular value below this share of the first leaves the turn open


def rigid_modes(x: FloatArray) -> FloatArray:
    """Translations and rotations of points x [m], shape (3 n, 6)."""
    modes = np.zeros((len(x), 3, 6))
    modes[:, range(3), range(3)] = 1.0
    for column, axis in enumerate(np.eye(3), start=3):
        modes[:, :, column] = np.cross(axis, x - x.mean(axis=0))
    return modes.reshape(-1, 6)


def fit_rigid(x: FloatArray, rest: FloatArray, mass: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotation R (3, 3) and shift c [m], (3,), for which c + R X lies nearest to x, both (n, 3) [m], in the metric.

    R is the proper polar factor of the sum of m (x - x̄) (X - X̄)ᵀ; where that says nothing about a turn, it is I.
    """
    share = mass / mass.sum()
    centre, rest_centre = share @ x, share @ rest
    covariance = (x - centre).T @ (share[:, None] * (rest - rest_centre))
    R = _proper_rotation(covariance)
    return R, centre - R @ rest_centre


def _proper_rotation(matrix: FloatArray) -> FloatArray:
    """The rotation nearest to a matrix (3, 3); I where a whole circle of them is equally near."""
    left, singular, right = np.linalg.svd(matrix)
    side = np.sign(np.linalg.det(left) * np.linalg.det(right))
    if not singular[1] + side * singular[2] > _FLAT * singular[0]:
        return np.eye(3)
    return np.asarray((left * [1.0, 1.0, side]) @ right)
