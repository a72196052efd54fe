"""Poses to train on: random ones of all sizes in the subspace, mixed with recorded ones."""

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["draw_coordinates", "mix_coordinates", "sample_count"]

FloatArray = NDArray[np.float64]
_SMALLEST = 0.02  # of the largest amplitude
_DEVIATIONS = 2.5  # that reach the largest displacement


def sample_count(rank: int) -> int:
    """Samples that a basis of this rank needs: with fewer, a rule fits them and not the forces."""
    return max(100, 3 * rank)


def draw_coordinates(basis: Basis, reach: float, count: int, rng: np.random.Generator) -> FloatArray:
    """Coordinates q of poses, (r, count), of a diagonalised basis.

    They are Gaussian with deviations by inverse stiffness, 1 / λ, so scaled that displacements of the vertices go up to
    about `reach` [m]; each pose is then multiplied by an amplitude drawn log-uniformly between 0.02 and 1, because
    what one sees is the linear range of the soft modes.
    """
    if not (np.isfinite(reach) and reach > 0.0):
        raise TrainingError(f"the largest displacement to train for is {reach} m: give a length above 0.")
    deviation = basis.importance.min() / basis.importance
    variance = np.einsum("ij,ij,j->i", basis.columns, basis.columns, deviation**2)
    spread = np.sqrt(variance.reshape(-1, 3).sum(axis=1).max())
    amplitude = np.exp(rng.uniform(np.log(_SMALLEST), 0.0, count))
    poses = rng.standard_normal((basis.rank, count)) * deviation[:, None] * amplitude
    return np.asarray(poses * (reach / (_DEVIATIONS * spread)))


def mix_coordinates(
    basis: Basis, reach: float, count: int, rng: np.random.Generator, recorded: FloatArray | None = None
) -> FloatArray:
    """Coordinates of poses, (r, count): half of them recorded ones (r, k), the others drawn."""
    if count < 1:
        raise TrainingError(f"a rule cannot be trained on {count} samples: give {sample_count(basis.rank)} or so.")
    if recorded is None:
        return draw_coordinates(basis, reach, count, rng)
    chosen = rng.permutation(recorded.shape[1])[: count // 2]
    return np.column_stack([draw_coordinates(basis, reach, count - len(chosen), rng), recorded[:, chosen]])
