"""Frozen contacts of a body with a frame: penalty and friction beside its other loads, in Newton's compiled method.

A gap d = w c + R Σ w Ψ s - offset moves with shape and frame like the end of a spring.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.linalg.jit import njit
from supple.linalg.vectors import copy_into
from supple.method.frozen_contacts import find_axes, find_energy, push_back
from supple.method.reduced.frame import FRAMED, cross, turn_with, unpack_frame
from supple.method.reduced.newton import LoadLoops

__all__ = ["TOUCHING"]

FloatArray = NDArray[np.float64]

_pull_others, _stiffen_others, _height_others = FRAMED.pull, FRAMED.stiffen, FRAMED.height


@njit(cache=True, fastmath=False)
def _find_gaps(z: FloatArray, data: Any) -> tuple[FloatArray, FloatArray]:
    """Arms in the body's axes and gaps, each (m, 3)."""
    loads, touch = data
    s, R, centre = unpack_frame(z, z.size - 12, loads.tail)
    arms = np.dot(touch.handles, s).reshape(-1, 3)
    gaps = np.dot(arms, R.T)
    for i in range(len(gaps)):
        for a in range(3):
            gaps[i, a] += touch.weights[i] * centre[a] - touch.offset[i, a]
    return arms, gaps


@njit(cache=True, fastmath=False)
def _pull(z: FloatArray, data: Any, g: FloatArray) -> None:
    loads, touch = data
    _pull_others(z, loads, g)
    rank = z.size - 12
    R = z[rank : rank + 9].copy().reshape(3, 3)
    arms, gaps = _find_gaps(z, data)
    pushes, aside = np.empty_like(gaps), np.empty(3)
    for i in range(len(gaps)):
        push_back(touch, i, gaps[i], aside, pushes[i])
    back = np.dot(pushes, R)
    g[:rank] += np.dot(back.reshape(-1), touch.handles)[1 : 1 + rank]
    if g.size > rank:
        for i in range(len(gaps)):
            g[rank : rank + 3] += cross(arms[i], back[i])
            g[rank + 3 :] += touch.weights[i] * pushes[i]


@njit(cache=True, fastmath=False)
def _stiffen(z: FloatArray, data: Any, K: FloatArray) -> None:
    loads, touch = data
    _stiffen_others(z, loads, K)
    rank, unknowns = z.size - 12, K.shape[0]
    R = z[rank : rank + 9].copy().reshape(3, 3)
    arms, gaps = _find_gaps(z, data)
    aside, push, axes, stiffness = np.empty(3), np.empty(3), np.empty((3, 3)), np.empty(3)
    rows, count = np.empty((3 * len(gaps), unknowns)), 0
    for i in range(len(gaps)):
        handle = touch.handles[3 * i : 3 * i + 3]
        if unknowns > rank:
            push_back(touch, i, gaps[i], aside, push)
            turn_with(np.dot(R.T, push), arms[i], handle, rank, K)
        find_axes(touch, i, gaps[i], aside, axes, stiffness)
        for k in range(3):
            if stiffness[k] == 0.0:
                continue
            axis = np.sqrt(stiffness[k]) * axes[k]
            back, row = np.dot(R.T, axis), rows[count]
            for l in range(rank):
                row[l] = back[0] * handle[0, 1 + l] + back[1] * handle[1, 1 + l] + back[2] * handle[2, 1 + l]
            if unknowns > rank:
                copy_into(cross(arms[i], back), row[rank : rank + 3])
                copy_into(touch.weights[i] * axis, row[rank + 3 :])
            count += 1
    square = np.dot(rows[:count].T, rows[:count])
    for i in range(unknowns):
        for j in range(i + 1):
            K[i, j] += square[i, j]


@njit(cache=True, fastmath=False)
def _height(z: FloatArray, data: Any) -> tuple[float, float]:
    loads, touch = data
    energy, size = _height_others(z, loads)
    gaps, aside, own = _find_gaps(z, data)[1], np.empty(3), 0.0
    for i in range(len(gaps)):
        own += find_energy(touch, i, gaps[i], aside)
    return energy + own, size + own


#: Loads of a body with a frame that touches something; data: FrameLoads, FrozenContacts.
TOUCHING = LoadLoops(_pull, _stiffen, _height, FRAMED.shift, "touching")
