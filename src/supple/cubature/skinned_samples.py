"""Samples of a skinned body to train on: poses with coordinates, about those that were recorded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.cubature.samples import draw_coordinates
from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["SkinnedSamples", "draw_skinned"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SkinnedSamples:
    """T states of a skinned body, x = φ(p, X + U q)."""

    poses: FloatArray
    """Different poses, (k, p)."""
    which: NDArray[np.intp]
    """Which of them each sample is in, (T,)."""
    coordinates: FloatArray
    """(r, T)"""

    @property
    def count(self) -> int:
        """Number of samples T."""
        return len(self.which)


def draw_skinned(
    basis: Basis, poses: FloatArray, recorded: FloatArray, reach: float, count: int, rng: np.random.Generator
) -> SkinnedSamples:
    """Samples about recorded poses (k, p) with their coordinates (r, k); `reach` [m] as in `draw_coordinates`.

    Unloaded equilibria have no reduced force to fit. So half of the samples are on the way to them, as Newton's
    iterates are, and all are perturbed by inverse stiffness.
    """
    if len(poses) != recorded.shape[1] or not len(poses):
        raise TrainingError(
            f"{len(poses)} poses and {recorded.shape[1]} recorded shapes make no samples: give one pose for each."
        )
    which = np.resize(rng.permutation(len(poses)), count)
    share = np.where(np.arange(count) % 2 == 0, 1.0, rng.uniform(0.0, 1.0, count))
    perturbed = draw_coordinates(basis, reach, count, rng)
    return SkinnedSamples(poses, which, recorded[:, which] * share + perturbed)
