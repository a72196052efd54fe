"""Displacements to train on: random poses of all sizes in the subspace, mixed with recorded ones."""

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["draw_fields", "mix_fields", "sample_count"]

FloatArray = NDArray[np.float64]
_SMALLEST = 0.02  # of the largest amplitude
_DEVIATIONS = 2.5  # that reach the largest displacement


def sample_count(rank: int) -> int:
    """Samples that a basis of this rank needs: with fewer, a rule fits them and not the forces."""
    return max(100, 3 * rank)


def draw_fields(basis: Basis, reach: float, count: int, rng: np.random.Generator) -> FloatArray:
    """Displacements U q [m], (3 n, count), of a diagonalised basis.

    q is Gaussian with deviations by inverse stiffness, 1 / λ, so scaled that displacements of the vertices go up to
    about `reach` [m]; each pose is then multiplied by an amplitude drawn log-uniformly between 0.02 and 1, because
    what one sees is the linear range of the soft modes.
    """
    if not (np.isfinite(reach) and reach > 0.0):
        raise TrainingError(f"the largest displacement to train for is {reach} m: give a length above 0.")
    deviation = basis.importance.min() / basis.importance
    spread = np.sqrt(((basis.columns * deviation) ** 2).sum(axis=1).reshape(-1, 3).sum(axis=1).max())
    amplitude = np.exp(rng.uniform(np.log(_SMALLEST), 0.0, count))
    poses = rng.standard_normal((basis.rank, count)) * deviation[:, None] * amplitude
    return np.asarray(basis.columns @ (poses * (reach / (_DEVIATIONS * spread))))


def mix_fields(
    basis: Basis, reach: float, count: int, rng: np.random.Generator, recorded: FloatArray | None = None
) -> FloatArray:
    """`count` displacements [m], (3 n, count): half of them recorded ones (k, n, 3), as the subspace sees them."""
    if count < 1:
        raise TrainingError(f"a rule cannot be trained on {count} samples: give {sample_count(basis.rank)} or so.")
    if recorded is not None and recorded.shape[1:] != (len(basis.mass), 3):
        raise TrainingError(
            f"the snapshots have shape {recorded.shape} where the body's vertices need (k, {len(basis.mass)}, 3): "
            "give displacements of this mesh."
        )
    if recorded is None or not len(recorded):
        return draw_fields(basis, reach, count, rng)
    chosen = rng.permutation(len(recorded))[: count // 2]
    vectors = recorded[chosen].reshape(len(chosen), -1).T
    projected = basis.columns @ (basis.columns.T @ (basis.metric[:, None] * vectors))
    return np.concatenate([draw_fields(basis, reach, count - len(chosen), rng), projected], axis=1)
