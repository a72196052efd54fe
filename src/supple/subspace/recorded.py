"""Recorded displacements as they come from users: of this mesh, finite, with motion in them."""

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError

__all__ = ["check_recorded"]

FloatArray = NDArray[np.float64]


def check_recorded(displacements: FloatArray, vertices: int) -> None:
    """Refuse recorded displacements of another mesh, without motion or with numbers that are none."""
    if displacements.ndim != 3 or displacements.shape[1:] != (vertices, 3):
        raise TrainingError(
            f"the snapshots have shape {displacements.shape} where the body's vertices need (k, {vertices}, 3): "
            "give displacements of this mesh."
        )
    finite = np.asarray(np.isfinite(displacements).all(axis=(1, 2)))
    if not finite.all():
        raise TrainingError(
            f"snapshot {int(np.argmin(finite))} of {len(finite)} holds numbers that are not finite: leave it out, or "
            "record again with a smaller step."
        )
    if not displacements.any():
        raise TrainingError(f"the {len(displacements)} snapshots hold no motion: record a run in which the body moves.")
