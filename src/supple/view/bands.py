"""A surface cut along lines of equal values, so that each piece has one colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_bands"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def cut_bands(
    points: FloatArray, triangles: NDArray[np.integer], places: FloatArray, count: int
) -> tuple[FloatArray, list[IntArray]]:
    """Cut a surface where `places` (v,), numbers from 0 to 1 at its points (v, 3), pass k / count.

    What comes back are points (p, 3), those of the surface first, and the triangles (m, 3) of every band from the
    lowest up. Triangles keep their sides; places run evenly along edges, so that pieces of neighbours meet.
    """
    rest, bands = np.asarray(triangles, np.int64), list[IntArray]()
    points, places = np.asarray(points, np.float64), np.asarray(places, np.float64)
    for level in np.arange(1, count) / count:
        below = places[rest] < level
        lower = below.sum(axis=1)
        cut = np.flatnonzero((lower == 1) | (lower == 2))
        tip_below = lower[cut] == 1  # a corner is alone on its side
        first = (below[cut] == tip_below[:, None]).argmax(axis=1)
        a, b, c = (rest[cut, (first + turn) % 3] for turn in range(3))
        ab, ac = len(points) + np.arange(2 * len(cut)).reshape(2, -1)
        tips, stumps = np.stack([a, ab, ac], axis=1), np.stack([ab, b, ac, b, c, ac], axis=1).reshape(-1, 2, 3)
        bands.append(np.concatenate([rest[lower == 3], tips[tip_below], stumps[~tip_below].reshape(-1, 3)]))
        rest = np.concatenate([rest[lower == 0], tips[~tip_below], stumps[tip_below].reshape(-1, 3)])
        begin, end = np.concatenate([a, a]), np.concatenate([b, c])
        share = (level - places[begin]) / (places[end] - places[begin])
        points = np.concatenate([points, points[begin] + share[:, None] * (points[end] - points[begin])])
        places = np.concatenate([places, np.full(len(share), level)])
    return points, [*bands, rest]
