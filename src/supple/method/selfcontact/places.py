"""Where the vertices are that looks of a step read: each is skinned when somebody asks for it first."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.rule_look import list_reads, slide_on
from supple.contact.tet_walk import walk_some
from supple.linalg.jit import njit
from supple.rig.posed_blend import PosedBlend, fill_frames
from supple.subspace.vertex_shapes import VertexShapes, lift_vertices

__all__ = ["Places", "lead", "lift_and_walk"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
SLIDES = 12  #: triangles that a vertex may be led over as a step begins


class Places(NamedTuple):
    """Vertices of a body at x = A (X + U q) + t that were asked for in a step; looks write on."""

    blend: PosedBlend
    before: PosedBlend
    """As the step begins."""
    first: FloatArray
    """Coordinates there, (r,)."""
    rubs: bool
    """Whether friction asks where vertices were there."""
    shapes: VertexShapes
    rest: FloatArray
    slots: IntArray
    """Number of every vertex among those asked for, or -1, (n,)."""
    reads: IntArray
    """Which those are, (n,), filled up to `size`."""
    A: FloatArray
    """Their frames, (n, 3, 3), and t [m], (n, 3), filled as far."""
    t: FloatArray
    x: FloatArray
    """Positions of the last look [m], (n, 3), filled at those vertices."""
    begin: FloatArray
    """The same as the step begins, where `rubs`."""
    room: IntArray
    """Memory, (n,)."""
    size: NDArray[np.int64]
    """How many were asked for, (1,)."""

    def clear(self) -> None:
        """Forget who was asked for."""
        self.slots[self.reads[: self.size[0]]] = -1
        self.size[0] = 0


@njit(cache=True)
def _place(q, places, wanted):
    """Put vertices (k,), which have their slots already, where they are at coordinates q."""
    first, last = places.size[0], places.size[0] + len(wanted)
    places.size[0] = last
    places.reads[first:last] = wanted
    A, t = places.A[first:last], places.t[first:last]
    if places.rubs:
        fill_frames(places.before, wanted, A, t)
        lift_vertices(wanted, places.shapes, places.first, places.rest, A, t, places.begin)
    fill_frames(places.blend, wanted, A, t)
    lift_vertices(wanted, places.shapes, q, places.rest, A, t, places.x)


@njit(cache=True)
def lead(q, vertices, triangle, skin, places):
    """The triangles (m,) that vertices (m,) are at, led there from others (m,), at coordinates q; around both all is
    placed."""
    triangle, some = triangle.copy(), np.arange(len(vertices))
    for slide in range(SLIDES + 1):
        new = list_reads(vertices[some], triangle[some], skin, places.slots, places.room, places.size[0])
        if len(new):
            _place(q, places, new)
        now = slide_on(vertices[some], triangle[some], places.x, skin)
        moved = now != triangle[some]
        if slide == SLIDES or not moved.any():
            break
        triangle[some] = now
        some = some[moved]  # the others are where they stay
    _keep_around(vertices, triangle, skin, places)
    return triangle


@njit(cache=True)
def _keep_around(vertices, triangle, skin, places):
    """Forget all that is placed but for what is around vertices (m,) and triangles (m,): looks lift what is known."""
    size = places.size[0]
    kept, new = np.zeros(size, np.bool_), 0
    for k in range(len(vertices)):
        for corner in range(4):
            middle = vertices[k] if corner == 3 else skin.triangles[triangle[k], corner]
            for entry in range(skin.fans.start[middle], skin.fans.start[middle + 1]):
                for other in range(3):
                    kept[places.slots[skin.triangles[skin.fans.triangles[entry], other]]] = True
    for old in range(size):
        v = places.reads[old]
        places.slots[v] = new if kept[old] else -1
        if kept[old]:
            places.reads[new], places.A[new], places.t[new] = v, places.A[old], places.t[old]
            new += 1
    places.size[0] = new


@njit(cache=True)
def lift_and_walk(q, asked, skin, shallows, places):
    """Put what was asked for where it is at coordinates q, and go to the tets that hold vertices there; their numbers,
    (m,), stay with `asked`. Triangles that vertices came through, (m,)."""
    size = places.size[0]
    lift_vertices(places.reads[:size], places.shapes, q, places.rest, places.A[:size], places.t[:size], places.x)
    count = len(asked.vertex)
    tet, through, some = np.full(count, -1, np.int32), np.full(count, -1, np.int32), np.arange(count)
    while True:
        wanted, some = walk_some(
            some, asked.vertex, asked.triangle, asked.tet, places.x, places.slots, places.size[0], places.room, skin,
            shallows, tet, through,
        )  # fmt: skip
        if not len(wanted):
            break
        _place(q, places, wanted)
    asked.tet[:] = tet
    return through
