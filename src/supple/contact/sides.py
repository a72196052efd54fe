"""Which side of a thin collider a vertex belongs to: the one it came from."""

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Closest, Collider

__all__ = ["TURNED", "keep_sides", "lead_through"]

FloatArray = NDArray[np.float64]
TURNED = -1e-6  #: cosine between normals below which they are more than a right angle apart
_STRIDES = 32  # at most, through the collider; each as long as nothing can be met


def keep_sides(
    collider: Collider,
    points: FloatArray,
    near: NDArray[np.intp],
    nearest: Closest,
    known: NDArray[np.intp],
    normal: FloatArray,
    foot: FloatArray,
) -> tuple[NDArray[np.intp], Closest]:
    """The points `near` a collider, ascending, and what is nearest to them, those back that went through it.

    Points `known` from before touched at `foot` [m], (k, 3), with the given normal, (k, 3). One that is behind there,
    whose nearest side now faces more than a right angle away, and whose way back leads through the collider, touches
    what is nearest to its projection onto the plane it touched before.
    """
    behind = np.einsum("ij,ij->i", normal, points[known] - foot) < 0
    known, normal, foot = known[behind], normal[behind], foot[behind]
    if not len(known):
        return near, nearest
    turned = np.einsum("ij,ij->i", normal, collider.closest(points[known]).normal) < TURNED
    if not turned.any():
        return near, nearest
    known, normal, foot = known[turned], normal[turned], foot[turned]
    way = np.einsum("ij,ij->i", normal, foot - points[known])
    through = lead_through(collider, points[known], normal, way)
    if not through.any():
        return near, nearest
    known, normal, foot, way = known[through], normal[through], foot[through], way[through]
    back = _touch_from(collider, points[known], points[known] + way[:, None] * normal, normal, foot)
    others = ~np.isin(near, known)
    rows = np.concatenate([near[others], known])
    order = np.argsort(rows)
    parts = (np.concatenate([old[others], new])[order] for old, new in zip(nearest, back, strict=True))
    return rows[order], Closest(*parts)


def lead_through(collider: Collider, points: FloatArray, normal: FloatArray, way: FloatArray) -> NDArray[np.bool_]:
    """Whether the inside is met on the way [m], (k,), along the normals, (k,): strides as long as the distance."""
    inside = np.zeros(len(points), dtype=bool)
    gone = np.zeros(len(points))
    for _ in range(_STRIDES):
        open_ways = np.flatnonzero(~inside & (gone < way))
        if not open_ways.size:
            break
        distance = collider.distance(points[open_ways] + gone[open_ways, None] * normal[open_ways])
        inside[open_ways] = distance < 0
        gone[open_ways] += np.maximum(distance, way[open_ways] / 1000)  # a surface is stepped over, not crept up to
    return inside


def _touch_from(
    collider: Collider, points: FloatArray, start: FloatArray, normal: FloatArray, foot: FloatArray
) -> Closest:
    """The tangent planes nearest to `start`, touched by the points; the old planes where those face away."""
    around = collider.closest(start)
    same = (np.einsum("ij,ij->i", around.normal, normal) > 0)[:, None]
    kept, origin = np.where(same, around.normal, normal), np.where(same, around.point, foot)
    distance: FloatArray = np.einsum("ij,ij->i", kept, points - origin)
    return Closest(distance, kept, points - distance[:, None] * kept)
