"""The local step of projective dynamics over all elements of one constraint, in an order that suits caches."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supple.constraint.constraint import Constraint
from supple.constraint.kernels import PARALLEL_FROM, Loops
from supple.elastic.clusters import Clusters, cluster
from supple.linalg.rotation import nearest_quaternions

__all__ = ["LocalStep"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LocalStep:
    """A constraint's arrays, sorted into clusters; every array runs over the elements in its last axis."""

    constraint: Constraint
    vertices: NDArray[np.int32]
    """(a, e)"""
    operator: FloatArray
    """(p a, e)"""
    weight: FloatArray
    parameters: FloatArray
    clusters: Clusters
    loops: Loops

    @classmethod
    def build(cls, constraint: Constraint, rest: FloatArray, number: NDArray[np.integer]) -> "LocalStep":
        """The local step of a body at `rest` [m], (n, 3), whose vertex v is called number[v]."""
        stencils = constraint.stencils
        clusters = cluster(rest[stencils.vertices].mean(axis=1), stencils.vertices)
        order = clusters.order
        flat = stencils.operator[order].reshape(len(order), -1)
        return cls(
            constraint,
            np.ascontiguousarray(number[stencils.vertices[order]].T.astype(np.int32)),
            np.ascontiguousarray(flat.T),
            constraint.weight[order],
            np.ascontiguousarray(constraint.parameters[:, order]),
            clusters,
            constraint.loops(warm=True, parallel=len(order) >= PARALLEL_FROM),
        )

    def changed(self, stiffness: float, volume: float) -> "LocalStep":
        """The same with the energy multiplied and another target volume."""
        inflated = self.constraint.inflated(volume)
        order = self.clusters.order
        parameters = np.ascontiguousarray(inflated.parameters[:, order])
        return replace(self, weight=stiffness * inflated.weight[order], parameters=parameters)

    def recall(self, x: FloatArray) -> FloatArray:
        """What the first `pull` at positions x [m] should remember: quaternions (4, e), or nothing, (0, e)."""
        if self.constraint.warm_lane is None:
            return np.zeros((0, len(self.weight)))
        rows, width = self.constraint.stencils.rows, len(self.vertices)
        values = np.einsum("pae,aei->epi", self.operator.reshape(rows, width, -1), x[self.vertices], optimize=True)
        return np.asarray(nearest_quaternions(np.ascontiguousarray(values)))

    def pull(self, x: FloatArray, memory: FloatArray, out: FloatArray) -> float:
        """Add the forces at x [m] to `out` [N], both (n, 3), and return the energy [J]; `memory` is brought up to x."""
        start, colour = self.clusters.start, self.clusters.colour
        sums = np.empty(len(start) - 1)
        self.loops.pull(x, self.vertices, self.operator, self.weight, self.parameters, memory, start, colour, out, sums)
        return float(sums.sum())
