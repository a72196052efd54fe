"""Points in an order that keeps neighbours together."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["z_order"]


def z_order(points: NDArray[np.float64]) -> NDArray[np.intp]:
    """Numbers of the points (n, 3) along Morton's curve through a grid of 1024 cells a side."""
    low = points.min(axis=0)
    cells = ((points - low) / max(float(np.ptp(points, axis=0).max()), 1e-300) * 1023.0).astype(np.uint64)
    code = np.zeros(len(points), np.uint64)
    for axis in range(3):
        x = cells[:, axis]
        for shift, mask in ((16, 0x030000FF), (8, 0x0300F00F), (4, 0x030C30C3), (2, 0x09249249)):
            x = (x | (x << np.uint64(shift))) & np.uint64(mask)
        code |= x << np.uint64(axis)
    return np.argsort(code, kind="stable")
