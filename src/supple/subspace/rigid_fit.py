"""The rigid frame x = c + R X that pins carry a body along with."""

import numpy as np
from numpy.typing import NDArray

from supple.elastic import Pins
from supple.linalg.rigid import fit_rigid

__all__ = ["carries_frame", "pin_displacement", "pin_frame"]

FloatArray = NDArray[np.float64]
_FLAT = 1e-6  # points whose second extent is a smaller share of the first lie in a line


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
