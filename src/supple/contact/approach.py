"""Contacts of a whole step with colliders, found once, as it begins."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Closest, Collider
from supple.contact.contacts import Contacts
from supple.contact.sets import join
from supple.contact.sides import lead_through
from supple.contact.touch import freeze
from supple.linalg.jit import njit
from supple.solve.inputs import Inputs

__all__ = ["approach_colliders", "hold_up"]

FloatArray = NDArray[np.float64]
_ALIKE = 0.5  # cosine between normals above which a vertex meets the side that it goes to, not the one it comes from
_ASTRAY = 0.25  # share of its way by which the body's own forces may lead a vertex elsewhere


def approach_colliders(
    colliders: Sequence[Collider],
    inputs: Inputs,
    vertices: NDArray[np.int32],
    begin: FloatArray,
    predicted: FloatArray,
    margin: float,
    thickness: float = 0.0,
) -> Contacts:
    """Contacts of vertices that would go from `begin` to `predicted` [m], (k, 3), if they touched nothing.

    Near are those within `margin` [m] of a collider as the step begins or ends, and those whose way leads through one.
    A vertex touches what is nearest to where it would be, or, if that is another side, to where it comes from.
    """
    found = []
    reach = margin + thickness
    placements = zip(inputs.begin.colliders, inputs.end.colliders, strict=True)
    for number, (collider, (first, last)) in enumerate(zip(colliders, placements, strict=True)):
        old, new, way, travel = _localise(
            begin, predicted, first.rotation, first.translation, last.rotation, last.translation
        )  # fmt: skip
        near = collider.near(old, travel + reach)
        if not len(near):
            continue
        old, new, way, travel = old[near], new[near], way[near], travel[near]
        came, goes = collider.closest(old), collider.closest(new)
        alike = np.einsum("ki,ki->k", came.normal, goes.normal)
        met = np.minimum(came.distance, goes.distance) < reach + _ASTRAY * travel
        passed = np.flatnonzero(~met & (alike < 0.0))
        if len(passed):
            along = way[passed] / travel[passed, None]
            met[passed] = lead_through(collider, old[passed], along, travel[passed])
        touched, aside = Closest(*(part[met] for part in goes)), alike[met] <= _ALIKE
        if aside.any():
            for part, before in zip(touched, came, strict=True):
                part[aside] = before[met][aside]
        moved = last.move(touched.point) - first.move(touched.point)
        velocity = moved / inputs.duration if inputs.duration > 0 else np.zeros_like(moved)
        rows, nothing = near[met], np.zeros(int(met.sum()))
        found.append(freeze(number, last, touched, vertices[rows], nothing, velocity, thickness))
    return join(found)


@njit(cache=True, error_model="numpy")
def hold_up(coast: FloatArray, loaded: FloatArray, again: FloatArray) -> FloatArray:
    """Where vertices of a body that touches something would go if what held them up in the last step does so again.

    Given are where they would be without loads, with loads alone, and if they were accelerated as in the last step
    [m], (k, 3). What holds up takes away no more than the loads: an impact does not repeat itself.
    """
    end = np.empty_like(loaded)
    for k in range(len(end)):
        held = fall = 0.0
        for i in range(3):
            held += (again[k, i] - loaded[k, i]) ** 2
            fall += (loaded[k, i] - coast[k, i]) ** 2
        share = 1.0 if held <= fall else np.sqrt(fall / held)
        for i in range(3):
            end[k, i] = loaded[k, i] + share * (again[k, i] - loaded[k, i])
    return end


@njit(cache=True, error_model="numpy")
def _localise(
    begin: FloatArray,
    end: FloatArray,
    turn: FloatArray,
    shift: FloatArray,
    last_turn: FloatArray,
    last_shift: FloatArray,
) -> tuple[FloatArray, ...]:
    """Points as a collider sees them at the begin and the end of a step, the ways between, and their lengths."""
    count = len(begin)
    old, new, way, length = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3)), np.empty(count)
    for k in range(count):
        total = 0.0
        for i in range(3):
            a = b = 0.0
            for j in range(3):
                a += (begin[k, j] - shift[j]) * turn[j, i]
                b += (end[k, j] - last_shift[j]) * last_turn[j, i]
            old[k, i], new[k, i], way[k, i] = a, b, b - a
            total += (b - a) ** 2
        length[k] = np.sqrt(total)
    return old, new, way, length
