"""What touches at the end of a step, for who wants to see it."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Touch", "join_touches"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Touch:
    """m contacts that act, with what they do: they penetrate, or opened in the last iterations and hold sideways."""

    vertex: NDArray[np.int32]
    """The touching vertex, (m,)."""
    source: NDArray[np.int32]
    """Number of the collider, or SELF, (m,)."""
    point: FloatArray
    """Where it touches [m], (m, 3)."""
    normal: FloatArray
    """Unit length, away from what is touched, (m, 3)."""
    depth: FloatArray
    """[m], 0 where a contact has opened, (m,)."""
    force: FloatArray
    """On what touches [N], (m, 3): pressure and friction; what is touched feels the opposite."""
    bearing: NDArray[np.int32]
    """Vertices that bear each force: the touching one and the corners of what it touches of the body, (m, 4)."""
    weights: FloatArray
    """Their shares of it, negative for what is touched; for the body itself they sum to 0, (m, 4)."""

    def __len__(self) -> int:
        return len(self.vertex)

    def renumbered(self, vertices: NDArray[np.int32]) -> "Touch":
        """The same, where what was vertex k is vertices[k]."""
        return replace(self, vertex=vertices[self.vertex], bearing=vertices[self.bearing])

    def spread(self, count: int) -> FloatArray:
        """Forces on `count` vertices [N], (count, 3)."""
        total = np.zeros((count, 3))
        np.add.at(total, self.bearing, self.weights[:, :, None] * self.force[:, None, :])
        return total


def join_touches(found: Sequence[Touch]) -> Touch | None:
    """All contacts of several lists; None where there are none."""
    if not found:
        return None
    return Touch(*(np.concatenate([getattr(one, field.name) for one in found]) for field in fields(Touch)))
