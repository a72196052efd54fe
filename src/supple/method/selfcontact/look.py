"""The contacts of a rule, looked at and frozen in one compiled call: what a round of a step needs, nothing else."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.rule_look import look_closely
from supple.linalg.compiled import compile_copy
from supple.linalg.jit import njit
from supple.method.frozen_contacts import push_back
from supple.method.placed_contacts import PlacedContacts, hold
from supple.method.skinned.touch import find_gap, press

__all__ = [
    "ANEW", "HOLDS", "KEEPS", "LOOSE", "Anchors", "Asked", "Rub", "compare", "look_again", "press_parts", "push_all",
]  # fmt: skip

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
ANEW = -1  #: look: contacts hold sideways where they are found now
LOOSE = 0  #: look: where they were found first
HOLDS = 1  #: look: and triangles hold what they touched in the last look, where they may
KEEPS = 2  #: look: and what touched in the last look keeps its point, normal and area; more may come


class Asked(NamedTuple):
    """The m vertices that a step looks at."""

    vertex: IntArray
    """(m,)"""
    triangle: IntArray
    """Where to begin to look, (m,)."""
    tet: IntArray
    """That held each in the last look, or -1, (m,); looks write on."""
    spring: FloatArray
    """Stiffness of each for an area of 1 m² [N/m³], (m,): that of contact times the rule's weight."""


class Anchors(NamedTuple):
    """Where contacts were found first, so that they hold along the surface (α of Eq. (7)); looks write on."""

    triangle: IntArray
    """-1 where a vertex touches nothing, (m,)."""
    barycentric: FloatArray
    offset: FloatArray
    """[m], (m, 3)"""
    engaged: NDArray[np.bool_]
    """Which penetrated in some look, (m,)."""
    normal: FloatArray
    """Of the last look, (m, 3)."""
    area: FloatArray
    """[m²], (m,)"""
    limit: FloatArray
    """Force of sliding [N], (m,)."""

    @classmethod
    def none(cls, count: int) -> "Anchors":
        """Of contacts that nobody has looked at."""
        places, offsets, normals = (np.zeros((count, 3)) for _ in range(3))
        areas, limits = np.zeros(count), np.zeros(count)
        touched, engaged = np.full(count, -1, np.int32), np.zeros(count, np.bool_)
        return cls(touched, places, offsets, engaged, normals, areas, limits)


class Rub(NamedTuple):
    """Friction of a step."""

    coefficient: float
    slip: float
    """How far a contact moves until friction is that of sliding [m]."""
    rests: bool
    """Whether normal forces are those of the step's beginning, for no look has found others."""
    renews: bool
    """Whether known contacts take the normal forces of this look, too, and not only those that are new."""


@njit(cache=True)
def _keep(asked, anchors, seen, skin, x):
    """Give what touched in the last look the point, normal and area that it had there."""
    for k in range(len(seen.area)):
        number = anchors.triangle[k]
        if number < 0:
            continue
        seen.triangle[k], seen.area[k], seen.depth[k] = number, anchors.area[k], 0.0
        for a in range(3):
            gap = x[asked.vertex[k], a] - anchors.offset[k, a]
            for corner in range(3):
                gap -= anchors.barycentric[k, corner] * x[skin.triangles[number, corner], a]
            seen.depth[k] -= anchors.normal[k, a] * gap
            seen.normal[k, a], seen.barycentric[k, a] = anchors.normal[k, a], anchors.barycentric[k, a]


@njit(cache=True)
def _anchor(k, asked, anchors, seen, level, alpha, skin, x):
    """Where contact k holds: where it was found first at its triangle, or as it is found now."""
    n, number, same = seen.normal[k], seen.triangle[k], anchors.triangle[k] == seen.triangle[k]
    if same and level == KEEPS:
        return
    if same and alpha > 0.0 and level != ANEW:  # as deep as found, but seen from where it was
        height = aside = 0.0
        for a in range(3):
            gap = x[asked.vertex[k], a]
            for corner in range(3):
                gap -= anchors.barycentric[k, corner] * x[skin.triangles[number, corner], a]
            height += n[a] * gap
            aside += n[a] * anchors.offset[k, a]
        for a in range(3):
            anchors.offset[k, a] += (height + seen.depth[k] - aside) * n[a]
    else:  # nothing is felt along the surface there
        anchors.engaged[k] &= same
        for a in range(3):
            anchors.barycentric[k, a], anchors.offset[k, a] = seen.barycentric[k, a], skin.thickness * n[a]
    anchors.triangle[k], anchors.area[k] = number, seen.area[k]
    for a in range(3):
        anchors.normal[k, a] = n[a]


