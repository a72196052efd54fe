"""Contacts of given vertices with the body's own surface, looked at in one compiled pass ([TOK14] 5.1 and Eq. (14)).

A vertex that a tet holds touches where it comes out of that. Any other is led over the surface from a triangle that it
was at to the nearest one; whether it is behind that is the Heaviside test.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.facing import facing_shares
from supple.contact.neighbourhood import Neighbourhood
from supple.contact.self_contact import SelfContact
from supple.contact.touched import BEYOND, Fans, drop_one, project, project_one
from supple.linalg.jit import njit

__all__ = ["OPEN", "Seen", "Skin", "list_reads", "look_closely", "slide_on"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
OPEN = 0.5  #: mean edges in front of a triangle up to which a contact is a candidate of the step


class Skin(NamedTuple):
    """The surface of a body, as the plain arrays that kernels take."""

    triangles: IntArray
    rest: FloatArray
    fans: Fans
    around: Neighbourhood
    areas: FloatArray
    """Of triangles at rest [m²], (k,)."""
    rings: FloatArray
    """Sums of the areas around vertices [m²], (n,)."""
    slack: float
    thickness: float
    """[m]"""
    reach: float
    """How far in front of a triangle a contact is a candidate [m]."""

    @classmethod
    def of(cls, own: SelfContact) -> "Skin":
        return cls(*own.arrays(), own.thickness, OPEN * own.edge)


class Seen(NamedTuple):
    """What a look finds of m vertices."""

    triangle: IntArray
    """Nearest triangles, (m,)."""
    barycentric: FloatArray
    """Touched points on these, (m, 3)."""
    normal: FloatArray
    depth: FloatArray
    """[m], (m,)"""
    area: FloatArray
    """Share of the surface that a contact stands for [m²], (m,); 0 where there is none."""


@njit(cache=True)
def list_reads(vertices, triangle, skin, slots, room, count):
    """Vertices around vertices (m,) and their triangles (m,) that have no slot yet, in the order in which they are met.

    Slots (n,) are given from `count` on; `room` (n,) is memory.
    """
    found = 0
    for k in range(len(vertices)):
        for corner in range(4):
            middle = vertices[k] if corner == 3 else skin.triangles[triangle[k], corner]
            for entry in range(skin.fans.start[middle], skin.fans.start[middle + 1]):
                for other in range(3):
                    v = skin.triangles[skin.fans.triangles[entry], other]
                    if slots[v] < 0:
                        slots[v] = count + found
                        room[found] = v
                        found += 1
    return room[:found].copy()


@njit(cache=True)
def slide_on(vertices, triangle, x, skin):
    """The nearest triangles around those that vertices are at, (m,), at positions x [m], (n, 3)."""
    return project(
        x[vertices], vertices, triangle, skin.triangles, x, skin.rest, skin.fans, skin.around, 0.0, skin.slack
    )[0]  # fmt: skip


@njit(cache=True)
def look_closely(vertices, triangle, through, held, x, skin):
    """What vertices (m,) touch around triangles (m,) at positions x [m], (n, 3).

    Those that a tet holds came `through` a triangle, (m,); others have -1 there. A vertex that is behind the triangle
    that holds it, `held` (m,), or -1, and no more than half a triangle beyond its edges, stays there, so that it does
    not come and go between two.
    """
    count = len(vertices)
    now, foot = np.empty(count, np.int32), np.empty((count, 3))
    normal, depth, inside = np.empty((count, 3)), np.empty(count), np.zeros(count, np.bool_)
    for k in range(count):
        v = vertices[k]
        point, behind = (x[v, 0], x[v, 1], x[v, 2]), through[k] >= 0
        to, feet, upright, below = project_one(
            point, v, through[k] if behind else triangle[k], skin.triangles, x, skin.rest, skin.fans, skin.around,
            BEYOND if behind else 0.0, skin.slack,
        )  # fmt: skip
        inside[k] = behind and below > 0.0
        if behind and not inside[k]:
            to, feet, upright, below = project_one(
                point, v, triangle[k], skin.triangles, x, skin.rest, skin.fans, skin.around, 0.0, skin.slack
            )
        if held[k] >= 0 and held[k] != to:
            there, above, deep = drop_one(point, skin.triangles, held[k], x)
            if deep > 0.0 and min(there) > BEYOND:
                to, feet, upright, below = held[k], there, above, deep
        now[k], depth[k] = to, below
        for a in range(3):
            foot[k, a], normal[k, a] = feet[a], upright[a]
    share = facing_shares(vertices, normal, skin.triangles, skin.fans, skin.areas, x)
    area = np.zeros(len(vertices))
    for k in range(len(vertices)):
        depth[k] += skin.thickness
        # Led to the border of its own surroundings, a vertex is beside the last triangle, not behind it
        beside = depth[k] > 0.0 and (foot[k, 0] == 0.0 or foot[k, 1] == 0.0 or foot[k, 2] == 0.0)
        if depth[k] > -skin.reach and (inside[k] or not beside):
            area[k] = (skin.areas[now[k]] + share[k] * skin.rings[vertices[k]]) / 2.0
    return Seen(now, foot, normal, depth, area)
