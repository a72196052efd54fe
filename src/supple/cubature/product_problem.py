"""A training problem whose candidates answer with a product: a map of their own times what a sample gives them.

Column e holds, sample by sample, values_et · map_e: d numbers times a matrix (d, r). Elements of skinned bodies have
d = 12, vertices d = 3.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.problem import IntArray, unit_scales

__all__ = ["Maps", "ProductProblem", "Values"]

FloatArray = NDArray[np.float64]
_BLOCK = 64  # candidates whose values exist at once, so that they stay in the cache


class Maps(Protocol):
    """What the subspace sees of every candidate."""

    @property
    def count(self) -> int:
        """Number of candidates."""

    @property
    def width(self) -> int:
        """Numbers in the answer to a sample r."""

    def of(self, who: slice | IntArray) -> FloatArray:
        """Maps of some candidates, (k, d, r)."""


class Values(Protocol):
    """What samples give every candidate."""

    @property
    def count(self) -> int:
        """Number of samples T."""

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """Values of some candidates in some samples, (k, d, t)."""


class ProductProblem:
    """Columns are made when they are asked for.

    Sums are in double precision: those in single precision depend on the processor by 1e-7, and what a rule leaves of
    them by a hundred times that, so that other candidates would be chosen.
    """

    def __init__(self, maps: Maps, values: Values, floor: float = 0.0, total: FloatArray | None = None) -> None:
        """Samples whose answers are no longer than `floor` are round-off. `total`: what is to be answered, (T, r); all
        candidates together where None."""
        self._maps, self._values = maps, values
        self.candidates, self.width = maps.count, maps.width
        total = self._sum_all() if total is None else total
        self._kept, self._size = unit_scales(total, floor)
        self._target = total[self._kept] * self._size[:, None]

    @property
    def samples(self) -> int:
        """Number of samples with something to fit."""
        return len(self._kept)

    def _sum_all(self) -> FloatArray:
        """Answers of all candidates together, (T, r)."""
        total = np.zeros((self._values.count, self.width))
        for block in blocks(self.candidates, _BLOCK):
            M = self._maps.of(block).reshape(-1, self.width)
            total += self._values.at(block, slice(None)).reshape(len(M), -1).T @ M
        return total

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """b, (rows,): what all candidates answer, sample by sample."""
        return (self._target if samples is None else self._target[samples]).ravel()

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """What the candidates `who` answer, (k, rows)."""
        chosen = slice(None) if samples is None else samples
        kept = self._kept[chosen]
        values = self._values.at(who, kept) * self._size[chosen]
        return np.reshape(values.transpose(0, 2, 1) @ self._maps.of(who), (len(who), len(kept) * self.width))

    def gradient(self, residual: FloatArray) -> FloatArray:
        """Aᵀ r of all candidates, (candidates,)."""
        R = (residual.reshape(-1, self.width) * self._size[:, None]).T
        out = np.empty(self.candidates)
        for block in blocks(self.candidates, _BLOCK):
            M = self._maps.of(block)
            values = self._values.at(block, self._kept)
            out[block] = np.einsum("eat,eat->e", (M.reshape(-1, self.width) @ R).reshape(values.shape), values)
        return out

    def norms(self, who: IntArray | None = None, samples: IntArray | None = None) -> FloatArray:
        """Lengths of columns from two small products a candidate, ⟨V Vᵀ, M Mᵀ⟩, (k,)."""
        who = np.arange(self.candidates) if who is None else np.asarray(who)
        chosen = slice(None) if samples is None else samples
        kept, size = self._kept[chosen], self._size[chosen]
        out = np.empty(len(who))
        for block in blocks(len(who), _BLOCK):
            M = self._maps.of(who[block])
            V = self._values.at(who[block], kept) * size
            out[block] = np.einsum("eab,eab->e", M @ M.transpose(0, 2, 1), V @ V.transpose(0, 2, 1))
        return np.sqrt(np.maximum(out, 0.0))
