"""Where the surface of a body touches colliders, and where it starts inside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.collider import Closest, Collider
from supple.contact.contacts import Contacts
from supple.contact.frozen import find_turned, freeze_near
from supple.contact.sides import keep_sides
from supple.solve.placement import Placement

__all__ = ["Overlap", "freeze", "overlaps", "touch_colliders"]

FloatArray = NDArray[np.float64]
_ALONE = np.array([[1.0, 0.0, 0.0, 0.0]])  # weights of a vertex that touches by itself


@dataclass(frozen=True, eq=False)
class Overlap:
    """Vertices of a body inside a collider."""

    collider: int
    vertices: NDArray[np.int32]
    """Ascending."""
    depth: float
    """Of the deepest of them [m]."""
    place: FloatArray
    """Where the deepest of them is [m], (3,)."""
    normal: FloatArray
    """The shortest way out for it, of unit length, (3,)."""


def touch_colliders(
    colliders: Sequence[Collider],
    begin: Sequence[Placement],
    end: Sequence[Placement],
    duration: float,
    x: FloatArray,
    vertices: NDArray[np.int32],
    areas: FloatArray,
    margin: FloatArray | float,
    thickness: float = 0.0,
    previous: Contacts | None = None,
) -> Contacts:
    """Contacts of the given vertices, ascending, at positions x [m], (n, 3), with colliders placed at the step's end.

    A contact is a vertex whose gap, the distance less `thickness` [m], is below `margin` [m], one for all or one each;
    a vertex may touch several colliders. `areas` [m²] are the vertices' shares of the surface. Touched points move
    steadily from where they are at `begin`, taking `duration` [s]; without duration they stand still.

    `previous` contacts, found with the same `end` placements, tell from which side a vertex came: where it has since
    gone so deep that another side is nearer, or all through a thin collider, its contact stays on that side.
    """
    reach = np.zeros(len(vertices)) + margin + thickness
    here, met = x[vertices], []
    for number, (collider, standing) in enumerate(zip(colliders, end, strict=True)):
        local = standing.localise(here)
        near, nearest = collider.closest_within(local, reach)
        if previous is not None and len(previous) and _is_turned(previous, number, here, vertices, near, nearest,
                                                                 standing, thickness):  # fmt: skip
            known = _recall(previous, number, standing, vertices, thickness)
            near, nearest = keep_sides(collider, local, near, nearest, *known)
        met.append((near, nearest))
    count, made = sum(len(near) for near, _ in met), 0
    out: tuple[Any, ...] = (
        np.empty((count, 4), np.int32), np.empty((count, 4)), np.empty((count, 3)), np.empty((count, 3)),
        np.empty(count), np.empty((count, 3)), np.empty(count, np.int32), np.zeros(count, np.int32),
    )  # fmt: skip
    for number, (near, nearest) in enumerate(met):
        if len(near):
            ends = begin[number], end[number]
            (R0, t0), (R, t) = (map(np.ascontiguousarray, (one.rotation, one.translation)) for one in ends)
            made = freeze_near(
                number, near, *nearest, reach, R0, t0, R, t, duration, thickness, vertices, areas, made, out
            )
    return Contacts(*(part[:made] for part in out)) if made < count else Contacts(*out)


def _is_turned(
    previous: Contacts,
    number: int,
    x: FloatArray,
    vertices: NDArray[np.int32],
    near: NDArray[np.intp],
    nearest: Closest,
    placement: Placement,
    thickness: float,
) -> bool:
    """Whether a vertex that touched a collider may have gone through it: behind where it touched, and another side is
    nearer, or none is near; vertices are at x [m], (k, 3)."""
    touched = previous.source, previous.vertices, previous.offset, previous.normal
    R = np.ascontiguousarray(placement.rotation)
    return bool(find_turned(number, *touched, x, vertices, near, nearest.normal, R, thickness))


def overlaps(
    colliders: Sequence[Collider],
    placements: Sequence[Placement],
    x: FloatArray,
    vertices: NDArray[np.int32],
    tolerance: float = 0.0,
) -> list[Overlap]:
    """Colliders that hold some of the given vertices deeper than `tolerance` [m] at positions x [m], (n, 3)."""
    found = []
    for number, (collider, placement) in enumerate(zip(colliders, placements, strict=True)):
        local = placement.localise(x[vertices])
        near = collider.near(local, -tolerance)
        nearest = collider.closest(local[near])
        inside = nearest.distance < -tolerance
        if inside.any():
            worst = int(nearest.distance.argmin())
            out = placement.turn(nearest.normal[worst])
            depth, place = -float(nearest.distance[worst]), x[vertices[near[worst]]]
            found.append(Overlap(number, vertices[near[inside]], depth, place, out))
    return found


def _recall(
    previous: Contacts, number: int, placement: Placement, vertices: NDArray[np.int32], thickness: float
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """Rows of `vertices` that touched a collider, and normals and touched points [m], (k, 3), as it sees them."""
    rows = np.flatnonzero(previous.source == number)
    place = np.minimum(np.searchsorted(vertices, previous.vertices[rows, 0]), max(len(vertices) - 1, 0))
    again = vertices[place] == previous.vertices[rows, 0]
    rows, place = rows[again], place[again]
    normal = previous.normal[rows]
    foot = placement.localise(previous.offset[rows] - thickness * normal)
    return place, normal @ placement.rotation, foot


def freeze(
    number: int,
    placement: Placement,
    nearest: Closest,
    vertices: NDArray[np.int32],
    areas: FloatArray,
    velocity: FloatArray,
    thickness: float,
) -> Contacts:
    """Contacts of vertices with what is nearest to them of collider `number`."""
    count = len(vertices)
    normal = placement.turn(nearest.normal)
    return Contacts(
        vertices=np.repeat(vertices.astype(np.int32)[:, None], 4, axis=1),
        weights=_ALONE.repeat(count, axis=0),
        offset=placement.move(nearest.point) + thickness * normal,
        normal=normal,
        area=areas,
        velocity=velocity,
        source=np.full(count, number, dtype=np.int32),
        feature=np.zeros(count, dtype=np.int32),
    )
