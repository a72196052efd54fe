"""Solids of revolution around the x axis: rods and pipes from their cross-sections."""

import numpy as np

from supple.contact.box import closest_in_box
from supple.contact.collider import Closest, FloatArray, point_away
from supple.mesh import TriMesh

__all__ = ["closest_revolved", "revolve"]

_SIDES = 48  # corners of a ring


def closest_revolved(points: FloatArray, half: tuple[float, float], radius: float) -> Closest:
    """Nearest points of the solid that a rectangle of the given half sides [m] sweeps around the x axis.

    The rectangle's middle runs at `radius` [m]; at radius 0 the solid is a rod. Seen from the axis, the nearest points
    form a ring: the one above is taken.
    """
    away, outward = point_away(np.ascontiguousarray(points[:, 1:]))
    flat = closest_in_box(np.column_stack([points[:, 0], away - radius]), np.array(half))
    normal, point = np.empty((len(points), 3)), np.empty((len(points), 3))
    normal[:, 0], point[:, 0] = flat.normal[:, 0], flat.point[:, 0]
    np.multiply(flat.normal[:, 1, None], outward, out=normal[:, 1:])
    np.multiply(flat.point[:, 1, None] + radius, outward, out=point[:, 1:])
    return Closest(flat.distance, normal, point)


def revolve(profile: FloatArray, ring: bool = False) -> TriMesh:
    """Surface of a profile of (x, radius) [m], (k, 2), turned around the x axis; outward to the left of its course.

    A ring's profile is a loop; any other begins and ends on the axis, with radius 0.
    """
    count = len(profile)
    angle = 2 * np.pi * np.arange(_SIDES) / _SIDES
    x, radius = profile[:, :1], profile[:, 1:]
    rings = np.stack([np.broadcast_to(x, (count, _SIDES)), radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    number = np.arange(count * _SIDES).reshape(count, _SIDES)
    number[radius[:, 0] == 0] = number[radius[:, 0] == 0, :1]  # a pole is one point
    first = number if ring else number[:-1]
    second = np.roll(number, -1, axis=0) if ring else number[1:]
    a, b, c, d = first, second, np.roll(second, -1, axis=1), np.roll(first, -1, axis=1)
    triangles = np.stack([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)], axis=2).reshape(-1, 3)
    triangles = triangles[(np.diff(np.sort(triangles, axis=1), axis=1) > 0).all(axis=1)]
    used, corners = np.unique(triangles, return_inverse=True)
    return TriMesh(rings.reshape(-1, 3)[used], corners.reshape(-1, 3).astype(np.int32))
