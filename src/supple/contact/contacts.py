"""Points that touch, frozen while a step is solved.

A contact is a vertex and what it touches: a point of a collider, or a point of a triangle of the body's own surface.
Either way its gap is d = sum_k w_k x_k - offset over at most four vertices, linear in the positions; its normal n
points away from what is touched. It penetrates where n·d < 0.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.contact.places import read
from supple.linalg.jit import njit

__all__ = ["SELF", "Contacts"]

FloatArray = NDArray[np.float64]
SELF = -1  #: the source of contacts of a body with itself


@dataclass(frozen=True, eq=False)
class Contacts:
    """m frozen contacts, sorted by source, then vertex."""

    vertices: NDArray[np.int32]
    """The touching vertex and the corners of the triangle; for a collider that vertex four times, (m, 4)."""
    weights: FloatArray
    """1 and minus the point's barycentric coordinates; for a collider 1, 0, 0, 0, (m, 4)."""
    offset: FloatArray
    """The touched point of a collider, moved out by the thickness [m], (m, 3); zero for self-contact without one."""
    normal: FloatArray
    """Unit length, away from what is touched, (m, 3)."""
    area: FloatArray
    """Share of the surface the contact stands for, k_a of Eq. (6) of [TOK14] [m²], (m,)."""
    velocity: FloatArray
    """Of the touched point of a collider [m/s], (m, 3); zero for self-contact."""
    source: NDArray[np.int32]
    """Number of the collider, or SELF, (m,)."""
    feature: NDArray[np.int32]
    """Touched triangle of the body's surface; 0 for colliders, (m,)."""

    @classmethod
    def none(cls) -> "Contacts":
        """No contact at all."""
        return cls(
            np.zeros((0, 4), np.int32), np.zeros((0, 4)), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0),
            np.zeros((0, 3)), np.zeros(0, np.int32), np.zeros(0, np.int32),
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.source)

    @cached_property
    def are_of_vertices(self) -> bool:
        """Whether none of them is of two edges."""
        return bool((self.weights[:, 0] == 1.0).all())

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """One for each source and vertex, (m,); ascending where all are of vertices."""
        source, vertex = self.source.astype(np.int64), self.vertices[:, 0].astype(np.int64)
        return np.asarray(((source + 1) << 54) + (vertex << 27), np.int64)

    def gap(self, x: FloatArray) -> FloatArray:
        """d at positions x [m], (m, 3)."""
        return _find_gaps(self.vertices, self.weights, self.offset, read(x, self.vertices))

    def depth(self, x: FloatArray) -> FloatArray:
        """How deep each contact penetrates at positions x [m], (m,); negative where it is open."""
        return -np.asarray(np.einsum("mi,mi->m", self.normal, self.gap(x)))

    def scatter(self, forces: FloatArray, count: int) -> FloatArray:
        """Forces along the gaps [N], (m, 3), on the vertices, (count, 3): Eqs. (6) and (8) of [TOK14]."""
        return _scatter(self.vertices, self.weights, forces, count)


@njit(cache=True)
def _find_gaps(vertices: NDArray[np.int32], weights: FloatArray, offset: FloatArray, x: FloatArray) -> FloatArray:
    gaps = np.empty((len(vertices), 3))
    for m in range(len(vertices)):
        for axis in range(3):
            gap = -offset[m, axis]
            for k in range(vertices.shape[1]):
                gap += weights[m, k] * x[vertices[m, k], axis]
            gaps[m, axis] = gap
    return gaps


@njit(cache=True)
def _scatter(vertices: NDArray[np.int32], weights: FloatArray, forces: FloatArray, count: int) -> FloatArray:
    total = np.zeros((count, 3))
    for m in range(len(vertices)):
        for k in range(vertices.shape[1]):
            for axis in range(3):
                total[vertices[m, k], axis] += weights[m, k] * forces[m, axis]
    return total
