"""Which side of a part of the body a vertex of the same body belongs to: the one it came from."""

import math

import numpy as np
from numpy.typing import NDArray

from supple.contact.places import read
from supple.contact.self_contact import SelfContact, Touching
from supple.contact.touched import BEYOND, drop
from supple.linalg.rigid import fit_rigid

__all__ = ["find_from", "find_on_way"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
_TURNED = -1e-6  # cosine between normals below which they are more than a right angle apart
_ON_EDGE = -1e-9  # barycentric coordinate of a point on an edge, which lies behind both triangles
_KEPT = -0.1  # the same, of a known pair that a look does not find: beside a tip it must not come and go
_STRIDE = 0.25  # mean edges that parts come nearer to each other from look to look along a way
_MOST_LOOKS = 16


def find_from(contact: SelfContact, x: FloatArray, known: IntArray) -> Touching:
    """What the body touches of itself at x [m], (n, 3), vertices of `known` pairs, (k, 2), on the side they touched.

    A pair is a vertex and the surface triangle that it touched before. The vertex went through where it is behind that
    triangle or one around it, and comes out of the same part on a side that faces away, or has left the part there.
    Known pairs in front of which the vertex is no farther than a mean edge are among the answer, open: one that bounced
    off in one round of a step may come back in the next, and must not forget where it came from.
    """
    found = contact.find(x)
    if not len(known):
        return found
    seen = contact.follow(known, x)
    row = np.searchsorted(found.vertex, seen.vertex)
    touches = row < len(found)
    touches[touches] = found.vertex[row[touches]] == seen.vertex[touches]
    row[~touches] = 0
    inside = touches & (found.tet[row] >= 0) if len(found) else touches
    turned = np.zeros(len(seen), bool)
    turned[touches] = np.einsum("mi,mi->m", seen.normal[touches], found.normal[row[touches]]) < _TURNED
    at = read(x, np.concatenate([seen.vertex, contact.triangles[seen.triangle].ravel()]))
    foot = drop(at[seen.vertex], seen.triangle, contact.triangles, at)[0]
    before = foot.min(axis=1, initial=0.0) >= _ON_EDGE
    out = turned & ~inside  # within the thickness of what it looks at now, perhaps behind what it touched
    turned[out] = (before & (seen.depth > contact.thickness))[out]
    held = turned & inside
    turned[held] = _is_behind_at_rest(contact, found.choose(row[held]), seen.triangle[held], x)
    left = ~touches & (foot.min(axis=1, initial=0.0) >= _KEPT) & (seen.depth > -contact.edge)
    stays = seen.vertex[touches & ~turned]
    turned &= seen.depth > 0.0
    through = np.flatnonzero((turned | left) & ~np.isin(seen.vertex, stays))
    through = through[np.unique(seen.vertex[through], return_index=True)[1]]
    others = np.flatnonzero(~np.isin(found.vertex, seen.vertex[through]))
    return found.choose(others).join(seen.choose(through))


def find_on_way(contact: SelfContact, x: FloatArray, end: FloatArray, known: IntArray) -> Touching:
    """What the body touches of itself at `end`, on the side where it comes from, straight from x, both [m], (n, 3).

    All of the way is looked at, in strides so short that no part half as thin as a mean edge is missed.
    """
    if x is end:
        return find_from(contact, end, known)
    x, end = np.asarray(x), np.asarray(end)
    R, c = fit_rigid(end, x, np.ones(len(x)))
    way = np.linalg.norm((end - x @ R.T - c)[contact.vertices], axis=1).max(initial=0.0)
    looks = max(1, min(_MOST_LOOKS, math.ceil(2.0 * float(way) / (_STRIDE * contact.edge)))) if np.isfinite(way) else 1
    for k in range(1, looks):
        found = find_from(contact, x + k / looks * (end - x), known)
        known = np.column_stack([found.vertex, found.triangle])
    return find_from(contact, end, known)


def _is_behind_at_rest(contact: SelfContact, found: Touching, triangle: IntArray, x: FloatArray) -> NDArray[np.bool_]:
    """Whether the places of the body that vertices are in lie behind given triangles at rest: one part has both."""
    corners = contact.mesh.tets[found.tet]
    at, rest = x[corners], contact.mesh.vertices[corners]
    sides, rest_sides = at[:, 1:] - at[:, :1], rest[:, 1:] - rest[:, :1]
    away = x[found.vertex] - at[:, 0]
    weights = np.linalg.solve(sides.transpose(0, 2, 1), away[:, :, None])[:, :, 0]
    place = rest[:, 0] + np.einsum("mk,mki->mi", weights, rest_sides)
    foot, _, depth = drop(place, triangle, contact.triangles, contact.mesh.vertices)
    return np.asarray((depth > 0.0) & (foot.min(axis=1, initial=0.0) > BEYOND))
