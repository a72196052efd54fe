"""What a trainer knows of the thing it trains: samples, candidates, and the column of a candidate."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import column_blocks
from supple.errors import TrainingError

__all__ = ["NoForceError", "Problem", "fit_error", "unit_scales"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.integer]
_SILENT = 1e-7  # samples with a smaller share than this of the largest force are round-off


class NoForceError(TrainingError):
    """Training samples none of which deforms the body."""


class Problem(Protocol):
    """Find few weights w >= 0 with A w = b; column e of A is what candidate e contributes in every sample.

    Elements, vertices and contact pairs are candidates alike. The rows of one sample are together, each sample scaled
    so that its part of b has length one: then |b|² is the number of samples, and a residual is a relative error.
    """

    @property
    def samples(self) -> int:
        """Number of samples."""
        ...

    @property
    def candidates(self) -> int:
        """Number of columns."""
        ...

    def norms(self, who: IntArray | None = None, samples: IntArray | None = None) -> FloatArray:
        """Lengths of the columns of all or of chosen candidates, over all or chosen samples, (k,)."""
        ...

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """b, the sum of all columns, of all or of chosen samples, (rows,)."""
        ...

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """Columns of the candidates `who`, one a line, (k, rows)."""
        ...

    def gradient(self, residual: FloatArray) -> FloatArray:
        """Aᵀ r of all candidates, (candidates,)."""
        ...


def unit_scales(forces: FloatArray, floor: float = 0.0) -> tuple[NDArray[np.intp], FloatArray]:
    """Numbers of the samples that do anything, and by what their forces (t, width) are multiplied to length one.

    Forces up to `floor` are round-off, as are those far smaller than the largest.
    """
    sizes = np.linalg.norm(forces, axis=1)
    if not np.isfinite(sizes).all():
        raise TrainingError("a training sample has forces that are not finite: draw samples of smaller displacement.")
    largest = float(sizes.max(initial=0.0))
    kept = np.flatnonzero(sizes > max(_SILENT * largest, floor))
    if not len(kept):
        raise NoForceError(
            f"none of the {len(forces)} training samples has a force to fit: give samples that deform the body."
        )
    return kept, 1.0 / sizes[kept]


def fit_error(problem: Problem, members: IntArray, weights: FloatArray) -> float:
    """|A w - b| / |b|: the root of the mean square of the samples' relative errors."""
    b = problem.target()
    residual = -b
    for block in column_blocks(problem, len(members)):
        residual += weights[block] @ problem.columns(members[block])
    return float(np.linalg.norm(residual) / np.linalg.norm(b))
