"""Where the flesh of one bone is as another bone sees it, as a few numbers whose distances are metres ([TOK14] 4.3).

The coordinates of a pose are principal components of the neighbour's surface points in the bone's own frame. Points of
a rigid surface are R y + t, so all that is needed of them are their mean products of second order: a 12-vector
[R t] L with L Lᵀ = mean [y 1]ᵀ[y 1] has the distances of the whole surface, root mean square.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.rig.skeleton import Skeleton

__all__ = ["COMPONENTS", "RelativePoses"]

FloatArray = NDArray[np.float64]
COMPONENTS = 6  #: a rigid motion has no more directions at a time
_SLIGHT = 1e-6  # share of the largest component below which one is round-off


@dataclass(frozen=True, eq=False)
class RelativePoses:
    """Coordinates of poses of a neighbour beside a bone."""

    bone: int
    neighbour: int
    root: FloatArray
    """L, (4, 4)."""
    mean: FloatArray
    """Of the poses that it was made from, (12,)."""
    axes: FloatArray
    """Principal directions, (6, 12); zero beyond those that the poses have."""

    @classmethod
    def of(
        cls, skeleton: Skeleton, bone: int, neighbour: int, points: FloatArray, poses: FloatArray
    ) -> "RelativePoses":
        """Of a neighbour with surface points at rest [m], (k, 3), for poses like the given ones, (t, p)."""
        homogeneous = np.column_stack([points, np.ones(len(points))])
        values, vectors = np.linalg.eigh(homogeneous.T @ homogeneous / max(len(points), 1))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        seen = np.array([_see(*skeleton.transforms(pose), bone, neighbour, root) for pose in poses])
        mean = seen.mean(axis=0)
        _, sizes, axes = np.linalg.svd(seen - mean, full_matrices=False)
        kept = min(int(np.count_nonzero(sizes > _SLIGHT * _size(root))), COMPONENTS)
        padded = np.zeros((COMPONENTS, 12))
        padded[:kept] = axes[:kept]
        return cls(bone, neighbour, root, mean, padded)

    @property
    def size(self) -> float:
        """Of the neighbour's surface [m]: root mean square of distances to its centre."""
        return _size(self.root)

    def locate(self, R: FloatArray, t: FloatArray) -> tuple[FloatArray, float]:
        """Coordinates [m], (6,), of a pose with bones at R (j, 3, 3) and t [m], (j, 3), and how far it is from all that
        coordinates can say [m]."""
        away = _see(R, t, self.bone, self.neighbour, self.root) - self.mean
        at = self.axes @ away
        return at, math.sqrt(max(float(away @ away - at @ at), 0.0))


def _size(root: FloatArray) -> float:
    products = root @ root.T
    return math.sqrt(max(float(np.trace(products[:3, :3]) - products[:3, 3] @ products[:3, 3]), 0.0))


def _see(R: FloatArray, t: FloatArray, bone: int, neighbour: int, root: FloatArray) -> FloatArray:
    """The 12-vector of a neighbour in a bone's frame, rest being the unit motion."""
    back = R[bone].T
    motion = np.column_stack([back @ R[neighbour], back @ (t[neighbour] - t[bone])])
    return np.asarray((motion @ root).ravel())
