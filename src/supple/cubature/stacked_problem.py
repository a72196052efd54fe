"""Several training problems over the same candidates, their rows one beneath another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from supple.cubature.problem import IntArray, Problem
from supple.errors import TrainingError

__all__ = ["StackedProblem"]

FloatArray = NDArray[np.float64]


class StackedProblem:
    """One set of weights for all: several poses, or forces and stiffness; each part counts by its weight."""

    def __init__(self, parts: Sequence[Problem], weights: Sequence[float] | None = None) -> None:
        if not parts or any(part.candidates != parts[0].candidates for part in parts):
            raise TrainingError("problems over different candidates cannot share a rule: give problems of one body.")
        self.parts = tuple(parts)
        self._weights = np.ones(len(parts)) if weights is None else np.asarray(weights, np.float64)
        self._start = np.cumsum([0] + [part.samples for part in parts])
        self.candidates = parts[0].candidates
        self.samples = int(self._start[-1])

    def _split(self, samples: IntArray | None) -> list[NDArray[np.intp] | None]:
        """Each part's own numbers of the chosen samples."""
        if samples is None:
            return [None] * len(self.parts)
        owner = np.searchsorted(self._start, samples, side="right") - 1
        return [np.asarray(samples)[owner == k] - self._start[k] for k in range(len(self.parts))]

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """b of all parts; chosen samples come ordered by part."""
        chosen = zip(self.parts, self._weights, self._split(samples), strict=True)
        return np.concatenate([weight * part.target(own) for part, weight, own in chosen])

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """Columns of the candidates `who`, (k, rows)."""
        chosen = zip(self.parts, self._weights, self._split(samples), strict=True)
        return np.concatenate([weight * part.columns(who, own) for part, weight, own in chosen], axis=1)

    def gradient(self, residual: FloatArray) -> FloatArray:
        """Aᵀ r of all candidates, (candidates,)."""
        ends = np.cumsum([len(part.target()) for part in self.parts])[:-1]
        pieces = zip(self.parts, self._weights, np.split(residual, ends), strict=True)
        return np.asarray(sum(weight * part.gradient(piece) for part, weight, piece in pieces))

    def norms(self, who: IntArray | None = None, samples: IntArray | None = None) -> FloatArray:
        """Lengths of columns, (k,); a part of which no sample is chosen is not asked."""
        chosen = zip(self.parts, self._weights, self._split(samples), strict=True)
        asked = [one for one in chosen if one[2] is None or len(one[2])]
        return np.asarray(np.sqrt(sum((weight * part.norms(who, own)) ** 2 for part, weight, own in asked)))
