"""Cubics through points: by given slopes, and the one whose second derivative is continuous.

SciPy has both; what it imports with them would take a fifth of a second of every start.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_banded

__all__ = ["hermite_pieces", "spline_pieces"]

FloatArray = NDArray[np.float64]


def hermite_pieces(times: FloatArray, points: FloatArray, slopes: FloatArray) -> FloatArray:
    """Coefficients of the cubic from each point to the next, lowest power first, (4, k - 1, w).

    `times`, (k,), increase; `points` and `slopes` are (k, w).
    """
    gap = np.diff(times)[:, None]
    rise = np.diff(points, axis=0) / gap
    bend = (slopes[:-1] + slopes[1:] - 2.0 * rise) / gap
    return np.stack([points[:-1], slopes[:-1], (rise - slopes[:-1]) / gap - bend, bend / gap])


def spline_pieces(times: FloatArray, points: FloatArray) -> FloatArray:
    """The same of the C2 spline whose first two pieces are one cubic, and its last two (not-a-knot).

    Two points have a line, three a parabola.
    """
    return hermite_pieces(times, points, _find_slopes(times, points))


def _find_slopes(times: FloatArray, points: FloatArray) -> FloatArray:
    gap = np.diff(times)
    rise = np.diff(points, axis=0) / gap[:, None]
    if len(gap) == 1:
        return np.repeat(rise, 2, axis=0)
    if len(gap) == 2:
        middle = (gap[1] * rise[0] + gap[0] * rise[1]) / gap.sum()
        return np.stack([2.0 * rise[0] - middle, middle, 2.0 * rise[1] - middle])
    upper, middle, lower = np.zeros((3, len(times)))
    wanted = np.empty_like(points)
    # Second derivatives agree at inner points ...
    lower[:-2], middle[1:-1], upper[2:] = gap[1:], 2.0 * (gap[:-1] + gap[1:]), gap[:-1]
    wanted[1:-1] = 3.0 * (gap[1:, None] * rise[:-1] + gap[:-1, None] * rise[1:])
    # ... and third ones at the first and the last of these
    for end, (near, far), (first, second) in ((0, gap[:2], rise[:2]), (-1, gap[:-3:-1], rise[:-3:-1])):
        middle[end] = far
        wanted[end] = ((near + 2.0 * (near + far)) * far * first + near**2 * second) / (near + far)
    upper[1], lower[-2] = gap[0] + gap[1], gap[-1] + gap[-2]
    return np.asarray(solve_banded((1, 1), np.stack([upper, middle, lower]), wanted))
