"""The local step of projective dynamics over all elements of one constraint, in blocks that suit caches."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supple.constraint.constraint import Constraint
from supple.constraint.kernels import LANES, PARALLEL_FROM, Loops
from supple.elastic.clusters import cluster
from supple.linalg.rotation import nearest_quaternions

__all__ = ["LocalStep", "Memory"]

FloatArray = NDArray[np.float64]
Memory = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LocalStep:
    """A constraint's arrays in blocks of LANES elements; the last elements of a cluster repeat one without weight."""

    constraint: Constraint
    members: NDArray[np.int64]
    """The element in every lane, (blocks, LANES)."""
    vertices: NDArray[np.int32]
    """(blocks, a, LANES)"""
    operator: FloatArray
    """(blocks, p (a - 1), LANES), the first vertex left out; (blocks, p, LANES) of positions."""
    weight: FloatArray
    """(blocks, LANES)"""
    parameters: FloatArray
    """(blocks, k, LANES)"""
    start: NDArray[np.int64]
    """First block of every cluster."""
    colour: NDArray[np.int64]
    """First cluster of every colour."""
    loops: Loops

    @classmethod
    def build(cls, constraint: Constraint, rest: FloatArray, number: NDArray[np.integer]) -> "LocalStep":
        """The local step of a body at `rest` [m], (n, 3), whose vertex v is called number[v]."""
        stencils = constraint.stencils
        clusters = cluster(rest[stencils.vertices].mean(axis=1), stencils.vertices, LANES)
        sizes = np.diff(clusters.start)
        counts = -(-sizes // LANES)
        start = np.concatenate([[0], np.cumsum(counts)])
        owner = np.repeat(np.arange(len(sizes)), counts)
        place = (np.arange(len(owner)) - start[owner])[:, None] * LANES + np.arange(LANES)
        present = place < sizes[owner, None]
        members = clusters.order[clusters.start[owner, None] + np.minimum(place, sizes[owner, None] - 1)]
        # Values that a shift of the body leaves alone need no number for the first vertex
        operator = stencils.operator[:, :, int(constraint.width != 1) :]
        return cls(
            constraint,
            members,
            np.ascontiguousarray(number[stencils.vertices[members]].transpose(0, 2, 1).astype(np.int32)),
            np.ascontiguousarray(operator.reshape(len(stencils), -1)[members].transpose(0, 2, 1)),
            np.where(present, constraint.weight[members], 0.0),
            _blocks(constraint.parameters, members),
            start,
            clusters.colour,
            constraint.loops(warm=True, parallel=len(stencils) >= PARALLEL_FROM),
        )

    def changed(self, stiffness: float, volume: float) -> "LocalStep":
        """The same with the energy multiplied and another target volume, relative to those of the constraint."""
        present = self.weight != 0.0
        weight = np.where(present, stiffness * self.constraint.weight[self.members], 0.0)
        return replace(
            self, weight=weight, parameters=_blocks(self.constraint.inflated(volume).parameters, self.members)
        )

    def recall(self, x: FloatArray) -> Memory:
        """What the first `pull` at x [m] should remember: quaternions (blocks, 4, LANES), or nothing.

        Single precision is enough to begin from: two steps of Newton's method make all digits of it.
        """
        blocks, _, lanes = self.vertices.shape
        if self.constraint.warm_lane is None:
            return np.zeros((blocks, 0, lanes), np.float32)
        edges = x[self.vertices[:, 1:]] - x[self.vertices[:, :1]]
        values = np.einsum("bpal,bali->blpi", self.operator.reshape(blocks, 3, 3, lanes), edges, optimize=True)
        found = nearest_quaternions(np.ascontiguousarray(values.reshape(-1, 3, 3)))
        return np.ascontiguousarray(found.reshape(4, blocks, lanes).transpose(1, 0, 2), np.float32)

    def pull(self, x: FloatArray, memory: Memory, out: FloatArray) -> float:
        """Add the forces at x [m] to `out` [N], both (n, 3), and return the energy [J]; `memory` is brought up to x."""
        sums = np.empty(len(self.start) - 1)
        self.loops.pull(
            x, self.vertices, self.operator, self.weight, self.parameters, memory, self.start, self.colour, out, sums
        )
        return float(sums.sum())


def _blocks(rows: FloatArray, members: NDArray[np.int64]) -> FloatArray:
    return np.ascontiguousarray(rows[:, members].transpose(1, 0, 2))
