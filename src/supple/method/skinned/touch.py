"""Contacts of a skinned body beside its other loads, in Newton's compiled method: penalty and friction.

Contacts of the same domains are gathered to one product a stiffness; between domains that do not touch nothing is
computed.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.method.frozen_contacts import find_axes, find_energy, push_back
from supple.method.placed_contacts import PlacedContacts
from supple.method.reduced.loads import STILL
from supple.method.reduced.newton import LoadLoops

__all__ = ["STILL_TOUCHING", "find_gap", "press", "stiffen_contacts"]

FloatArray = NDArray[np.float64]
_ROWS = 96  # of a product

_pull_others, _stiffen_others, _height_others = STILL.pull, STILL.stiffen, STILL.height


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def find_gap(z: FloatArray, touch: PlacedContacts, i: int, gap: FloatArray) -> None:
    """Fill the gap of contact i [m], (3,)."""
    x, y, w = touch.base[i, 0], touch.base[i, 1], touch.base[i, 2]
    for block in range(touch.start[i], touch.start[i + 1]):
        first, width, at = touch.first[block], touch.width[block], touch.at[block]
        own, rows = z[first : first + width], touch.values[at : at + 3 * width].reshape(3, width)
        for j in range(width):  # rows are short: a product of the linear algebra library would cost more to call
            x += rows[0, j] * own[j]
            y += rows[1, j] * own[j]
            w += rows[2, j] * own[j]
    gap[0], gap[1], gap[2] = x, y, w


@njit(cache=True, fastmath=False)
def press(z: FloatArray, touch: PlacedContacts, g: FloatArray) -> None:
    """Add the derivative of the contacts' energy by the coordinates, (r,)."""
    gap, push, aside = np.empty(3), np.empty(3), np.empty(3)
    for i in range(len(touch.along)):
        find_gap(z, touch, i, gap)
        push_back(touch, i, gap, aside, push)
        if push[0] == 0.0 and push[1] == 0.0 and push[2] == 0.0:
            continue
        for block in range(touch.start[i], touch.start[i + 1]):
            first, width, at = touch.first[block], touch.width[block], touch.at[block]
            own, rows = g[first : first + width], touch.values[at : at + 3 * width].reshape(3, width)
            for j in range(width):
                own[j] += push[0] * rows[0, j] + push[1] * rows[1, j] + push[2] * rows[2, j]


@njit(cache=True, fastmath=False)
def _pull(z: FloatArray, data: Any, g: FloatArray) -> None:
    loads, touch = data
    _pull_others(z, loads, g)
    press(z, touch, g)


@njit(cache=True, fastmath=False)
def _is_like(touch: PlacedContacts, i: int, other: int) -> bool:
    """Whether two contacts depend on the same coordinates."""
    begin, there = touch.start[i], touch.start[other]
    count = touch.start[i + 1] - begin
    same = touch.start[other + 1] - there == count
    for k in range(count if same else 0):
        same = same and touch.first[begin + k] == touch.first[there + k]
    return bool(same)


@njit(cache=True, fastmath=False)
def _add_square(touch: PlacedContacts, i: int, rows: FloatArray, K: FloatArray) -> None:
    """Add rowsᵀ rows to the lower triangle, whose columns are those of contact i."""
    square = np.dot(rows.T, rows)
    down = 0
    for one in range(touch.start[i], touch.start[i + 1]):
        for a in range(touch.width[one]):
            right = 0
            for other in range(touch.start[i], one + 1):
                width = a + 1 if other == one else touch.width[other]
                for b in range(width):
                    K[touch.first[one] + a, touch.first[other] + b] += square[down, right + b]
                right += touch.width[other]
            down += 1


@njit(cache=True, fastmath=False)
def stiffen_contacts(z: FloatArray, touch: PlacedContacts, K: FloatArray) -> None:
    """Add the second derivative of the contacts' energy to the lower triangle, (r, r)."""
    gap, aside, axes, stiffness = np.empty(3), np.empty(3), np.empty((3, 3)), np.empty(3)
    memory, count, group = np.empty(_ROWS * z.size), 0, -1
    rows = memory[:0].reshape(0, 1)
    for i in range(len(touch.along)):
        find_gap(z, touch, i, gap)
        find_axes(touch, i, gap, aside, axes, stiffness)
        if not (stiffness > 0.0).any():
            continue
        if group < 0 or count + 3 > _ROWS or not _is_like(touch, i, group):
            if count:
                _add_square(touch, group, rows[:count], K)
            group, count, wide = i, 0, 0
            for block in range(touch.start[i], touch.start[i + 1]):
                wide += touch.width[block]
            rows = memory[: _ROWS * wide].reshape(_ROWS, wide)
        for k in range(3):
            if stiffness[k] == 0.0:
                continue
            axis, place = np.sqrt(stiffness[k]) * axes[k], 0
            for block in range(touch.start[i], touch.start[i + 1]):
                width, at = touch.width[block], touch.at[block]
                for j in range(width):
                    value = axis[0] * touch.values[at + j] + axis[1] * touch.values[at + width + j]
                    rows[count, place + j] = value + axis[2] * touch.values[at + 2 * width + j]
                place += width
            count += 1
    if count:
        _add_square(touch, group, rows[:count], K)


@njit(cache=True, fastmath=False)
def _stiffen(z: FloatArray, data: Any, K: FloatArray) -> None:
    loads, touch = data
    _stiffen_others(z, loads, K)
    stiffen_contacts(z, touch, K)


@njit(cache=True, fastmath=False)
def _height(z: FloatArray, data: Any) -> tuple[float, float]:
    loads, touch = data
    energy, size = _height_others(z, loads)
    gap, aside, own = np.empty(3), np.empty(3), 0.0
    for i in range(len(touch.along)):
        find_gap(z, touch, i, gap)
        own += find_energy(touch, i, gap, aside)
    return energy + own, size + own


#: Loads of a body whose frame is given and that touches something; data: those of STILL, PlacedContacts.
STILL_TOUCHING = LoadLoops(_pull, _stiffen, _height, STILL.shift, "still_touching")
