"""Which vertices are held, and along which axes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.arguments import as_indices, check_type, refuse, remember

__all__ = ["Pins"]


@dataclass(frozen=True, eq=False)
class Pins:
    """Held vertices in ascending order; where they are held is the scene's business, moment by moment."""

    vertices: NDArray[np.int32]
    """(k,)"""
    held: NDArray[np.bool_]
    """(k, 3): the axes along which each is held."""
    masked: int | None = None
    """Length of the mask they were given by; it must be as many as the body has vertices."""

    def __post_init__(self) -> None:
        vertices, held = as_indices(self.vertices, "Pins(vertices)"), np.asarray(self.held)
        if (np.diff(vertices) <= 0).any():
            refuse("Pins(vertices)", "numbers that do not ascend", "each once, in ascending order", "Use Pins.of.")
        if held.shape != (len(vertices), 3) or held.dtype != np.bool_:
            refuse("Pins(held)", f"shape {held.shape} of {held.dtype}", f"booleans of shape ({len(vertices)}, 3)")
        remember(self, vertices=vertices, held=held)

    @classmethod
    def none(cls) -> "Pins":
        """No pin at all."""
        return cls(np.zeros(0, np.int32), np.zeros((0, 3), np.bool_))

    @classmethod
    def of(cls, vertices: ArrayLike, axes: str = "xyz") -> "Pins":
        """The given vertices, numbers or a mask (n,) of booleans, held along the given axes."""
        if not isinstance(axes, str) or not axes or not set(axes) <= set("xyz"):
            refuse("Pins.of(axes)", repr(axes), 'letters out of "xyz"')
        unique = np.unique(as_indices(vertices, "Pins.of(vertices)"))
        given = np.asarray(vertices)
        held = np.tile([axis in axes for axis in "xyz"], (len(unique), 1))
        return cls(unique, held, len(given) if given.dtype == np.bool_ else None)

    def check(self, count: int, where: str) -> None:
        """Refuse pins that do not fit a body of so many vertices; `where` is "Class(argument)"."""
        if self.masked not in (None, count):
            refuse(where, f"a mask ({self.masked},)", f"({count},)")
        if len(self.vertices) and self.vertices[-1] >= count:
            refuse(where, f"vertex {self.vertices[-1]}", f"numbers up to {count - 1}")

    @classmethod
    def merge(cls, parts: Iterable["Pins"]) -> "Pins":
        """All of them: an axis is held where any part holds it."""
        parts = list(parts)
        for number, one in enumerate(parts):
            check_type(one, f"Pins.merge(parts[{number}])", Pins, "Pins", "Use Pins.of.")
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