@njit(cache=True)
def look_again(asked, through, anchors, level, alpha, rub, skin, places):
    """What touches at places, and the contacts frozen there; vertices that tets hold came `through` triangles, (m,)."""
    x = places.x
    held = anchors.triangle.copy() if level >= HOLDS else np.full(len(asked.vertex), -1, np.int32)
    seen = look_closely(asked.vertex, asked.triangle, through, held, x, skin)
    if level == KEEPS:
        _keep(asked, anchors, seen, skin, x)
    count = 0
    for k in range(len(seen.area)):
        count += seen.area[k] > 0.0
    rows, vertices, slots = np.empty(count, np.int32), np.empty((count, 4), np.int32), np.empty((count, 4), np.int32)
    weights, offset, normal = np.empty((count, 4)), np.empty((count, 3)), np.empty((count, 3))
    along, across, limit, origin = np.empty(count), np.empty(count), np.zeros(count), np.zeros((count, 3))
    m = 0
    for k in range(len(seen.area)):
        if seen.area[k] == 0.0:
            anchors.triangle[k], anchors.engaged[k] = -1, False
            continue
        n, number, known = seen.normal[k], seen.triangle[k], anchors.triangle[k] >= 0
        _anchor(k, asked, anchors, seen, level, alpha, skin, x)
        anchors.engaged[k] |= seen.depth[k] > 0.0
        rows[m], vertices[m, 0], weights[m, 0] = k, asked.vertex[k], 1.0
        for a in range(3):
            vertices[m, 1 + a], weights[m, 1 + a] = skin.triangles[number, a], -anchors.barycentric[k, a]
            offset[m, a], normal[m, a] = anchors.offset[k, a], n[a]
        for corner in range(4):
            slots[m, corner] = places.slots[vertices[m, corner]]
        along[m] = asked.spring[k] * seen.area[k]
        across[m] = alpha * along[m] if anchors.engaged[k] else 0.0
        if rub.coefficient > 0.0:
            below = 0.0
            for a in range(3):
                origin[m, a] = -offset[m, a]
                for corner in range(4):
                    origin[m, a] += weights[m, corner] * places.begin[vertices[m, corner], a]
                below -= n[a] * origin[m, a]
            if rub.renews or not known:
                anchors.limit[k] = rub.coefficient * along[m] * max(below if rub.rests else seen.depth[k], 0.0)
            limit[m] = anchors.limit[k]
        m += 1
    start, first, width, at, values, base = hold(
        vertices, weights, offset, slots, places.A, places.t, skin.rest, places.shapes
    )
    slip = np.array([rub.slip])
    touch = PlacedContacts(start, first, width, at, values, base, normal, along, across, limit, origin, slip)
    return seen, rows, touch


def _press_parts(q, touch):
    """What contacts do to the coordinates, (r,): springs, and friction."""
    springs, both, count = np.zeros(q.size), np.zeros(q.size), len(touch.along)
    if not touch.limit.any():
        press(q, touch, springs)
        return springs, both
    dry = PlacedContacts(
        touch.start, touch.first, touch.width, touch.at, touch.values, touch.base, touch.normal, touch.along,
        touch.across, np.zeros(count), touch.origin, touch.slip,
    )  # fmt: skip
    press(q, dry, springs)
    press(q, touch, both)
    return springs, both - springs


def _push_all(q, touch):
    """Forces on the touching vertices, pressure and friction [N], (m, 3), as they count in the step."""
    forces, gap, aside = np.empty((len(touch.along), 3)), np.empty(3), np.empty(3)
    for i in range(len(touch.along)):
        find_gap(q, touch, i, gap)
        push_back(touch, i, gap, aside, forces[i])
    return -forces


press_parts, push_all = compile_copy(_press_parts, "ruled"), compile_copy(_push_all, "ruled")


def _compare(springs, friction, fresh, rubbing, out):
    """Fill out (3,) with the sizes of the changes of what springs and friction of contacts do to the coordinates, and
    of what the new springs do."""
    out[0], out[1] = np.sqrt(((fresh - springs) ** 2).sum()), np.sqrt(((rubbing - friction) ** 2).sum())
    out[2] = np.sqrt((fresh**2).sum())


compare = compile_copy(_compare, "ruled")
