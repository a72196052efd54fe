"""Clusters of elements that turn together: few projections stand for all, and nothing is fitted.

Elements are gathered around samples. A cluster sees the mean F̄ of its elements' values, weighted as they are, and is
projected as if it were one of them; what elements deviate from the mean resists with a constant share α:

    E(q) = Σ_c λ_c/2 |F̄_c - p(F̄_c)|² + α/2 Σ_e λ_e |F_e - F̄_c(e)|²

The second sum is quadratic and only enters the constant matrix. E is therefore an energy of projective dynamics like
the exact one: its objective falls in every iteration, it turns with the body, and it keeps momentum. One element a
cluster is the exact energy. Deviations are partly turns, which cost nothing, and the constraint need not resist all
that is left: hence α < 1.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import Constraint, Stencils
from supple.mesh.geodesic import Geodesics, Search
from supple.subspace.position_space import PositionSpace
from supple.subspace.reduced_stencils import ReducedStencils, reduce_stencils, reduced_stiffness

__all__ = [
    "RotationClusters",
    "can_cluster",
    "cluster_elements",
    "cluster_projections",
    "gather_clusters",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
STRAINED = 0.5
"""How much of what elements deviate from the mean of their cluster counts as strain, the rest as turns.

Of low elastic modes it is 0.6, but spaces of few handles are too stiff by themselves: with 0.5 (0.4 at 120 handles)
motions come nearest to unreduced ones, for Poisson's ratios from 0 to 0.45. Deviations of volume count nothing: only
the mean volume of a cluster resists, as in elements that do not lock.
"""
_SHEAR = 0.2  # large enough that constraints with some slack resist


@dataclass(frozen=True, eq=False)
class RotationClusters:
    """One type of constraint seen through clusters of its elements."""

    whole: Constraint
    """All elements."""
    constraint: Constraint
    """The clusters, each as one element."""
    share: FloatArray
    """α of every cluster, (s,)."""
    seen: ReducedStencils
    """Ḡ: the clusters' S U."""
    stiffness: sp.csr_array
    """What the energy adds to the constant matrix [N/m], (c, c)."""

    def seen_by_rows(self, columns: int) -> sp.csr_array:
        """Ḡ with all clusters of a row after each other, (3 s, c)."""
        rows = np.arange(3 * len(self.constraint.stencils)).reshape(-1, 3).T.ravel()
        return sp.csr_array(self.seen.matrix(columns)[rows])

    @cached_property
    def pull(self) -> FloatArray:
        """ḠᵀΛ, what projections add to the right-hand side, (c, 3 s)."""
        G = self.seen_by_rows(self.stiffness.shape[0])
        return np.asarray((G * np.tile(self.constraint.weight, 3)[:, None]).toarray().T)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is fitted: forces are those of an energy, without a torque of their own."""
        return True

    @property
    def members(self) -> IntArray:
        """Which clusters are evaluated: all."""
        return np.arange(len(self.constraint.stencils))

    @property
    def fit(self) -> FloatArray:
        """None, of no size: projections are coefficients themselves."""
        return np.zeros((0, 0))

    def describe(self) -> str:
        """What is evaluated, in a user's words."""
        few, many = len(self.constraint.stencils), len(self.whole.stencils)
        return (
            f"{many:,} {self.whole.kind} constraints evaluated in {few:,} clusters, within which "
            f"{100.0 * self.share.mean():.0f} % of what differs resists"
        )


def can_cluster(constraint: Constraint) -> bool:
    """Whether values are deformation gradients in space, whose mean is one too."""
    return constraint.stencils.rows == 3 and not constraint.guided


def cluster_elements(graph: Geodesics, samples: NDArray[np.integer], constraint: Constraint) -> IntArray:
    """The cluster of every element, (e,): that of the sample nearest to one of its vertices.

    Elements of different materials are kept apart where these are few.
    """
    vertices, count = constraint.stencils.vertices, len(constraint.stencils)
    if len(samples) >= count:
        return np.arange(count)
    nearest, owner, search = np.full(len(graph.points), np.inf), np.zeros(len(graph.points), np.int64), Search(graph)
    for number, sample in enumerate(samples):
        owner[search.approach(int(sample), nearest)] = number
    chosen = vertices[np.arange(count), np.argmin(nearest[vertices], axis=1)]
    around, kinds = owner[chosen], _tell_materials(constraint)
    found, cluster = np.unique(around + len(samples) * kinds, return_inverse=True)
    if len(found) > 2 * len(samples):
        cluster = np.unique(around, return_inverse=True)[1]
    return np.asarray(cluster, np.int64)


def _tell_materials(constraint: Constraint) -> IntArray:
    """A number for what every element is made of, (e,)."""
    moduli = np.vstack([constraint.weight / constraint.stencils.measure, constraint.parameters])
    top = np.abs(moduli).max(axis=1, keepdims=True)
    moduli = np.round(moduli / np.where(top > 0.0, top, 1.0), 6)
    if (moduli == moduli[:, :1]).all():
        return np.zeros(len(constraint.stencils), np.int64)
    return np.asarray(np.unique(moduli, axis=1, return_inverse=True)[1], np.int64).ravel()


def gather_clusters(constraint: Constraint, cluster: IntArray) -> Constraint:
    """The constraint of the clusters' means, given the cluster of every element, (e,)."""
    own, count = constraint.stencils, int(cluster.max()) + 1
    weight, measure = (np.bincount(cluster, of, count).astype(np.float64) for of in (constraint.weight, own.measure))
    share = constraint.weight / weight[cluster]
    size = int(own.vertices.max()) + 1
    pairs, place = np.unique(cluster[:, None] * size + own.vertices, return_inverse=True)
    owner, vertex = np.divmod(pairs, size)
    starts = np.searchsorted(owner, np.arange(count))
    at = owner, np.arange(len(owner)) - starts[owner]
    vertices = np.repeat(vertex[starts][:, None], int(at[1].max()) + 1, axis=1)
    vertices[at] = vertex
    operator = np.zeros((count, own.rows, vertices.shape[1]))
    for row in range(own.rows):
        amounts = share[:, None] * own.operator[:, row]
        operator[:, row][at] = np.bincount(place.ravel(), amounts.ravel())
    means = [np.bincount(cluster, share * values, count) for values in constraint.parameters]
    stencils = Stencils(vertices.astype(np.int32), operator, measure)
    return replace(constraint, stencils=stencils, weight=weight, parameters=np.reshape(means, (-1, count)))


def cluster_projections(
    constraint: Constraint, positions: PositionSpace, cluster: IntArray, strained: float = STRAINED
) -> RotationClusters:
    """The constraint through clusters, given that of every element, (e,)."""
    few = gather_clusters(constraint, cluster)
    seen = reduce_stencils(few.stencils, np.arange(len(few.stencils)), positions)
    G = seen.matrix(positions.columns)
    share = strained * shear_share(few)
    mean = np.repeat((1.0 - share) * few.weight, few.stencils.rows)
    inner = reduced_stiffness(constraint.stencils, share[cluster] * constraint.weight, positions)
    return RotationClusters(constraint, few, share, seen, sp.csr_array(inner + G.T @ (G * mean[:, None])))


def shear_share(constraint: Constraint) -> FloatArray:
    """How much of λ/2 |F - 1|² a shear F of each element costs, (e,)."""
    shear = np.diag([1.0 + _SHEAR, 1.0 - _SHEAR, 1.0])
    energies = constraint.distances(np.broadcast_to(shear, (len(constraint.stencils), 3, 3)))
    return np.asarray(energies / (2.0 * _SHEAR**2))
