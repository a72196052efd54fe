"""Points in clusters that may move as rigid pieces: the second level of a preconditioner."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.ordering import z_order

__all__ = ["RigidClusters"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RigidClusters:
    """Clusters along a curve through all points; each has displacements t + w x arm."""

    order: NDArray[np.intp]
    """Points by cluster, (n,)."""
    start: NDArray[np.int64]
    """Where each cluster begins among them, (k + 1,)."""
    owner: NDArray[np.int64]
    """Cluster of each point, (n,)."""
    arms: FloatArray
    """From the middle of the cluster to each point, in units of the clusters' size, so that all six motions weigh
    alike, (n, 3)."""

    @classmethod
    def build(cls, points: FloatArray, count: int) -> "RigidClusters":
        """So many clusters of points [m], (n, 3)."""
        if not count:
            nobody = np.zeros(len(points), np.int64)
            return cls(np.arange(len(points)), np.zeros(1, np.int64), nobody, np.zeros_like(points))
        order, start = z_order(points), np.linspace(0, len(points), count + 1).astype(np.int64)
        owner = np.empty(len(points), np.int64)
        owner[order] = np.repeat(np.arange(count), np.diff(start))
        arms = points - (np.add.reduceat(points[order], start[:-1]) / np.diff(start)[:, None])[owner]
        return cls(order, start, owner, arms / max(float(np.sqrt((arms**2).sum(axis=1).mean())), 1e-300))

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.start) - 1
