"""Frozen contacts of a skinned body: penalty and friction beside its other loads, in Newton's compiled method.

In a pose that is given, a gap d = Σ w (A X + t) + Σ w A U q - offset is affine in the coordinates.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from supple.linalg.vectors import copy_into
from supple.method.frozen_contacts import FrozenContacts, find_axes, find_energy, push_back
from supple.method.reduced_loads import STILL
from supple.method.reduced_newton import LoadLoops

__all__ = ["STILL_TOUCHING"]

FloatArray = NDArray[np.float64]

# What calls these is not cached: its copy would outlive a change of theirs
_pull_others, _stiffen_others, _height_others = STILL.pull, STILL.stiffen, STILL.height


@njit(cache=False, fastmath=False)
def _find_gaps(z: FloatArray, touch: FrozenContacts) -> FloatArray:
    """(m, 3)"""
    s = np.ones(1 + z.size)
    copy_into(z, s[1:])
    gaps: FloatArray = np.dot(touch.handles, s).reshape(-1, 3) - touch.offset
    return gaps


@njit(cache=False, fastmath=False)
def _pull(z: FloatArray, data: Any, g: FloatArray) -> None:
    loads, touch = data
    _pull_others(z, loads, g)
    gaps = _find_gaps(z, touch)
    pushes, aside = np.empty_like(gaps), np.empty(3)
    for i in range(len(gaps)):
        push_back(touch, i, gaps[i], aside, pushes[i])
    g += np.dot(pushes.reshape(-1), touch.handles)[1:]


@njit(cache=False, fastmath=False)
def _stiffen(z: FloatArray, data: Any, K: FloatArray) -> None:
    loads, touch = data
    _stiffen_others(z, loads, K)
    gaps = _find_gaps(z, touch)
    aside, axes, stiffness = np.empty(3), np.empty((3, 3)), np.empty(3)
    rows, count = np.empty((3 * len(gaps), z.size)), 0
    for i in range(len(gaps)):
        find_axes(touch, i, gaps[i], aside, axes, stiffness)
        for k in range(3):
            if stiffness[k] == 0.0:
                continue
            axis, row = np.sqrt(stiffness[k]) * axes[k], rows[count]
            for l in range(z.size):
                row[l] = 0.0
                for a in range(3):
                    row[l] += axis[a] * touch.handles[3 * i + a, 1 + l]
            count += 1
    square = np.dot(rows[:count].T, rows[:count])
    for i in range(z.size):
        for j in range(i + 1):
            K[i, j] += square[i, j]


@njit(cache=False, fastmath=False)
def _height(z: FloatArray, data: Any) -> tuple[float, float]:
    loads, touch = data
    energy, size = _height_others(z, loads)
    gaps, aside, own = _find_gaps(z, touch), np.empty(3), 0.0
    for i in range(len(gaps)):
        own += find_energy(touch, i, gaps[i], aside)
    return energy + own, size + own


#: Loads of a body whose frame is given and that touches something; data: those of STILL, FrozenContacts.
STILL_TOUCHING = LoadLoops(_pull, _stiffen, _height, STILL.shift, "still_touching")
