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
    """Colliders beside the body's drawn surface; a floor is drawn as the ground."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._axis = axis_index(cache.info.up_axis)
        first, last = cache.colliders(0), cache.colliders(cache.frames - 1)
        heights = [self._height(one, other) for one, other in zip(first, last, strict=True)]
        self._floors = [height for height in heights if height is not None]
        self._drawn = [number for number, height in enumerate(heights) if height is None]
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

    def _height(self, first: TriMesh, last: TriMesh) -> float | None:
        """Height of a collider that is an open, level plane and stays where it is [m]; None for any other."""
        heights = np.concatenate([first.vertices[:, self._axis], last.vertices[:, self._axis]])
        level = float(np.ptp(heights)) <= 1e-9 * float(np.ptp(first.vertices, axis=0).max())
        return float(heights[0]) if level and not first.is_closed() else None
