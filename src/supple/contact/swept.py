"""The surfaces of a body and of colliders in one list of vertices, moving through a step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Collider
from supple.contact.contacts import SELF
from supple.mesh.adjacency import unique_edges
from supple.solve.placement import Placement

__all__ = ["Pair", "SweptSurfaces", "may_meet", "sweep"]

FloatArray = NDArray[np.float64]
Pair = tuple[tuple[int, ...], tuple[int, ...]]
"""Vertices of two features: 1 and 3 for a vertex and a triangle, 2 and 2 for two edges."""

#: Directions along which features are told apart: sides, face diagonals and space diagonals of a cube.
_AXES = np.array([axis for axis in product((-1.0, 0.0, 1.0), repeat=3) if axis > (0.0, 0.0, 0.0)])
_TOUCHING = 1e-6  # distance as a share of the body's size at which a root search cannot tell the sides apart


@dataclass(frozen=True, eq=False)
class SweptSurfaces:
    """v vertices, those of the body first, on straight ways."""

    begin: FloatArray
    """[m], (v, 3)"""
    end: FloatArray
    """[m], (v, 3)"""
    edges: NDArray[np.int32]
    """(e, 2), in columns, as `faces`."""
    faces: NDArray[np.int32]
    """(f, 3)"""
    owner: NDArray[np.int32]
    """Number of the collider, or SELF, (v,)."""
    number: NDArray[np.int32]
    """Of the vertex in the body, or in the collider's surface, (v,)."""
    inside: NDArray[np.bool_]
    """Which vertices of the body are in or on which collider at the beginning, (colliders, b)."""
    outward: FloatArray
    """Normals of the colliders nearest to the vertices of the body at the beginning, (colliders, b, 3)."""
    nothing: float
    """Distance [m] below which features touch."""

    def at(self, share: float) -> FloatArray:
        """Positions after a share of the step [m], (v, 3), in columns."""
        return np.asfortranarray((1.0 - share) * self.begin + share * self.end)

    def count_parts(self, stride: float, most: int) -> int:
        """Equal parts of the step, at most `most`, in which nothing moves farther than `stride` mean edges."""
        body = self.edges[(self.owner[self.edges] == SELF).all(axis=1)]
        edge = float(np.linalg.norm(self.begin[body[:, 0]] - self.begin[body[:, 1]], axis=1).mean())
        way = float(np.linalg.norm(self.end - self.begin, axis=1).max())
        return max(1, min(most, math.ceil(way / (stride * edge))))

    def name(self, pair: Pair) -> tuple[int, Pair]:
        """Source of a pair, and its features in the numbers of their owners, that of the body first."""
        source = int(self.owner[list(pair[0] + pair[1])].max())
        one, two = (tuple(int(self.number[vertex]) for vertex in feature) for feature in pair)
        return source, ((one, two) if self.owner[pair[0][0]] == SELF else (two, one))

    def is_excused(self, pair: Pair, tangled: NDArray[np.bool_]) -> bool:
        """Whether a pair's meeting says nothing new, for the vertices that are `tangled` already, (v,).

        A vertex inside a collider may leave it, but not by a side that faces away from where it is nearest to get out;
        edges that have an end inside may do anything.
        """
        one, two = (list(feature) for feature in pair)
        source = int(self.owner[one + two].max())
        if source == SELF:
            return bool(tangled[one].any() and tangled[two].any())
        if len(one) == 1 and self.owner[one[0]] == SELF:
            a, b, c = self.begin[two]
            leaves = np.cross(b - a, c - a) @ self.outward[source, one[0]] >= 0
            return bool(self.inside[source, one[0]] and leaves)
        body = one if self.owner[one[0]] == SELF else two
        return bool(self.inside[source, body].any() or tangled[body].any())


def sweep(
    triangles: NDArray[np.int32],
    x_begin: FloatArray,
    x_end: FloatArray,
    colliders: Sequence[Collider],
    begin: Sequence[Placement],
    end: Sequence[Placement],
) -> SweptSurfaces:
    """The surface of a body between two positions [m], (n, 3), and those of colliders between their placements."""
    used, corners = np.unique(triangles, return_inverse=True)
    first, last = x_begin[used], x_end[used]
    nothing = _TOUCHING * float(np.linalg.norm(np.ptp(first, axis=0)))
    starts, ends, faces = [first], [last], [corners.reshape(-1, 3).astype(np.int32)]
    inside, outward = np.zeros((len(colliders), len(used)), bool), np.zeros((len(colliders), len(used), 3))
    for c, (collider, here, there) in enumerate(zip(colliders, begin, end, strict=True)):
        local = here.localise(first)
        nearest = collider.closest(local)
        inside[c], outward[c] = nearest.distance < nothing, here.turn(nearest.normal)
        reach = float(max(np.abs(local).max(), np.abs(there.localise(last)).max()))
        surface = collider.surface(extent=4.0 * reach)
        faces.append(surface.triangles + np.int32(sum(map(len, starts))))
        starts.append(here.move(surface.vertices))
        ends.append(there.move(surface.vertices))
    joined, starting = np.concatenate(faces), np.concatenate(starts)
    counts = np.array([len(part) for part in starts])
    return SweptSurfaces(
        begin=starting,
        end=np.concatenate(ends),
        edges=np.asfortranarray(unique_edges(joined, len(starting))),
        faces=np.asfortranarray(joined),
        owner=np.repeat(np.arange(SELF, len(colliders), dtype=np.int32), counts),
        number=np.concatenate([used, *(np.arange(count) for count in counts[1:])]).astype(np.int32),
        inside=inside,
        outward=outward,
        nothing=nothing,
    )


def may_meet(start: FloatArray, stop: FloatArray, split: int) -> NDArray[np.bool_]:
    """Which pairs of features come near each other, (k,), for their corners [m], (k, 4, 3), the first's `split` first.

    In a frame that moves along with a pair, no plane across one of a few directions separates the ways of its features.
    """
    moving = [(corners - corners.mean(axis=1, keepdims=True)) @ _AXES.T for corners in (start, stop)]
    low, high = np.minimum(*moving), np.maximum(*moving)
    apart = np.maximum(
        low[:, :split].min(axis=1) - high[:, split:].max(axis=1),
        low[:, split:].min(axis=1) - high[:, :split].max(axis=1),
    )
    return np.asarray((apart <= 0.0).all(axis=1))
