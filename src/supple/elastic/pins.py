"""Which vertices are held, and along which axes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Pins"]


@dataclass(frozen=True, eq=False)
class Pins:
    """Held vertices in ascending order; where they are held is the scene's business, moment by moment."""

    vertices: NDArray[np.int32]
    """(k,)"""
    held: NDArray[np.bool_]
    """(k, 3): the axes along which each is held."""

    @classmethod
    def none(cls) -> "Pins":
        """No pin at all."""
        return cls(np.zeros(0, np.int32), np.zeros((0, 3), np.bool_))

    @classmethod
    def of(cls, vertices: ArrayLike, axes: str = "xyz") -> "Pins":
        """The given vertices held along the given axes."""
        unique = np.unique(np.asarray(vertices, np.int32))
        return cls(unique, np.tile([axis in axes for axis in "xyz"], (len(unique), 1)))

    @classmethod
    def merge(cls, parts: Iterable["Pins"]) -> "Pins":
        """All of them: an axis is held where any part holds it."""
        parts = list(parts)
        if not parts:
            return cls.none()
        vertices, place = np.unique(np.concatenate([p.vertices for p in parts]), return_inverse=True)
        held = np.zeros((len(vertices), 3), np.bool_)
        np.logical_or.at(held, place, np.concatenate([p.held for p in parts]))
        return cls(vertices.astype(np.int32), held)

    def without(self, other: "Pins") -> "Pins":
        """These pins less the axes that the other holds; vertices left with none are gone."""
        held = self.held.copy()
        common, mine, theirs = np.intersect1d(self.vertices, other.vertices, return_indices=True)
        if len(common):
            held[mine] &= ~other.held[theirs]
        keep = held.any(axis=1)
        return Pins(self.vertices[keep], held[keep])
