"""Bases of skinned bodies: what recorded shapes have beside their skinning, seen at rest."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import TrainingError
from supple.linalg.ties import in_single
from supple.rig import SkinnedRig
from supple.subspace.basis import Basis
from supple.subspace.pca import principal_basis

__all__ = ["pull_back_all", "pulled_back_basis"]

FloatArray = NDArray[np.float64]


def pull_back_all(rig: SkinnedRig, poses: Sequence[FloatArray] | FloatArray, positions: ArrayLike) -> FloatArray:
    """Displacements u [m] with φ(p, X + u) = x, (k, n, 3), of shapes x (k, n, 3) [m] recorded in poses (k, p);
    in single precision."""
    shapes = np.asarray(positions, np.float64)
    if shapes.shape != (len(poses), *rig.rest.shape):
        raise TrainingError(
            f"shapes of shape {shapes.shape} recorded in {len(poses)} poses of a rig of {len(rig.rest)} vertices: give "
            "one shape of all vertices for each pose."
        )
    pulled = [rig.pull_back(pose, x) - rig.rest for pose, x in zip(poses, shapes, strict=True)]
    return in_single(np.array(pulled)).reshape(shapes.shape)


def pulled_back_basis(
    displacements: FloatArray, mass: FloatArray, *, rank: int | None = None, tolerance: float | None = None
) -> Basis:
    """Principal components of pulled-back displacements (k, n, 3) [m], without removal of their mean: a basis must
    hold the skinned shape itself."""
    basis = principal_basis(displacements, mass, rank=rank, tolerance=tolerance)
    return replace(basis, source=f"principal components of {len(displacements)} pulled-back snapshots")
