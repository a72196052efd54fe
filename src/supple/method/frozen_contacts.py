"""Frozen contacts as Newton's compiled method takes them, and their laws: penalty and friction, contact by contact.

The laws are those of contact/penalty.py and contact/friction.py.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from supple.contact.contacts import Contacts
from supple.contact.potential import ContactPotential
from supple.linalg.jit import njit
from supple.linalg.vectors import copy_into

__all__ = ["FrozenContacts", "find_axes", "find_energy", "freeze_contacts", "push_back", "weigh_vertices"]

FloatArray = NDArray[np.float64]

# Strict arithmetic is asked for: functions that leave it open take the fused operations of loops that call them


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


class Laws(Protocol):
    """What the laws of contacts read of them."""

    @property
    def normal(self) -> FloatArray: ...
    @property
    def along(self) -> FloatArray: ...
    @property
    def across(self) -> FloatArray: ...
    @property
    def limit(self) -> FloatArray: ...
    @property
    def origin(self) -> FloatArray: ...
    @property
    def slip(self) -> FloatArray: ...


def weigh_vertices(contacts: Contacts, count: int) -> csr_array:
    """The weights of a body's vertices in the gaps, (m, count)."""
    own = contacts.weights != 0.0  # contacts with colliders name their vertex four times
    ends = np.concatenate([[0], np.cumsum(own.sum(axis=1))])
    return csr_array((contacts.weights[own], contacts.vertices[own], ends), (len(contacts), count))


def freeze_contacts(potential: ContactPotential, handles: FloatArray) -> FrozenContacts:
    """The contacts of a potential with their `handles` Σ w Ψ, (m, 3 k), on the shapes of a body."""
    contacts, penalty, friction = potential.contacts, potential.penalty, potential.friction
    count = len(contacts)
    rub = (np.zeros(count), contacts.offset, 1.0)
    if friction is not None:
        rub = (friction.limit, potential.origin, friction.slip)
    arrays = (handles.reshape(3 * count, -1), contacts.weights.sum(axis=1), contacts.offset, contacts.normal,
              penalty.along, penalty.across, *rub[:2], [rub[2]])  # fmt: skip
    return FrozenContacts(*map(np.ascontiguousarray, arrays))  # another layout would be compiled for anew


@njit(cache=True, fastmath=False)
def _split(normal: FloatArray, vector: FloatArray, aside: FloatArray) -> float:
    """The component along a normal; `aside` is filled with the rest."""
    along = normal[0] * vector[0] + normal[1] * vector[1] + normal[2] * vector[2]
    for a in range(3):
        aside[a] = vector[a] - along * normal[a]
    return float(along)


@njit(cache=True, fastmath=False)
def _secant(touch: Laws, i: int, slide: float) -> float:
    """μ λ f'(s)/s of a slide of length s [N/m]."""
    slip = touch.slip[0]
    return float(touch.limit[i] * (2.0 - min(slide / slip, 1.0)) / max(slide, slip))


@njit(cache=True, fastmath=False)
def push_back(touch: Laws, i: int, gap: FloatArray, aside: FloatArray, push: FloatArray) -> None:
    """Fill the derivative of the energy of contact i by its gap [N], (3,); `aside` is memory."""
    height = _split(touch.normal[i], gap, aside)
    for a in range(3):
        push[a] = touch.across[i] * aside[a] + touch.along[i] * min(height, 0.0) * touch.normal[i, a]
    if touch.limit[i] > 0.0:
        _split(touch.normal[i], gap - touch.origin[i], aside)
        secant = _secant(touch, i, np.sqrt(np.dot(aside, aside)))
        for a in range(3):
            push[a] += secant * aside[a]


@njit(cache=True, fastmath=False)
def find_axes(touch: Laws, i: int, gap: FloatArray, aside: FloatArray, axes: FloatArray, stiffness: FloatArray) -> None:
    """Fill the eigenvectors (3, 3) and eigenvalues (3,) [N/m] of the second derivative by the gap of contact i."""
    normal, across = touch.normal[i], touch.across[i]
    height = _split(normal, gap, aside)
    copy_into(normal, axes[0])
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
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        axes[2, a] = axes[0, b] * axes[1, c] - axes[0, c] * axes[1, b]


@njit(cache=True, fastmath=False)
def find_energy(touch: Laws, i: int, gap: FloatArray, aside: FloatArray) -> float:
    """The energy of contact i at a gap [J]; `aside` is memory."""
    depth = min(_split(touch.normal[i], gap, aside), 0.0)
    energy = 0.5 * touch.along[i] * depth**2 + 0.5 * touch.across[i] * np.dot(aside, aside)
    if touch.limit[i] > 0.0:
        slip = touch.slip[0]
        _split(touch.normal[i], gap - touch.origin[i], aside)
        slide = np.sqrt(np.dot(aside, aside))
        t = min(slide / slip, 1.0)
        energy += touch.limit[i] * (slip * (t**2 - t**3 / 3.0) + max(slide - slip, 0.0))
    return float(energy)
