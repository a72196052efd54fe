"""The colliders of a recording as they are drawn: around the body, or as the ground below it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.io import Cache
from supple.mesh import TriMesh
from supple.picture import find_bounds
from supple.picture.camera import Bounds, axis_index
from supple.picture.colour import parse_colour
from supple.picture.surface import BODY_COLOUR, NO_VALUE_COLOUR

__all__ = ["Props"]

FloatArray = NDArray[np.float64]
COLOUR = "#aeb4bd"  # of steel
MARGIN = 0.35  #: body sizes that are seen of colliders around the body


class Props:
    """Colliders beside the body's drawn surface; a floor is drawn as the ground, a ceiling left out."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._axis = axis_index(cache.info.up_axis)
        first = cache.colliders(0)
        level = [number for number, shape in enumerate(first) if self._stays_level(number, shape)]
        up = np.eye(3)[self._axis]
        self._floors = [
            float(first[number].vertices[0, self._axis]) for number in level if first[number].face_normals()[0] @ up > 0
        ]  # and a ceiling, which would hide what is below it, is not drawn at all
        self._drawn = [number for number in range(len(first)) if number not in level]
        self._shapes = [first[number] for number in self._drawn]
        self.count = sum(len(shape.vertices) for shape in self._shapes)  #: vertices

    def __bool__(self) -> bool:
        return bool(self._shapes or self._floors)

    def positions(self, i: int) -> FloatArray:
        """Positions [m] of the colliders that are drawn in frame `i`, (count, 3)."""
        if not self._shapes:
            return np.zeros((0, 3))
        placed = self._cache.colliders(i)
        return np.concatenate([placed[number].vertices for number in self._drawn])

    def join_triangles(self, body: NDArray[np.int32]) -> NDArray[np.int32]:
        """Triangles of the body's surface and of the colliders behind its vertices."""
        before = len(self._cache.surface_positions(0)) + np.cumsum([0] + [len(s.vertices) for s in self._shapes])
        parts = [shape.triangles + start for shape, start in zip(self._shapes, before, strict=False)]
        return np.concatenate([body, *parts]).astype(np.int32)

    def colours(self, body: int, with_values: bool) -> FloatArray:
        """Colours of all vertices: so many of the body, then those of the colliders."""
        own = parse_colour(NO_VALUE_COLOUR if with_values else BODY_COLOUR)
        return np.concatenate([np.tile(own, (body, 1)), np.tile(parse_colour(COLOUR), (self.count, 1))])

    @cached_property
    def bounds(self) -> Bounds:
        """Box around the body in all frames and what of the colliders is near it."""
        frames = range(self._cache.frames)
        low, high = find_bounds(self._cache.surface_positions(i) for i in frames)
        margin = MARGIN * float((high - low).max())
        near = [np.clip(self.positions(i), low - margin, high + margin) for i in frames] if self._shapes else []
        return find_bounds([low, high, *near])

    @property
    def ground(self) -> float:
        """Height of the ground: that of the highest floor, or of the lowest thing seen [m]."""
        return max(self._floors) if self._floors else float(self.bounds[0][self._axis])

    def _stays_level(self, number: int, first: TriMesh) -> bool:
        """Whether a collider is an open, level plane that stays at its height."""
        if first.is_closed():
            return False
        tolerance = 1e-9 * float(np.ptp(first.vertices, axis=0).max())
        heights = (self._cache.colliders(i)[number].vertices[:, self._axis] for i in range(self._cache.frames))
        return all(float(np.abs(height - first.vertices[0, self._axis]).max()) <= tolerance for height in heights)
