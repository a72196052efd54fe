"""Triangles of a surface that run through each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.mesh.embed import cells_of, list_members

__all__ = ["crossing_pairs"]

BATCH = 200_000  # pairs tried at a time
MOST = 100  # cells along an axis
EDGES = ((0, 1), (1, 2), (2, 0))


def crossing_pairs(vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> NDArray[np.int64]:
    """Pairs of triangles without a common vertex of which an edge of one passes through the other, shape (k, 2).

    Found through a grid of cells about as large as the triangles; those that lie in one plane are not.
    """
    corners = vertices[triangles]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    reach = (corners.max(axis=1) - corners.min(axis=1)).max(axis=1)
    size = max(float(reach.mean()), float((high - low).max()) / MOST, 1e-300)
    counts = np.clip(np.ceil((high - low) / size), 1, MOST).astype(np.int64)
    step = np.where(high > low, (high - low) / counts, 1.0)
    lowest, highest = (cells_of(edge(corners, axis=1), low, step, counts) for edge in (np.min, np.max))
    starts, members = list_members(lowest, highest, counts)
    ends = np.repeat(starts[1:], np.diff(starts))
    partners = ends - np.arange(len(members)) - 1  # later members of the same cell
    found = [np.empty((0, 2), dtype=np.int64)]
    at = 0
    total = np.concatenate([[0], np.cumsum(partners)])
    while at < len(members):
        stop = max(int(np.searchsorted(total, total[at] + BATCH)), at + 1)
        found.append(_try(corners, triangles, members, partners, at, min(stop, len(members))))
        at = stop
    pairs = np.concatenate(found)
    return np.unique(pairs, axis=0) if len(pairs) else pairs


def _try(
    corners: NDArray[np.float64],
    triangles: NDArray[np.int32],
    members: NDArray[np.int64],
    partners: NDArray[np.int64],
    start: int,
    stop: int,
) -> NDArray[np.int64]:
    """Those pairs of members start to stop with later ones of their cell that cross."""
    repeat = partners[start:stop]
    one = np.repeat(np.arange(start, stop), repeat)
    two = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    a, b = members[one], members[two]
    apart = (corners[a].min(axis=1) > corners[b].max(axis=1)) | (corners[b].min(axis=1) > corners[a].max(axis=1))
    joined = (triangles[a][:, :, None] == triangles[b][:, None, :]).any(axis=(1, 2))
    near = ~(apart.any(axis=1) | joined)
    a, b = a[near], b[near]
    hit = _pierces(corners[a], corners[b]) | _pierces(corners[b], corners[a])
    return np.sort(np.column_stack([a[hit], b[hit]]), axis=1)


def _pierces(edges: NDArray[np.float64], faces: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether some edge of the first triangle passes through the second, for every pair."""
    x, y, z = (faces[:, corner] for corner in range(3))
    through = np.zeros(len(edges), dtype=bool)
    sides = [_volume(edges[:, corner], x, y, z) for corner in range(3)]
    for first, last in EDGES:
        p, q = edges[:, first], edges[:, last]
        turns = (_volume(p, q, x, y), _volume(p, q, y, z), _volume(p, q, z, x))
        same = ((turns[0] > 0) == (turns[1] > 0)) & ((turns[1] > 0) == (turns[2] > 0))
        through |= (sides[first] * sides[last] < 0) & same
    return through


def _volume(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]
) -> NDArray[np.float64]:
    volume: NDArray[np.float64] = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)
    return volume
