"""Where the edges of a lattice cross the surface, and which lattice points move onto it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.errors import MeshError
from supple.mesh.lattice import Lattice

__all__ = ["ALPHA_LONG", "ALPHA_SHORT", "Crossings", "Distance", "choose_warps", "evaluate", "find_crossings"]

#: A signed distance [m] at points of shape (k, 3), negative inside, shape (k,).
Distance = Callable[[NDArray[np.float64]], NDArray[np.float64]]

#: A lattice point moves onto the surface when an edge is cut within this share of its length. This pair makes
#: the smallest angle as large as it can be: the worst cases of the stencils meet at 10.784 degrees.
ALPHA_LONG, ALPHA_SHORT = 0.28511, 0.39882

_EXACT = 1e-4  # distance to the surface, as a share of the spacing, at which a crossing counts as found
_STEPS = 8  # of the root search at most: enough next to a sharp edge


@dataclass(frozen=True)
class Crossings:
    """Lattice edges with one end inside and one outside, ordered by their ends."""

    ends: NDArray[np.int64]  #: lattice points, smaller number first, shape (c, 2)
    share: NDArray[np.float64]  #: crossing as a share of the way between the ends, shape (c,)
    points: NDArray[np.float64]  #: crossing [m], shape (c, 3)
    long: NDArray[np.bool_]  #: whether the edge is a long one, shape (c,)


def evaluate(distance: Distance, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The distance [m] at the points, checked, shape (k,)."""
    values = np.asarray(distance(points), dtype=np.float64)
    if values.shape != (len(points),) or not np.isfinite(values).all():
        raise MeshError(
            f"the signed distance of {len(points)} points came back with shape {values.shape} or with values "
            "that are not finite; it must return one finite number a point."
        )
    return values


def find_crossings(distance: Distance, lattice: Lattice, values: NDArray[np.float64]) -> Crossings:
    """All crossings, for the distance [m] at the lattice points, shape (points,)."""
    signs = np.sign(values).astype(np.int8)
    pairs, kinds = [], []
    for one, two, long in lattice.edges():
        cut = np.flatnonzero(signs[one] * signs[two] < 0)
        pairs.append(np.column_stack([one[cut], two[cut]]))
        kinds.append(np.full(len(cut), long))
    ends, long_edges = np.concatenate(pairs), np.concatenate(kinds)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends, long_edges = ends[order], long_edges[order]
    start, way = lattice.positions(ends[:, 0]), lattice.positions(ends[:, 1])
    way -= start
    share = _find_roots(distance, start, way, values[ends], _EXACT * lattice.spacing)
    return Crossings(ends, share, start + share[:, None] * way, long_edges)


def _find_roots(
    distance: Distance,
    start: NDArray[np.float64],
    way: NDArray[np.float64],
    values: NDArray[np.float64],
    exact: float,
) -> NDArray[np.float64]:
    """Share of the way at which the distance vanishes, shape (c,): false position with the Illinois rule."""
    at = np.tile([0.0, 1.0], (len(start), 1))  # the bracket
    value = values.copy()  # the distance at its two ends
    share = at[:, 0] + value[:, 0] / (value[:, 0] - value[:, 1])
    previous = np.full(len(start), -1)
    active = np.arange(len(start))
    for _ in range(_STEPS):
        found = evaluate(distance, start[active] + share[active, None] * way[active])
        unsettled = np.abs(found) > exact
        active, found = active[unsettled], found[unsettled]
        if active.size == 0:
            break
        side = (np.sign(found) == np.sign(value[active, 1])).astype(np.int64)  # the end that moves
        again = side == previous[active]
        value[active[again], 1 - side[again]] /= 2  # an end kept twice would hold the search back
        at[active, side], value[active, side] = share[active], found
        previous[active] = side
        low, high = at[active, 0], at[active, 1]
        share[active] = low + (high - low) * value[active, 0] / (value[active, 0] - value[active, 1])
    return share


def choose_warps(crossings: Crossings) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Lattice points too close to a crossing, shape (w,), and the closest crossing [m] of each, (w, 3)."""
    alpha = np.where(crossings.long, ALPHA_LONG, ALPHA_SHORT)
    length = np.where(crossings.long, 1.0, np.sqrt(3.0) / 2)
    away = np.concatenate([crossings.share, 1.0 - crossings.share])
    close = np.flatnonzero(away < np.tile(alpha, 2))
    points = crossings.ends.T.ravel()[close]
    order = np.lexsort(((away * np.tile(length, 2))[close], points))
    moved, first = np.unique(points[order], return_index=True)
    nearest = close[order][first] % len(crossings.share)
    return moved, crossings.points[nearest]
