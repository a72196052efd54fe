"""Clusters of elements that turn together: few projections stand for all, and nothing is fitted.

Elements are gathered around samples. A cluster sees the mean F̄ of its elements' values, weighted as they are, and is
projected as if it were one of them; what elements deviate from the mean resists with a constant share α:

    E(q) = Σ_c λ_c/2 |F̄_c - p(F̄_c)|² + α/2 Σ_e λ_e |F_e - F̄_c(e)|²

The second sum is quadratic and only enters the constant matrix. E is therefore an energy of projective dynamics like
the exact one: its objective falls in every iteration, it turns with the body, and it keeps momentum. One element a
cluster is the exact energy. Deviations are partly turns, which cost nothing, and the constraint need not resist all
that is left: hence α < 1. Triangles are first seen by the axes of their cluster (subspace/shared_axes.py), and since
surfaces bend without stretching, next to nothing of what differs resists.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import Constraint, Stencils
from supple.mesh.geodesic import Geodesics, Search
from supple.subspace.position_space import PositionSpace
from supple.subspace.reduced_stencils import ReducedStencils, reduce_stencils, reduced_stiffness
from supple.subspace.shared_axes import share_axes

__all__ = [
    "RotationClusters",
    "can_cluster",
    "cluster_elements",
    "cluster_projections",
    "find_strained",
    "gather_clusters",
]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
_SURFACE = 0.05  # α of triangles: what differs within clusters is mostly turns, but shall not be free
_SHEAR = 0.2  # large enough that constraints with some slack resist
_MODES, _ELEMENTS = 12, 8_000  # on which the share of strain is found; so many elements tell it to two digits


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

    @cached_property
    def by_rows(self) -> tuple[sp.csr_array, FloatArray]:
        """Ḡ with all clusters of a row after each other, (p s, c), and its transpose as a dense matrix."""
        G = self.seen.by_rows().matrix(self.stiffness.shape[0])
        return G, np.ascontiguousarray(G.T.toarray())

    @cached_property
    def pull(self) -> FloatArray:
        """ḠᵀΛ, what projections add to the right-hand side, (c, p s)."""
        return np.asarray(self.by_rows[1] * np.tile(self.constraint.weight, self.constraint.stencils.rows))

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
    """Whether values are deformation gradients of tets or triangles, whose mean is one too."""
    return constraint.stencils.rows in (2, 3) and not constraint.guided


def cluster_elements(graph: Geodesics, samples: NDArray[np.integer], constraint: Constraint) -> IntArray:
    """The cluster of every element, (e,): that of the sample nearest to one of its vertices.

    Elements of different materials are kept apart where these are few.
    """
    vertices, count = constraint.stencils.vertices, len(constraint.stencils)
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
    constraint: Constraint, positions: PositionSpace, rest: FloatArray, cluster: IntArray, strained: float | None = None
) -> RotationClusters:
    """The constraint through clusters, given that of every element, (e,), and the rest positions [m], (n, 3).

    `strained` is how much of what elements deviate from their mean is strain; without it, what bends of the body say.
    """
    if constraint.stencils.rows == 2:
        return _cluster_triangles(constraint, positions, rest, cluster, _SURFACE if strained is None else strained)
    few = gather_clusters(constraint, cluster)
    if strained is None:
        strained = find_strained(constraint, few, cluster, rest, positions.mass)
    seen = reduce_stencils(few.stencils, np.arange(len(few.stencils)), positions)
    G = seen.matrix(positions.columns)
    share = strained * shear_share(few)
    mean = np.repeat((1.0 - share) * few.weight, few.stencils.rows)
    inner = reduced_stiffness(constraint.stencils, share[cluster] * constraint.weight, positions)
    return RotationClusters(constraint, few, share, seen, sp.csr_array(inner + G.T @ (G * mean[:, None])))


def _cluster_triangles(
    constraint: Constraint, positions: PositionSpace, rest: FloatArray, cluster: IntArray, strained: float
) -> RotationClusters:
    axes = share_axes(constraint, cluster, rest)
    plane, third = gather_clusters(axes.constraint, cluster), gather_clusters(axes.third, cluster)
    few = replace(plane, weight=plane.weight * axes.metric.mean(axis=1))
    every = np.arange(len(few.stencils))
    seen, across = (reduce_stencils(one.stencils, every, positions) for one in (few, third))
    G, N = seen.matrix(positions.columns), across.matrix(positions.columns)
    # What the mean explains along its three axes is no deviation
    mean = few.weight[:, None] - strained * plane.weight[:, None] * axes.metric
    inner = reduced_stiffness(constraint.stencils, strained * constraint.weight, positions)
    stiffness = inner + G.T @ (G * mean.reshape(-1, 1)) - N.T @ (N * (strained * plane.weight)[:, None])
    return RotationClusters(constraint, few, np.full(len(every), strained), seen, sp.csr_array(stiffness))


def shear_share(constraint: Constraint) -> FloatArray:
    """How much of λ/2 |F - 1|² a shear F of each element costs, (e,)."""
    shear = np.diag([1.0 + _SHEAR, 1.0 - _SHEAR, 1.0])
    energies = constraint.distances(np.broadcast_to(shear, (len(constraint.stencils), 3, 3)))
    return np.asarray(energies / (2.0 * _SHEAR**2))


def find_strained(
    constraint: Constraint, few: Constraint, cluster: IntArray, rest: FloatArray, mass: FloatArray
) -> float:
    """How much of what elements deviate from the mean of their cluster is shear, the rest being turns and volume.

    The body, at rest positions [m], (n, 3), is bent in the softest ways that polynomials of second order allow, each
    with the same energy. Volume counts nothing: like elements that do not lock, clusters resist by their mean volume.
    """
    centred = rest - mass @ rest / mass.sum()
    x, y, z = (centred / np.abs(centred).max()).T
    fields = np.column_stack([np.ones_like(x), x, y, z, x * x, y * y, z * z, x * y, y * z, z * x])
    every = np.arange(0, len(cluster), -(-len(cluster) // _ELEMENTS))
    modes, stiffness = _soft_modes(_gradients(constraint, every, fields), constraint.weight[every], fields, mass)
    sizes = np.cumsum(np.bincount(cluster))
    members = np.flatnonzero(cluster <= np.searchsorted(sizes, min(_ELEMENTS, sizes[-1])))
    mean = _gradients(few, np.arange(len(sizes)), fields)
    gaps = _gradients(constraint, members, fields) - mean[cluster[members]]
    strained = total = 0.0
    for mode, value in zip(modes.T, stiffness, strict=True):
        D = gaps @ mode.reshape(-1, 3)
        strain = 0.5 * (D + D.transpose(0, 2, 1))
        strain -= np.trace(D, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
        weight = constraint.weight[members] / value
        strained += float(weight @ np.einsum("eij,eij->e", strain, strain))
        total += float(weight @ np.einsum("eij,eij->e", D, D))
    return strained / total if total > 0.0 else 1.0


def _gradients(constraint: Constraint, members: IntArray, fields: FloatArray) -> FloatArray:
    """Of scalar fields (n, m) in some elements, (k, 3, m)."""
    own = constraint.stencils
    return np.asarray(own.operator[members] @ fields[own.vertices[members]])


def _soft_modes(
    gradients: FloatArray, weight: FloatArray, fields: FloatArray, mass: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The lowest modes of vibration that are no rigid motions, (3 m, k), and their stiffness per mass, (k,).

    Scalar fields (n, m) move the body along x, y and z; `gradients` (e, 3, m) are theirs in elements of some weight.
    """
    count = fields.shape[1]
    F = np.zeros((count, 3, *gradients.shape[:2], 3))
    for axis in range(3):
        F[:, axis, :, :, axis] = gradients.transpose(2, 0, 1)
    strain = 0.5 * (F + F.transpose(0, 1, 2, 4, 3)).reshape(3 * count, -1)
    K = (strain * np.repeat(weight, 9)) @ strain.T
    M = np.kron(fields.T @ (mass[:, None] * fields), np.eye(3))
    values, vectors = scipy.linalg.eigh(K, M + 1e-12 * np.trace(M) * np.eye(len(M)))
    return vectors[:, 6 : 6 + _MODES], values[6 : 6 + _MODES]
