"""How a lattice tet is cut: the stencils of isosurface stuffing [LS07], as one table.

Corners 0, 1 are the ends of one long edge and 2, 3 of the other, the lower coordinate first; the other four
edges are short. Local number 4 + e is the cut point on edge e of `TET_EDGES`.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

__all__ = ["TET_EDGES", "stencil_code", "stencil_table"]

#: The six edges of a tet; the first and the last are the long ones.
TET_EDGES: NDArray[np.int32] = np.array(list(combinations(range(4), 2)), dtype=np.int32)

_LONG = ({0, 1}, {2, 3})
_POWERS = np.array([1, 3, 9, 27], dtype=np.int64)
_PROBE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])  # any positive tet, to orient the pieces

Tet = tuple[int, int, int, int]


def stencil_code(signs: NDArray[np.int8]) -> NDArray[np.int64]:
    """Row of the table for corner signs +1 (inside), 0 (on the surface), -1 (outside), shape (m, 4)."""
    return (signs.astype(np.int64) + 1) @ _POWERS


def stencil_table() -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Up to three tets for parity 0, 1 and each code, shape (2, 81, 3, 4), and how many, shape (2, 81)."""
    pieces = np.zeros((2, 81, 3, 4), dtype=np.int32)
    counts = np.zeros((2, 81), dtype=np.int32)
    for parity, signs in product((0, 1), product((-1, 0, 1), repeat=4)):
        code = int(stencil_code(np.array([signs], dtype=np.int8))[0])
        for tet in _cut_tet(signs, parity):
            pieces[parity, code, counts[parity, code]] = _orient(tet)
            counts[parity, code] += 1
    return pieces, counts


def _cut_tet(signs: tuple[int, ...], parity: int) -> list[Tet]:
    plus = [corner for corner in range(4) if signs[corner] > 0]
    minus = [corner for corner in range(4) if signs[corner] < 0]
    if not plus:
        return []
    if not minus:
        return [(0, 1, 2, 3)]
    if len(plus) == 1:
        rest = [_cut(plus[0], other) if signs[other] < 0 else other for other in range(4) if other != plus[0]]
        return [(plus[0], rest[0], rest[1], rest[2])]
    if len(plus) == 2 and len(minus) == 1:
        (apex,) = (corner for corner in range(4) if signs[corner] == 0)
        near = _diagonal_start(plus[0], plus[1], minus[0], parity)
        far = plus[0] + plus[1] - near
        corner = _cut(far, minus[0])
        return [(near, far, corner, apex), (near, corner, _cut(near, minus[0]), apex)]
    if len(plus) == 2:
        return _cut_between_pairs(plus, minus, parity)
    return _cut_off_corner(plus, minus[0], parity)


def _cut_off_corner(plus: list[int], outside: int, parity: int) -> list[Tet]:
    """Prism between three inside corners and the cuts below them; the corner on the long edge comes last."""
    (last,) = (corner for corner in plus if {corner, outside} in _LONG)
    one, two = (corner for corner in plus if corner != last)
    first = _diagonal_start(one, two, outside, parity)
    order = (first, one + two - first, last)
    return _cut_prism(order, tuple(_cut(corner, outside) for corner in order))


def _cut_between_pairs(plus: list[int], minus: list[int], parity: int) -> list[Tet]:
    """Prism along the inside edge; the two shared faces fix the diagonal of the surface quadrilateral."""
    a, b = plus
    columns = [(a, b), *((_cut(a, other), _cut(b, other)) for other in minus)]
    starts = [_diagonal_start(a, b, other, parity) == a for other in minus]
    # The diagonal of face (a, b, other) starts at `a` when the inside edge comes before that face's column.
    before = [columns[1 + i] for i in range(2) if not starts[i]]
    after = [columns[1 + i] for i in range(2) if starts[i]]
    order = [*before, columns[0], *after]
    return _cut_prism(tuple(top for top, _ in order), tuple(bottom for _, bottom in order))


def _cut_prism(top: tuple[int, ...], bottom: tuple[int, ...]) -> list[Tet]:
    """Three tets whose face diagonals run from the top of an earlier column to the bottom of a later one."""
    return [
        (top[0], top[1], top[2], bottom[2]),
        (top[0], top[1], bottom[1], bottom[2]),
        (top[0], bottom[0], bottom[1], bottom[2]),
    ]


def _diagonal_start(a: int, b: int, outside: int, parity: int) -> int:
    """The inside corner of face (a, b, outside) from which the diagonal of its quadrilateral starts.

    It ends in the cut on the long edge. Where both cuts are on short edges, the parity rule of [LS07] holds,
    which alternates around every long edge; either way the two tets that share the face agree.
    """
    if {a, b} not in _LONG:
        return a if {b, outside} in _LONG else b
    low, high = min(a, b), max(a, b)
    lower_face = outside in (0, 2)
    upright = bool(parity) == (low == 0)  # the two long edges of a tet have opposite parity
    return low if lower_face == upright else high


def _cut(a: int, b: int) -> int:
    return 4 + [set(edge) for edge in TET_EDGES.tolist()].index({a, b})


def _orient(tet: Tet) -> Tet:
    points = np.concatenate([_PROBE, _PROBE[TET_EDGES].mean(axis=1)])[list(tet)]
    positive = float(np.linalg.det(points[1:] - points[0])) > 0
    return tet if positive else (tet[0], tet[1], tet[3], tet[2])
