"""Frozen contacts of a body with a frame: penalty and friction beside its other loads, in Newton's compiled method.

The laws are those of contact/penalty.py and contact/friction.py, contact by contact; a gap d = w c + R Σ w Ψ s - offset
moves with shape and frame like the end of a spring.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.contact.potential import ContactPotential
from supple.method.reduced_frame import FRAMED, cross, turn_with, unpack_frame
from supple.method.reduced_newton import LoadLoops

__all__ = ["TOUCHING", "FrozenContacts", "freeze_contacts"]

FloatArray = NDArray[np.float64]

# What calls these is not cached: its copy would outlive a change of theirs
_pull_others, _stiffen_others, _height_others = FRAMED.pull, FRAMED.stiffen, FRAMED.height


class FrozenContacts(NamedTuple):
    """m contacts as kernels take them."""

    handles: FloatArray
    """Σ w Ψ, the three rows of each contact below each other, (3 m, shapes)."""
    weights: FloatArray
    """Σ w: 1 for a collider, 0 for the body itself, (m,)."""
    offset: FloatArray
    """[m], (m, 3)"""
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


def freeze_contacts(potential: ContactPotential, shapes: FloatArray) -> FrozenContacts:
    """The contacts of a potential for a body of shapes Ψ, (n, 3 k)."""
    contacts, penalty, friction = potential.contacts, potential.penalty, potential.friction
    count = len(contacts)
    own = contacts.weights != 0.0  # contacts with colliders name their vertex four times
    ends = np.concatenate([[0], np.cumsum(own.sum(axis=1))])
    J = csr_array((contacts.weights[own], contacts.vertices[own], ends), (count, len(shapes)))
    rub = (np.zeros(count), contacts.offset, 1.0)
    if friction is not None:
        rub = (friction.limit, potential.origin, friction.slip)
    arrays = ((J @ shapes).reshape(3 * count, -1), contacts.weights.sum(axis=1), contacts.offset, contacts.normal,
              penalty.along, penalty.across, *rub[:2], [rub[2]])  # fmt: skip
    return FrozenContacts(*map(np.ascontiguousarray, arrays))  # another layout would be compiled for anew


@njit(cache=False)
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


@njit(cache=False)
def _split(normal: FloatArray, vector: FloatArray, aside: FloatArray) -> float:
    """The component along a normal; `aside` is filled with the rest."""
    along = normal[0] * vector[0] + normal[1] * vector[1] + normal[2] * vector[2]
    for a in range(3):
        aside[a] = vector[a] - along * normal[a]
    return float(along)


@njit(cache=False)
def _secant(touch: FrozenContacts, i: int, slide: float) -> float:
    """μ λ f'(s)/s of a slide of length s [N/m]."""
    slip = touch.slip[0]
    return float(touch.limit[i] * (2.0 - min(slide / slip, 1.0)) / max(slide, slip))


@njit(cache=False)
def _push_back(touch: FrozenContacts, i: int, gap: FloatArray, aside: FloatArray, push: FloatArray) -> None:
    """Fill the derivative of the energy of contact i by its gap [N], (3,); `aside` is memory."""
    height = _split(touch.normal[i], gap, aside)
    for a in range(3):
        push[a] = touch.across[i] * aside[a] + touch.along[i] * min(height, 0.0) * touch.normal[i, a]
    if touch.limit[i] > 0.0:
        _split(touch.normal[i], gap - touch.origin[i], aside)
        secant = _secant(touch, i, np.sqrt(np.dot(aside, aside)))
        for a in range(3):
            push[a] += secant * aside[a]


@njit(cache=False)
def _find_axes(
    touch: FrozenContacts, i: int, gap: FloatArray, aside: FloatArray, axes: FloatArray, stiffness: FloatArray
) -> None:
    """Fill the eigenvectors (3, 3) and eigenvalues (3,) [N/m] of the second derivative by the gap of contact i."""
    normal, across = touch.normal[i], touch.across[i]
    height = _split(normal, gap, aside)
    axes[0] = normal
    stiffness[0] = touch.along[i] if height < 0.0 else 0.0
    stiffness[1:] = across
    if across == 0.0 and touch.limit[i] == 0.0:
        return
    _split(normal, gap - touch.origin[i], aside)
    slide = np.sqrt(np.dot(aside, aside))
    stiffness[1] += 2.0 / touch.slip[0] * touch.limit[i] * max(1.0 - slide / touch.slip[0], 0.0)
    stiffness[2] += _secant(touch, i, slide)
    if slide < 1e-300:  # all directions across the normal are alike
        axes[1] = 0.0
        axes[1, np.argmin(np.abs(normal))] = 1.0
        _split(normal, axes[1].copy(), aside)
        slide = np.sqrt(np.dot(aside, aside))
    axes[1] = aside / slide
    axes[2] = cross(axes[0], axes[1])


@njit(cache=False)
def _pull(z: FloatArray, data: Any, g: FloatArray) -> None:
    loads, touch = data
    _pull_others(z, loads, g)
    rank = z.size - 12
    R = z[rank : rank + 9].copy().reshape(3, 3)
    arms, gaps = _find_gaps(z, data)
    pushes, aside = np.empty_like(gaps), np.empty(3)
    for i in range(len(gaps)):
        _push_back(touch, i, gaps[i], aside, pushes[i])
    back = np.dot(pushes, R)
    g[:rank] += np.dot(back.reshape(-1), touch.handles)[1 : 1 + rank]
    if g.size > rank:
        for i in range(len(gaps)):
            g[rank : rank + 3] += cross(arms[i], back[i])
            g[rank + 3 :] += touch.weights[i] * pushes[i]


@njit(cache=False)
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
            _push_back(touch, i, gaps[i], aside, push)
            turn_with(np.dot(R.T, push), arms[i], handle, rank, K)
        _find_axes(touch, i, gaps[i], aside, axes, stiffness)
        for k in range(3):
            if stiffness[k] == 0.0:
                continue
            axis = np.sqrt(stiffness[k]) * axes[k]
            back, row = np.dot(R.T, axis), rows[count]
            for l in range(rank):
                row[l] = back[0] * handle[0, 1 + l] + back[1] * handle[1, 1 + l] + back[2] * handle[2, 1 + l]
            if unknowns > rank:
                row[rank : rank + 3] = cross(arms[i], back)
                row[rank + 3 :] = touch.weights[i] * axis
            count += 1
    square = np.dot(rows[:count].T, rows[:count])
    for i in range(unknowns):
        for j in range(i + 1):
            K[i, j] += square[i, j]


@njit(cache=False)
def _height(z: FloatArray, data: Any) -> tuple[float, float]:
    loads, touch = data
    energy, size = _height_others(z, loads)
    gaps, aside, slip, own = _find_gaps(z, data)[1], np.empty(3), touch.slip[0], 0.0
    for i in range(len(gaps)):
        depth = min(_split(touch.normal[i], gaps[i], aside), 0.0)
        own += 0.5 * touch.along[i] * depth**2 + 0.5 * touch.across[i] * np.dot(aside, aside)
        if touch.limit[i] > 0.0:
            _split(touch.normal[i], gaps[i] - touch.origin[i], aside)
            slide = np.sqrt(np.dot(aside, aside))
            t = min(slide / slip, 1.0)
            own += touch.limit[i] * (slip * (t**2 - t**3 / 3.0) + max(slide - slip, 0.0))
    return energy + own, size + own


#: Loads of a body with a frame that touches something; data: FrameLoads, FrozenContacts.
TOUCHING = LoadLoops(_pull, _stiffen, _height, FRAMED.shift, "touching")
