"""Rigid frames x = c + R X: the one nearest to a moved shape, and the one that pins carry a body along with."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins

__all__ = ["carries_frame", "fit_rigid", "pin_displacement", "pin_frame"]

FloatArray = NDArray[np.float64]
_FLAT = 1e-6  # points whose second extent is a smaller share of the first lie in a line


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


def pin_frame(pins: Pins, rest: FloatArray, targets: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R (3, 3) and c [m], (3,), nearest to the motion of the pins from rest (n, 3) to their targets (k, 3) [m].

    I and 0 where pins cannot carry a frame: one leaves an axis free, or they lie in a line; what they do is then all
    displacement.
    """
    held = rest[pins.vertices]
    if not carries_frame(pins, rest) or np.array_equal(held, targets):
        return np.eye(3), np.zeros(3)
    return fit_rigid(targets, held, np.ones(len(held)))


def pin_displacement(pins: Pins, rest: FloatArray, targets: FloatArray) -> FloatArray:
    """What pins at targets (k, 3) do beside the motion of their frame, seen from it [m], (k, 3)."""
    R, c = pin_frame(pins, rest, targets)
    return np.asarray((targets - c) @ R - rest[pins.vertices])


def carries_frame(pins: Pins, rest: FloatArray) -> bool:
    """Whether pins hold all axes of at least three vertices that are not in a line at rest (n, 3)."""
    if len(pins.vertices) < 3 or not pins.held.all():
        return False
    held = rest[pins.vertices]
    extents = np.linalg.svd(held - held.mean(axis=0), compute_uv=False)
    return bool(extents[1] > _FLAT * extents[0])
