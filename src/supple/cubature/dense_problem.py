"""A training problem whose columns are all at hand: few candidates, of any kind."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.problem import IntArray, unit_scales

__all__ = ["DenseProblem"]

FloatArray = NDArray[np.float64]


class DenseProblem:
    """Candidates given by their forces in every sample."""

    def __init__(self, forces: FloatArray) -> None:
        """`forces` (candidates, samples, width): what each candidate contributes; their sum is to be reproduced."""
        total = forces.sum(axis=0)
        kept, scale = unit_scales(total)
        self._columns = forces[:, kept] * scale[:, None]
        self._target = total[kept] * scale[:, None]
        self.candidates, self.samples = len(forces), len(kept)

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """b of all or of chosen samples."""
        return np.ravel(self._target if samples is None else self._target[samples])

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """Columns of the candidates `who`, (k, rows)."""
        chosen = self._columns[who] if samples is None else self._columns[np.ix_(who, samples)]
        return np.reshape(chosen, (len(who), chosen.shape[1] * chosen.shape[2]))

    def norms(self, who: IntArray | None = None, samples: IntArray | None = None) -> FloatArray:
        """Lengths of columns, (k,)."""
        who = np.arange(self.candidates) if who is None else who
        return np.asarray(np.linalg.norm(self.columns(who, samples), axis=1))

    def gradient(self, residual: FloatArray) -> FloatArray:
        """Aᵀ r, (candidates,)."""
        return np.asarray(self._columns.reshape(self.candidates, -1) @ residual)
