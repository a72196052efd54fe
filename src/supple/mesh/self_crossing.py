"""Triangles of a surface that run through each other, or lie on each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.mesh.embed import cells_of, list_members

__all__ = ["crossing_pairs"]

BATCH = 200_000  # pairs tried at a time
MOST = 100  # cells along an axis
EDGES = ((0, 1), (1, 2), (2, 0))
TINY = 1e-12  # of the largest coordinate: less than this off a plane or a line is on it


def crossing_pairs(vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> NDArray[np.int64]:
    """Pairs of triangles that cross, shape (k, 2): an edge of one passes through the other, or both lie in one plane
    and overlap.

    Neighbours count too, where they meet beyond the vertex or the edge that they share; those of the same three
    vertices do not. Found through a grid of cells about as large as the triangles.
    """
    corners = vertices[triangles]
    tiny = TINY * float(np.abs(corners).max())
    lows, highs = corners.min(axis=1), corners.max(axis=1)
    low, high = lows.min(axis=0), highs.max(axis=0)
    size = max(float((highs - lows).max(axis=1).mean()), float((high - low).max()) / MOST, 1e-300)
    counts = np.clip(np.ceil((high - low) / size), 1, MOST).astype(np.int64)
    step = np.where(high > low, (high - low) / counts, 1.0)
    lowest, highest = (cells_of(edge, low, step, counts) for edge in (lows, highs))
    starts, members = list_members(lowest, highest, counts)
    ends = np.repeat(starts[1:], np.diff(starts))
    partners = ends - np.arange(len(members)) - 1  # later members of the same cell
    found = [np.empty((0, 2), dtype=np.int64)]
    at = 0
    total = np.concatenate([[0], np.cumsum(partners)])
    while at < len(members):
        stop = max(int(np.searchsorted(total, total[at] + BATCH)), at + 1)
        a, b = _pair_up(members, partners, at, min(stop, len(members)))
        near = ~((lows[a] > highs[b]) | (lows[b] > highs[a])).any(axis=1)
        a, b = a[near], b[near]
        other = ~(triangles[a][:, :, None] == triangles[b][:, None, :]).any(axis=2).all(axis=1)
        a, b = a[other], b[other]
        hit = _cross(corners[a], corners[b], tiny)
        found.append(np.sort(np.column_stack([a[hit], b[hit]]), axis=1))
        at = stop
    pairs = np.concatenate(found)
    return np.unique(pairs, axis=0) if len(pairs) else pairs


def _pair_up(
    members: NDArray[np.int64], partners: NDArray[np.int64], start: int, stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Members start to stop, each with all later ones of its cell."""
    repeat = partners[start:stop]
    one = np.repeat(np.arange(start, stop), repeat)
    two = one + 1 + np.arange(len(one)) - np.repeat(np.cumsum(repeat) - repeat, repeat)
    return members[one], members[two]


def _cross(one: NDArray[np.float64], two: NDArray[np.float64], tiny: float) -> NDArray[np.bool_]:
    """Whether the triangles (k, 3, 3) of every pair cross; `tiny` is the length that counts as none."""
    bound = tiny * np.maximum(*(np.ptp(corners, axis=1).max(axis=1) for corners in (one, two))) ** 2
    sides_one, sides_two = _sides(one, two, bound), _sides(two, one, bound)
    hit: NDArray[np.bool_] = (sides_one == 0).all(axis=1) & (sides_two == 0).all(axis=1)  # in one plane
    hit[hit] = _overlap(one[hit], two[hit], tiny)
    for edges, faces, sides in ((one, two, sides_one), (two, one, sides_two)):
        spans = np.flatnonzero((sides.min(axis=1) < 0) & (sides.max(axis=1) > 0))
        hit[spans] |= _pierces(edges[spans], faces[spans], sides[spans])
    return hit


def _sides(points: NDArray[np.float64], faces: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """On which side of the second triangle each corner of the first lies, (k, 3).

    It is 0 within round-off of the plane, and so at a corner that both have: an edge from there passes through nothing.
    """
    sides = np.einsum("kci,ki->kc", points - faces[:, :1], _normals(faces))
    return np.where(np.abs(sides) > bound[:, None], sides, 0.0)


def _normals(faces: NDArray[np.float64]) -> NDArray[np.float64]:
    """As long as twice the area, shape (k, 3)."""
    normals: NDArray[np.float64] = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    return normals


def _pierces(edges: NDArray[np.float64], faces: NDArray[np.float64], sides: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether some edge of the first triangle passes through the second, for every pair."""
    x, y, z = (faces[:, corner] for corner in range(3))
    through = np.zeros(len(edges), dtype=bool)
    for first, last in EDGES:
        p, q = edges[:, first], edges[:, last]
        turns = (_volume(p, q, x, y), _volume(p, q, y, z), _volume(p, q, z, x))
        same = ((turns[0] > 0) == (turns[1] > 0)) & ((turns[1] > 0) == (turns[2] > 0))
        through |= (sides[:, first] * sides[:, last] < 0) & same
    return through


def _overlap(one: NDArray[np.float64], two: NDArray[np.float64], tiny: float) -> NDArray[np.bool_]:
    """Whether triangles in one plane share some area: no edge of either has them on its two sides."""
    normals = [_normals(corners) for corners in (one, two)]
    across = np.abs(normals[0]).argmax(axis=1)
    seen = (across[:, None] + [1, 2])[:, None, :] % 3  # along the axis that shows the most area
    flat = [np.take_along_axis(corners, seen, axis=2) for corners in (one, two)]
    large = [np.abs(normal).max(axis=1) > tiny**2 for normal in normals]
    meet: NDArray[np.bool_] = large[0] & large[1]
    for corners in flat:
        for first, last in EDGES:
            along = corners[:, last] - corners[:, first]
            axis = np.stack([-along[:, 1], along[:, 0]], axis=1)
            a, b = (np.einsum("kci,ki->kc", each, axis) for each in flat)
            depth = np.minimum(a.max(axis=1), b.max(axis=1)) - np.maximum(a.min(axis=1), b.min(axis=1))
            meet &= depth > tiny * np.abs(along).max(axis=1)
    return meet


def _volume(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]
) -> NDArray[np.float64]:
    volume: NDArray[np.float64] = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a)
    return volume
