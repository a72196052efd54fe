"""Vertices spread evenly over a mesh: each new one is the farthest from all before it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError
from supple.mesh.geodesic import Geodesics, Search

__all__ = ["Spread", "spread_points"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spread:
    """Vertices in the order in which they were chosen: any first part of them is spread evenly too."""

    vertices: NDArray[np.int32]
    """(k,)"""
    cover: FloatArray
    """How far any of those asked for is from the first 1, 2, ... k [m], (k,); infinite until all parts are sampled."""
    nearest: FloatArray
    """Distance of every vertex to all of them [m], (n,)."""


def spread_points(
    graph: Geodesics, count: int, *, seed: int | None = None, among: NDArray[np.integer] | None = None
) -> Spread:
    """`count` vertices of all, or `among` some; fewer where there are no more. Every connected part holds one.

    The first is the one of smallest x, or drawn with a `seed`.
    """
    total = len(graph.points)
    pool = np.arange(total) if among is None else np.unique(among)
    if count < 1 or len(pool) == 0:
        raise MeshError(f"{count} samples of {len(pool)} vertices cannot be taken: ask for at least 1 of some.")
    count = min(count, len(pool))
    pick = np.argmin(graph.points[pool, 0]) if seed is None else np.random.default_rng(seed).integers(len(pool))
    farthest, away = int(pool[pick]), np.inf
    chosen: list[int] = []
    cover: list[float] = []
    nearest, search = np.full(total, np.inf), Search(graph)
    while len(chosen) < count and away > 0.0:  # at 0 only twins of chosen vertices are left
        chosen.append(farthest)
        search.approach(farthest, nearest)
        farthest = int(np.argmax(nearest) if among is None else pool[np.argmax(nearest[pool])])
        away = float(nearest[farthest])
        cover.append(away)
    if away == np.inf:
        raise MeshError(
            f"{count} samples do not reach every connected part of the mesh: ask for more, or remove loose parts."
        )
    return Spread(np.array(chosen, np.int32), np.array(cover), nearest)
