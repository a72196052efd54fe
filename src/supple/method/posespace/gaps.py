"""The gaps that a step in pose space keeps open: of pairs of the body's own points, and to colliders.

Each is one row of J, what coordinates do to it, with the room that the rig leaves; with friction two rows of T tell how
its sides slide along each other, beginning with the slide that the rig makes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit

__all__ = ["Gaps", "Stops", "collect_pairs", "collect_stops", "tangents"]

FloatArray = NDArray[np.float64]

_FELT = (
    0.05  # least share of the poses in which a pair touches: elsewhere its points have nothing to do with each other
)
_IDLE = 1e-8  # of a motion of the whole body: a gap that the subspace moves less cannot be opened in it

_kernel = njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})


class Stops(NamedTuple):
    """What b characters may touch of colliders in a step, and what friction needs to know of the body's own pairs."""

    start: NDArray[np.int64]
    """Of the contacts of each character, (b + 1,)."""
    rows: FloatArray
    """What coordinates do to the touching vertices in the world, (k, 3, r)."""
    away: FloatArray
    """Where the rig has a vertex, from what it touches [m], (k, 3)."""
    slide: FloatArray
    """Where the rig has it, from where it would stick [m], (k, 3)."""
    normal: FloatArray
    """(k, 3)"""
    friction: FloatArray
    """Coulomb's coefficients, (k,)."""
    force: FloatArray
    """On the vertices [N], (k, 3): filled by the step."""
    pairs: FloatArray
    """Differences of the points of pairs as the step begins, seen from the root [m], (b, pairs, 3)."""
    own: FloatArray
    """Coulomb's coefficient of pairs, and how far things slide until they do [m], (b, 2)."""


class Gaps(NamedTuple):
    """As many as may be felt."""

    J: FloatArray
    """(k, r)"""
    room: FloatArray
    """Gaps that the rig leaves [m], (k,)."""
    T: FloatArray
    """(2 k, r)"""
    slide: FloatArray
    """[m], (2 k,)"""
    friction: FloatArray
    """(k,)"""
    number: NDArray[np.int64]
    """Of the contact with a collider, or -1, (k,)."""


@_kernel
def collect_pairs(t, w, R, placed, begin, friction, gaps):
    """Fill in the pairs that are felt; how many there are. `begin` (pairs, 3) as in `Stops`."""
    count, rows, away = 0, np.empty((3, gaps.J.shape[1])), np.empty(3)
    for k in range(t.pairs.shape[0]):
        n, share = np.zeros(3), 0.0
        for i in range(w.size):
            own = t.pair_normals[i, k]
            if w[i] > 0.0 and (own[0] != 0.0 or own[1] != 0.0 or own[2] != 0.0):
                n += w[i] * own
                share += w[i]
        size = np.sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])
        if share < _FELT or not size > 0.1 * share:
            continue
        n /= size
        rows[:] = 0.0
        for i in range(w.size):
            if w[i] > 0.0:
                if t.pair_rows.shape[2] > 3:
                    _add_turned(w[i], t.pair_rows[k, i], R, placed, t.pairs[k], rows)
                else:
                    rows += w[i] * t.pair_rows[k, i]
        away[:] = 0.0
        for v in range(4):
            for a in range(3):
                for c in range(3):
                    away[a] += R[c, a] * t.pair_weights[k, v] * placed[t.pairs[k, v], c]
        if not _put(rows, n, t.grip[1], friction, away, away - begin[k] if friction > 0.0 else away, count, gaps):
            continue
        # Where the rig itself is too deep, flesh goes no deeper than the rig
        gaps.room[count] = max(gaps.room[count] - t.pair_thickness[k], 0.0)
        gaps.number[count] = -1
        count += 1
    return count


@_kernel
def _add_turned(share, columns, R, placed, vertices, rows):
    """Add what four vertices do, each of columns (12, r) by its own turn, seen from the root, to rows (3, r)."""
    for v in range(4):
        turn = placed[vertices[v], 3:]
        for a in range(3):
            for b in range(3):
                factor = 0.0
                for c in range(3):
                    factor += share * R[c, a] * turn[3 * c + b]
                for j in range(rows.shape[1]):
                    rows[a, j] += factor * columns[3 * v + b, j]


@_kernel
def collect_stops(stops, b, mass, count, gaps):
    """Go on with the contacts of character b with colliders; how many gaps there are then."""
    for k in range(stops.start[b], stops.start[b + 1]):
        if _put(stops.rows[k], stops.normal[k], mass, stops.friction[k], stops.away[k], stops.slide[k], count, gaps):
            gaps.number[count] = k
            count += 1
    return count


@_kernel
def _put(rows, n, mass, friction, away, slide, at, gaps):
    """Fill in one gap along n of a difference that coordinates move by rows (3, r); False where they do not."""
    rank = rows.shape[1]
    moved, line = 0.0, gaps.J[at]
    for j in range(rank):
        line[j] = n[0] * rows[0, j] + n[1] * rows[1, j] + n[2] * rows[2, j]
        moved += line[j] * line[j]
    if moved * mass < _IDLE:
        return False
    gaps.room[at] = n[0] * away[0] + n[1] * away[1] + n[2] * away[2]
    gaps.friction[at] = friction
    if friction > 0.0:
        for side, (x, y, z) in enumerate(tangents(n)):
            across = gaps.T[2 * at + side]
            for j in range(rank):
                across[j] = x * rows[0, j] + y * rows[1, j] + z * rows[2, j]
            gaps.slide[2 * at + side] = x * slide[0] + y * slide[1] + z * slide[2]
    return True


@_kernel
def tangents(n):
    """Two unit vectors across a third and each other."""
    least = 0
    for a in range(1, 3):
        if abs(n[a]) < abs(n[least]):
            least = a
    size = np.sqrt(1.0 - n[least] * n[least])
    x, y, z = -n[least] * n[0] / size, -n[least] * n[1] / size, -n[least] * n[2] / size
    if least == 0:
        x += 1.0 / size
    elif least == 1:
        y += 1.0 / size
    else:
        z += 1.0 / size
    return (x, y, z), (n[1] * z - n[2] * y, n[2] * x - n[0] * z, n[0] * y - n[1] * x)
