"""Vertices at the same place made one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["weld_points"]


def weld_points(
    points: NDArray[np.float64], parts: NDArray[np.integer] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """The distinct points in the order of their first use, and the place of every point among them.

    Points of different `parts` (a number each) stay apart. Equal means equal bit for bit, but for the sign of zero.
    """
    keys = np.ascontiguousarray(points + 0.0).view(np.int64).reshape(len(points), -1)  # -0.0 + 0.0 is 0.0
    columns = [*keys.T] if parts is None else [*keys.T, np.asarray(parts)]
    order = np.lexsort(columns)
    new = np.ones(len(points), dtype=bool)
    same = np.ones(max(len(points) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[order[1:]] == column[order[:-1]]
    new[1:] = ~same
    group = np.empty(len(points), dtype=np.int64)
    group[order] = np.cumsum(new) - 1
    first = order[new]  # of every group, the smallest index: lexsort is stable
    rank = np.argsort(first, kind="stable")
    number = np.empty(len(first), dtype=np.int32)
    number[rank] = np.arange(len(first), dtype=np.int32)
    return points[first[rank]], number[group]
