"""Pairs of points of a body that touch, or nearly, in some of its poses: they keep contact that opens from closing."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.linalg.ties import first_largest
from supple.subspace.self_touch import SelfTouch

__all__ = ["PosePairs", "find_pairs"]

FloatArray = NDArray[np.float64]

MOST = 48  #: pairs of a pose


class PosePairs(NamedTuple):
    """k pairs in m poses, each of a vertex and a point on a triangle."""

    vertices: NDArray[np.int64]
    """The vertex and the corners of the triangle, (k, 4)."""
    weights: FloatArray
    """1 and minus the barycentric coordinates of the point, (k, 4)."""
    normals: FloatArray
    """From the point to the vertex in every pose, seen from the root, (m, k, 3); 0 where the pose has no such pair."""
    thickness: FloatArray
    """Distance at which the two touch [m], (k,)."""

    @classmethod
    def none(cls, poses: int) -> PosePairs:
        """Nothing touches."""
        return cls(np.zeros((0, 4), np.int64), np.zeros((0, 4)), np.zeros((poses, 0, 3)), np.zeros(0))


def find_pairs(touch: SelfTouch | None, shapes: FloatArray) -> PosePairs:
    """The pairs of a body in shapes (m, n, 3) [m], some of each spread evenly; none unless contact opens."""
    if touch is None or touch.binding != "opens":
        return PosePairs.none(len(shapes))
    found: dict[tuple[int, ...], int] = {}
    weights: list[FloatArray] = []
    normals: list[tuple[int, int, FloatArray]] = []
    for pose, shape in enumerate(shapes):
        contacts = touch.watch(shape)
        for row in _spread(contacts, shape):
            key = tuple(contacts.vertices[row].tolist())
            if key not in found:
                found[key] = len(found)
                weights.append(contacts.weights[row])
            normals.append((pose, found[key], contacts.normal[row]))
    if not found:
        return PosePairs.none(len(shapes))
    table = np.zeros((len(shapes), len(found), 3))
    for pose, pair, normal in normals:
        table[pose, pair] = normal
    return PosePairs(np.array(list(found), np.int64), np.array(weights), table, np.full(len(found), touch.thickness))


def _spread(contacts: Contacts, shape: FloatArray) -> list[int]:
    """At most `MOST` of the contacts, each the farthest from those before it."""
    if len(contacts) <= MOST:
        return list(range(len(contacts)))
    points = shape[contacts.vertices[:, 0]]
    chosen, apart = [0], np.linalg.norm(points - points[0], axis=1)
    while len(chosen) < MOST:
        chosen.append(first_largest(apart))
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return sorted(chosen)
