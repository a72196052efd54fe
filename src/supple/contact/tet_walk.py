"""The tets that hold given vertices of the same body, found by going from tet to tet ([TOK14] 5.1).

Where a vertex lay last is where to begin; each tet tells through which of its faces the vertex is to be looked for. So
few tets are read, however many the body has: no box around them is needed. Only tets near the surface are gone
through.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.inside import FLAT, ON_FACE, come_through
from supple.contact.rest_surface import RestSurface
from supple.contact.self_contact import SelfContact
from supple.linalg.jit import njit

__all__ = ["Held", "Shallows", "walk_all", "walk_some"]

IntArray = NDArray[np.int32]
LAYERS = 8  #: of tets below the surface that walks may enter: two edges or so
_MOST = 12  # tets that one walk may enter


class Shallows(NamedTuple):
    """The tets near the surface of a body, as the plain arrays that kernels take."""

    tets: IntArray
    """All of the body, (m, 4)."""
    across: IntArray
    """What is behind the face opposite each corner, (m, 4): -1 outside, and where it is too deep."""
    volumes: NDArray[np.float64]
    """Six times theirs at rest [m³], (m,)."""
    homes: IntArray
    """The tet behind every surface triangle, (k,)."""
    surface: RestSurface
    owners: NDArray[np.int64]
    """Bone of every triangle, (k,)."""

    @classmethod
    def of(cls, own: SelfContact, owners: NDArray[np.int64]) -> "Shallows":
        """Of a body whose triangles belong to bones."""
        across, homes = own.mesh.tet_neighbours().copy(), own.mesh.surface_tets()
        layer = np.full(len(across), LAYERS, np.int64)
        layer[homes] = 0
        for depth in range(1, LAYERS):
            beside = across[layer == depth - 1]
            beside = np.unique(beside[beside >= 0])
            layer[beside] = np.minimum(layer[beside], depth)
        across[(across >= 0) & (layer[across] == LAYERS)] = -1
        return cls(own.mesh.tets, across, 6.0 * own.mesh.volumes(), homes, own.surface, owners)

    def reads(self) -> NDArray[np.int32]:
        """Vertices that walks may ask for, ascending."""
        inner = self.across[self.across >= 0]
        return np.unique(self.tets[np.unique(np.concatenate([self.homes, inner]))])


class Held(NamedTuple):
    """Where m vertices lie."""

    tet: IntArray
    """That holds each, or -1, (m,)."""
    triangle: IntArray
    """That each came through, or -1, (m,)."""
    wanted: IntArray
    """Vertices whose positions were not known, and so kept walks from going on, (k,)."""


@njit(cache=True)
def walk_all(vertices, triangle, last, x, slots, count, room, skin, shallows):
    """The tets that hold vertices (m,), walked to from those that held them last, (m,) or -1, and from below triangles
    (m,), at positions x [m], (n, 3), that are known where slots (n,) are not negative.

    A tet counts that comes out at a triangle of the bone that the given one belongs to, and around which everything is
    known. Unknown vertices get slots from `count` on; `room` (n,) is memory.
    """
    tet, through = np.full(len(vertices), -1, np.int32), np.full(len(vertices), -1, np.int32)
    wanted, _ = walk_some(
        np.arange(len(vertices)), vertices, triangle, last, x, slots, count, room, skin, shallows, tet, through
    )
    return Held(tet, through, wanted)


@njit(cache=True)
def walk_some(some, vertices, triangle, last, x, slots, count, room, skin, shallows, tet, through):
    """The same for `some` of the vertices, (j,): fills `tet` and `through`, (m,). Returns the vertices that were not
    known, and those of `some` whose walks asked for them."""
    wanted, weights, lacking = 0, np.empty(4), np.zeros(len(some), np.bool_)
    entered, ahead = np.empty(_MOST, np.int32), np.empty(4 * _MOST + 2, np.int32)
    for number in range(len(some)):
        k, missed = some[number], False
        v, owner = vertices[k], shallows.owners[triangle[k]]
        ahead[0], ahead[1], size, passed = shallows.homes[triangle[k]], last[k], 2, 0
        while size and passed < _MOST:
            size -= 1
            now = ahead[size]
            if now < 0 or _is_among(entered, passed, now):
                continue
            entered[passed] = now
            passed += 1
            known = True
            for corner in range(4):
                wanted, there = _ask_for(shallows.tets[now, corner], slots, count, room, wanted)
                known = known and there
            if not known:
                missed = True
                continue
            upright, lowest = _weigh(x, v, shallows.tets, now, shallows.volumes[now], weights)
            if upright and weights[lowest] >= ON_FACE:
                place = weights[0], weights[1], weights[2], weights[3]
                found, _ = come_through(
                    v, place, now, shallows.tets, skin.rest, skin.triangles, shallows.surface, skin.around
                )
                if found < 0 or shallows.owners[found] != owner:
                    continue
                for corner in range(3):
                    middle = skin.triangles[found, corner]
                    for entry in range(skin.fans.start[middle], skin.fans.start[middle + 1]):
                        for other in range(3):
                            at = skin.triangles[skin.fans.triangles[entry], other]
                            wanted, there = _ask_for(at, slots, count, room, wanted)
                            known = known and there
                if known:
                    tet[k], through[k] = now, found
                missed = missed or not known
                break
            for corner in range(4):
                if corner != lowest and (weights[corner] < 0.0 or not upright):
                    ahead[size] = shallows.across[now, corner]
                    size += 1
            ahead[size] = shallows.across[now, lowest]  # the face that the vertex is farthest behind comes first
            size += 1
        lacking[number] = missed
    return room[:wanted].copy(), some[lacking]


@njit(cache=True)
def _ask_for(vertex, slots, count, room, wanted):
    """How many vertices are wanted, with this one unless it has a slot; and whether its position is known."""
    if slots[vertex] < 0:
        slots[vertex], room[wanted] = count + wanted, vertex
        wanted += 1
    return wanted, slots[vertex] < count


@njit(cache=True)
def _is_among(numbers, count, one):
    found = False
    for k in range(count):
        found |= numbers[k] == one
    return found


@njit(cache=True)
def _weigh(x, v, tets, number, usual, weights):
    """Fill barycentric coordinates (4,) of vertex v in a tet, whose volume is `usual` at rest; whether that is neither
    flat nor inside out, and which of them is lowest."""
    a, b, c, d = tets[number, 0], tets[number, 1], tets[number, 2], tets[number, 3]
    volume = _volume(x, a, b, c, d)
    weights[1], weights[2], weights[3] = _volume(x, a, v, c, d), _volume(x, a, b, v, d), _volume(x, a, b, c, v)
    weights[0] = volume - weights[1] - weights[2] - weights[3]
    lowest, upright = 0, volume > FLAT * usual
    for corner in range(4):
        if weights[corner] < weights[lowest]:
            lowest = corner
    if upright:
        for corner in range(4):
            weights[corner] /= volume
    return upright, lowest


@njit(cache=True)
def _volume(x, a, b, c, d):
    """Six times the volume of a tet [m³]."""
    u0, u1, u2 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    v0, v1, v2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    w0, w1, w2 = x[d, 0] - x[a, 0], x[d, 1] - x[a, 1], x[d, 2] - x[a, 2]
    return u0 * (v1 * w2 - v2 * w1) + u1 * (v2 * w0 - v0 * w2) + u2 * (v0 * w1 - v1 * w0)
