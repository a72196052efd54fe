"""Signed distances of simple solids, and how they are moved and joined.

Every field changes by at most one metre a metre, as stuffing expects; where solids are joined or stretched it
is smaller than the true distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Field",
    "box",
    "cone",
    "cylinder",
    "ellipsoid",
    "mirrored",
    "moved",
    "scaled",
    "smooth_difference",
    "smooth_intersection",
    "smooth_union",
    "sphere",
    "stood",
    "tube",
]

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Field:
    """A signed distance [m], negative inside, and a box around the inside."""

    value: Callable[[Points], NDArray[np.float64]]
    low: NDArray[np.float64]  #: lowest corner [m], shape (3,)
    high: NDArray[np.float64]  #: highest corner [m], shape (3,)

    def __call__(self, points: Points) -> NDArray[np.float64]:
        """Signed distances [m] at points of shape (k, 3), shape (k,)."""
        return self.value(points)

    def bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lowest and highest corner [m] of the box around the inside, each of shape (3,)."""
        return self.low, self.high


def sphere(centre: ArrayLike, radius: float) -> Field:
    """A ball."""
    middle = _vector(centre)
    return Field(lambda points: _norm(points - middle) - radius, middle - radius, middle + radius)


def ellipsoid(centre: ArrayLike, radii: ArrayLike) -> Field:
    """A ball stretched to `radii` [m] along the axes; the value underestimates the distance outside."""
    middle, axes = _vector(centre), _vector(radii)
    least = float(axes.min())
    return Field(lambda points: least * (_norm((points - middle) / axes) - 1.0), middle - axes, middle + axes)


def box(centre: ArrayLike, half_sides: ArrayLike, rounding: float = 0.0) -> Field:
    """A brick with edges rounded to the given radius [m]."""
    middle, half = _vector(centre), _vector(half_sides)
    core = half - rounding

    def value(points: Points) -> NDArray[np.float64]:
        return _box_distance(np.abs(points - middle) - core) - rounding

    return Field(value, middle - half, middle + half)


def cylinder(centre: ArrayLike, half_length: float, radius: float) -> Field:
    """A cylinder along x with sharp rims."""
    middle = _vector(centre)
    reach = np.array([half_length, radius, radius])

    def value(points: Points) -> NDArray[np.float64]:
        local = points - middle
        return _box_distance(np.column_stack([np.abs(local[:, 0]) - half_length, _norm(local[:, 1:]) - radius]))

    return Field(value, middle - reach, middle + reach)


def cone(start: ArrayLike, end: ArrayLike, start_radius: float, end_radius: float) -> Field:
    """The hull of two balls, neither inside the other: a capsule, tapering if the radii differ."""
    first, last = _vector(start), _vector(end)
    axis = last - first
    length = float(np.linalg.norm(axis))
    axis = axis / length
    slope = (start_radius - end_radius) / length  # sine of the angle between the side and the axis
    low = np.minimum(first - start_radius, last - end_radius)
    high = np.maximum(first + start_radius, last + end_radius)

    def value(points: Points) -> NDArray[np.float64]:
        local = points - first
        along = _turn(local, axis[:, None])[:, 0]
        away = _norm(local - along[:, None] * axis)
        # The side touches both balls, so the nearest ball lies where a normal of the side meets the axis.
        foot = np.clip(along - away * slope / np.sqrt(1.0 - slope**2), 0.0, length)
        return np.asarray(np.hypot(along - foot, away) - (start_radius - slope * foot))

    return Field(value, low, high)


def tube(*stations: tuple[ArrayLike, float]) -> Field:
    """Cones from station to station, each a centre and a radius [m]: a limb."""
    cones = [cone(start, end, first, last) for (start, first), (end, last) in pairwise(stations)]
    # Cones share a ball where they meet; blending would only swell it.
    return _join(cones, np.minimum)


def moved(field: Field, rotation: ArrayLike, offset: ArrayLike = (0.0, 0.0, 0.0)) -> Field:
    """The field turned by a rotation matrix, then moved by `offset` [m]."""
    turn, shift = np.asarray(rotation, dtype=np.float64), _vector(offset)
    middle, half = (field.low + field.high) / 2, (field.high - field.low) / 2
    reach = np.abs(turn) @ half
    centre = turn @ middle + shift
    return Field(lambda points: field(_turn(points - shift, turn)), centre - reach, centre + reach)


def scaled(field: Field, factor: float) -> Field:
    """The field `factor` times as large, about the origin."""
    return Field(lambda points: factor * field(points / factor), factor * field.low, factor * field.high)


def mirrored(field: Field) -> Field:
    """The field, which lies at x > 0, together with its mirror image at x < 0."""

    def value(points: Points) -> NDArray[np.float64]:
        folded = points.copy()
        folded[:, 0] = np.abs(folded[:, 0])
        return field(folded)

    return Field(value, np.array([-field.high[0], *field.low[1:]]), field.high)


def smooth_union(fields: Sequence[Field], blend: float) -> Field:
    """All fields joined in turn, seams filleted over about `blend` [m]."""
    return _join(fields, lambda a, b: _soft_min(a, b, blend), blend / 4)


def _join(fields: Sequence[Field], least: Callable[[Points, Points], Points], swell: float = 0.0) -> Field:
    low = np.min([field.low for field in fields], axis=0) - swell
    high = np.max([field.high for field in fields], axis=0) + swell
    return Field(lambda points: reduce(least, (field(points) for field in fields)), low, high)


def smooth_intersection(one: Field, two: Field, blend: float) -> Field:
    """What lies in both fields, edges rounded over about `blend` [m]."""
    low, high = np.maximum(one.low, two.low), np.minimum(one.high, two.high)
    return Field(lambda points: -_soft_min(-one(points), -two(points), blend), low, high)


def smooth_difference(one: Field, two: Field, blend: float) -> Field:
    """What lies in the first field but not in the second, edges rounded over about `blend` [m]."""
    return Field(lambda points: -_soft_min(-one(points), two(points), blend), one.low, one.high)


def stood(field: Field, blend: float) -> Field:
    """The field cut flat at the ground, y = 0."""
    far = 2.0 * float(np.abs([field.low, field.high]).max())
    return smooth_intersection(field, box((0.0, far, 0.0), (far, far, far)), blend)


def _soft_min(a: NDArray[np.float64], b: NDArray[np.float64], blend: float) -> NDArray[np.float64]:
    """Minimum with a parabola where the values differ by less than `blend`; its slope is a mean of theirs."""
    overlap = np.maximum(blend - np.abs(a - b), 0.0)
    smooth: NDArray[np.float64] = np.minimum(a, b) - overlap**2 / (4.0 * blend)
    return smooth


def _box_distance(beyond: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distance [m] to a box from how far each coordinate lies beyond its side (below 0 within), (k,)."""
    distance: NDArray[np.float64] = _norm(np.maximum(beyond, 0.0)) + np.minimum(beyond.max(axis=1), 0.0)
    return distance


def _turn(vectors: NDArray[np.float64], matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Vectors (n, 3) times a matrix (3, k), summed in the same order on every processor: a mesh is cut by the digits of
    distances, where a lattice point lies on the surface."""
    return np.asarray(vectors[:, :1] * matrix[0] + vectors[:, 1:2] * matrix[1] + vectors[:, 2:] * matrix[2])


def _norm(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return lengths


def _vector(values: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)
