"""Principal components of recorded displacements, in the mass metric."""

import numpy as np
from numpy.typing import NDArray

from supple.errors import TrainingError
from supple.linalg.ties import BEYOND, MARGIN, settled_turn
from supple.subspace.basis import Basis
from supple.subspace.recorded import check_recorded

__all__ = ["check_rank", "principal_basis", "principal_columns"]

FloatArray = NDArray[np.float64]
_NOISE = 1e-12  # singular values below this share of the first are round-off


def principal_columns(vectors: FloatArray, metric: FloatArray, rank: int | None) -> tuple[FloatArray, FloatArray]:
    """At most `rank` orthonormal columns that hold most of the given vectors (3 n, k), and their singular values,
    largest first."""
    moving = np.flatnonzero(vectors.any(axis=1))  # where nothing moves, nothing shall: localised bases stay sparse
    root = np.sqrt(metric[moving])[:, None]
    left, singular, _ = np.linalg.svd(root * vectors[moving], full_matrices=False)
    kept = int(np.count_nonzero(singular > _NOISE * singular[0])) if singular.size and singular[0] > 0 else 0
    kept = kept if rank is None else min(rank, kept)
    columns = np.zeros((len(vectors), min(kept + BEYOND, len(singular))))
    columns[moving] = left[:, : columns.shape[1]] / root
    return columns @ settled_turn(singular[: columns.shape[1]], columns, metric)[:, :kept], singular[:kept]


def check_rank(rank: int | None, columns: FloatArray, source: str) -> None:
    """Refuse a rank other than 1 to that of the columns found (3 n, r)."""
    most = columns.shape[1]
    if rank is not None and not 1 <= rank <= most:
        raise TrainingError(f"a basis of rank {rank} cannot be had from {source}: ask for 1 to {most}.")


def principal_basis(
    displacements: FloatArray, mass: FloatArray, *, rank: int | None = None, tolerance: float | None = None
) -> Basis:
    """The basis of snapshots (k, n, 3) [m]: of a given rank, or the smallest that misses at most the share `tolerance`
    of them (root of the lost over the whole sum of squares)."""
    check_recorded(displacements, len(mass))
    vectors = displacements.reshape(len(displacements), -1).T
    columns, singular = principal_columns(vectors, np.repeat(mass, 3), rank)
    check_rank(rank, columns, f"{len(displacements)} snapshots")
    if tolerance is not None:
        lost = np.sqrt(np.maximum(1.0 - np.cumsum(singular**2) / np.sum(singular**2), 0.0))
        enough = int(np.argmax(lost <= (1.0 + MARGIN) * tolerance)) + 1
        columns, singular = columns[:, :enough], singular[:enough]
    return Basis(columns, mass, f"principal components of {len(displacements)} snapshots", singular)
