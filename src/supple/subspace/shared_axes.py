"""Triangles of a cluster seen by the same two axes, so that their deformation gradients have a mean.

A triangle knows its gradient along two axes T_e (2 x 3) in its own plane. The gradient in space that explains those of
a cluster best, Σ λ |F_e - T_e F|² least, is P⁻¹ Σ λ T_eᵀ F_e with P = Σ λ T_eᵀ T_e, where λ sum up to 1. Of it the rows
along the two axes of P of largest extent are projected: the plane of a flat cluster. Both extents are between 1/2 and
1, because the three of them add up to 2 and none is above 1.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from supple.constraint import Constraint

__all__ = ["SharedAxes", "share_axes"]

FloatArray = NDArray[np.float64]
_FLAT = 1e-9  # extent below which a cluster has no third axis


@dataclass(frozen=True, eq=False)
class SharedAxes:
    """Triangles by the axes of their clusters."""

    constraint: Constraint
    """The triangles: means of their values, weighted as they are, are those of the clusters."""
    metric: FloatArray
    """How much of Σ λ |F_e|² the mean explains along each axis, 1 where a cluster is flat, (s, 2)."""
    third: Constraint
    """The same along the axis that is left, with all of it explained: nothing where a cluster is flat."""


def share_axes(constraint: Constraint, cluster: NDArray[np.int64], rest: FloatArray) -> SharedAxes:
    """Given the cluster of every triangle, (e,), and the rest positions [m], (n, 3)."""
    own, count = constraint.stencils, int(cluster.max()) + 1
    T = own.values(rest)
    share = constraint.weight / np.bincount(cluster, constraint.weight, count)[cluster]
    products = (share[:, None, None] * (T.transpose(0, 2, 1) @ T)).reshape(-1, 9)
    P = np.stack([np.bincount(cluster, column, count) for column in products.T], axis=1).reshape(-1, 3, 3)
    extents, axes = np.linalg.eigh(P)
    extents[:, 0] = np.where(extents[:, 0] > _FLAT, extents[:, 0], np.inf)
    scale = np.column_stack([np.sqrt(extents[:, 0]), extents[:, 1:]])
    turned = (axes / scale[:, None, :]).transpose(0, 2, 1)[cluster] @ T.transpose(0, 2, 1) @ own.operator
    third, plane = (replace(constraint, stencils=replace(own, operator=rows)) for rows in np.split(turned, [1], axis=1))
    return SharedAxes(plane, extents[:, 1:], third)
