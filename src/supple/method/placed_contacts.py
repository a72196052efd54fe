"""Frozen contacts of a skinned body as Newton's compiled method takes them.

In a pose that is given, a gap d = Σ w (A X + t) - offset + Σ w A U q is affine in the coordinates. It depends on those
of the domains that touch, so that handles Σ w A U are blocks of few columns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.linalg.jit import njit
from supple.rig import SkinnedRig
from supple.subspace.vertex_shapes import VertexShapes

__all__ = ["PlacedContacts", "freeze_placed", "hold", "no_contacts", "place_contacts"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


class PlacedContacts(NamedTuple):
    """m contacts; those of contact i are the blocks start[i] to start[i + 1], their columns ascending."""

    start: IntArray
    """(m + 1,)"""
    first: IntArray
    """Coordinate that a block begins with, (b,)."""
    width: IntArray
    """Number of its coordinates, (b,)."""
    at: IntArray
    """Where its three rows begin among the values, (b,)."""
    values: FloatArray
    base: FloatArray
    """Gaps at q = 0 [m], (m, 3)."""
    normal: FloatArray
    along: FloatArray
    """Stiffness against penetration [N/m], (m,)."""
    across: FloatArray
    """Stiffness against sliding [N/m], (m,)."""
    limit: FloatArray
    """Force of sliding [N], (m,)."""
    origin: FloatArray
    """Gaps without any slide [m], (m, 3)."""
    slip: FloatArray
    """How far a contact moves until friction is that of sliding [m], (1,)."""

    def gather(self, forces: FloatArray, rank: int) -> FloatArray:
        """What forces along the gaps [N], (m, 3), do to the coordinates, (r,)."""
        return np.asarray(_gather(self.start, self.first, self.width, self.at, self.values, forces, rank))


Blocks = tuple[IntArray, IntArray, IntArray, IntArray, FloatArray, FloatArray]
"""start, first, width, at, values and base of contacts."""


def freeze_placed(
    potential: ContactPotential, rig: SkinnedRig, shapes: VertexShapes, pose: FloatArray
) -> PlacedContacts:
    """The contacts of a potential on a body at x = A (X + U q) + t."""
    contacts, penalty, friction = potential.contacts, potential.penalty, potential.friction
    count = len(contacts)
    blocks = place_contacts(rig, shapes, pose, contacts.vertices, contacts.weights, contacts.offset)
    rub = (np.zeros(count), np.zeros((count, 3)), 1.0)
    if friction is not None:
        rub = (friction.limit, potential.origin, friction.slip)
    laws = contacts.normal, penalty.along, penalty.across, *rub[:2], np.array([rub[2]])
    return PlacedContacts(*blocks, *map(np.ascontiguousarray, laws))  # another layout would be compiled for anew


def place_contacts(
    rig: SkinnedRig,
    shapes: VertexShapes,
    pose: FloatArray,
    vertices: NDArray[np.int32],
    weights: FloatArray,
    offset: FloatArray,
) -> Blocks:
    """The blocks of gaps of vertices (m, 4) with weights (m, 4) and offsets (m, 3) [m]."""
    touched = np.unique(vertices[weights != 0.0])
    slots = np.searchsorted(touched, vertices)
    slots[weights == 0.0] = 0
    A, t = rig.frames(pose, touched)
    found: Blocks = hold(vertices, weights, offset, slots, A, t, rig.rest, shapes)
    return found


@njit(cache=True)
def no_contacts():
    """No contacts, as compiled loops take them."""
    none, flat, numbers = np.empty((0, 3)), np.empty(0), np.empty(0, np.int64)
    return PlacedContacts(
        np.zeros(1, np.int64), numbers, numbers, numbers, flat, none, none, flat, flat, flat, none, np.ones(1)
    )


@njit(cache=True)
def _gather(start, first, width, at, values, forces, rank):
    found = np.zeros(rank)
    for i in range(len(forces)):
        for block in range(start[i], start[i + 1]):
            for a in range(3):
                row = values[at[block] + a * width[block] : at[block] + (a + 1) * width[block]]
                found[first[block] : first[block] + width[block]] += forces[i, a] * row
    return found


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def hold(vertices, weights, offset, slots, A, t, rest, shapes):
    """The same, with the frames A (k, 3, 3) and t (k, 3) of slots, (m, 4)."""
    count, blocks, room = len(vertices), 0, 0
    for i in range(count):
        for k in range(4):
            if weights[i, k] != 0.0:
                for block in range(shapes.start[vertices[i, k]], shapes.start[vertices[i, k] + 1]):
                    blocks += 1
                    room += 3 * shapes.width[block]
    start, base = np.zeros(count + 1, np.int64), -offset
    first, width, at = np.empty(blocks, np.int64), np.empty(blocks, np.int64), np.empty(blocks, np.int64)
    values, filled, used = np.zeros(room), 0, 0
    for i in range(count):
        begin = filled
        for k in range(4):
            w, v, s = weights[i, k], vertices[i, k], slots[i, k]
            if w == 0.0:
                continue
            for a in range(3):
                base[i, a] += w * (A[s, a, 0] * rest[v, 0] + A[s, a, 1] * rest[v, 1] + A[s, a, 2] * rest[v, 2])
                base[i, a] += w * t[s, a]
            for block in range(shapes.start[v], shapes.start[v + 1]):
                own = begin
                while own < filled and first[own] != shapes.first[block]:
                    own += 1
                size = shapes.width[block]
                if own == filled:
                    first[own], width[own], at[own] = shapes.first[block], size, used
                    used += 3 * size
                    filled += 1
                U = shapes.values[shapes.at[block] : shapes.at[block] + 3 * size].reshape(3, size)
                H = values[at[own] : at[own] + 3 * size].reshape(3, size)
                for a in range(3):
                    share = w * shapes.share[block]
                    p, q, r = share * A[s, a, 0], share * A[s, a, 1], share * A[s, a, 2]
                    for j in range(size):
                        H[a, j] += p * U[0, j] + q * U[1, j] + r * U[2, j]
        for one in range(begin + 1, filled):  # few: columns ascend
            other = one
            while other > begin and first[other - 1] > first[other]:
                first[other - 1], first[other] = first[other], first[other - 1]
                width[other - 1], width[other] = width[other], width[other - 1]
                at[other - 1], at[other] = at[other], at[other - 1]
                other -= 1
        start[i + 1] = filled
    return start, first[:filled].copy(), width[:filled].copy(), at[:filled].copy(), values[:used].copy(), base
