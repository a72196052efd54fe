"""The training problem of elastic forces: candidates are elements, a column is P_eᵀ G_e in the energy norm."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.element_map import ElementMap
from supple.cubature.problem import IntArray, unit_scales
from supple.elastic import Body
from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["ElementProblem", "Stresses", "energy_scales"]

FloatArray = NDArray[np.float64]
_STILL = 1e-9  # strains up to this are none


class Stresses(Protocol):
    """Where the stresses of samples come from: kept in memory (Snapshots) or evaluated when asked for (Poses)."""

    @property
    def count(self) -> int:
        """Number of samples T."""
        ...

    def at(self, who: slice | IntArray, samples: slice | IntArray) -> NDArray[np.float32]:
        """First Piola-Kirchhoff stresses times volumes [J] of some elements in some samples, (k, 9, t)."""
        ...


def energy_scales(basis: Basis) -> FloatArray:
    """(λ_i / λ_1)^-1/2, by which forces are multiplied so that their length is the root of an energy, (r,)."""
    values = basis.importance
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise TrainingError("a basis with rigid motions has no energy norm: diagonalise one without them.")
    return np.asarray(np.sqrt(values.min() / values))


def _gross_force(body: Body, basis: Basis) -> float:
    """The length in the energy norm of the forces at strains about one: the root of twice μ V times λ_1."""
    energy = sum(part.material.mu * float(part.volume.sum()) for part in body.parts)
    return float(np.sqrt(2.0 * energy * basis.importance.min()))


class ElementProblem:
    """Reduced forces of samples in a diagonalised basis; columns are made when they are asked for."""

    def __init__(self, body: Body, basis: Basis, stresses: Stresses) -> None:
        self._map, self._stresses = ElementMap(body), stresses
        self._columns, self._scales = basis.columns, energy_scales(basis)
        self.width = basis.rank
        total = self._sum_all()
        self._kept, self._size = unit_scales(total, _STILL * _gross_force(body, basis))
        self._target = total[self._kept] * self._size[:, None]

    @property
    def samples(self) -> int:
        """Number of samples that deform the body."""
        return len(self._kept)

    @property
    def candidates(self) -> int:
        """Number of elements."""
        return self._map.count

    def _gradients(self, who: slice | IntArray) -> FloatArray:
        """G_e in the energy norm, (k, 9, r)."""
        return self._map.gradients(self._columns, who) * self._scales

    def _sum_all(self) -> FloatArray:
        """Forces of all elements, (T, r): single precision within a block, double over the blocks."""
        total = np.zeros((self._stresses.count, self.width))
        for block in blocks(self.candidates):
            G = self._gradients(block).astype(np.float32).reshape(-1, self.width)
            total += self._stresses.at(block, slice(None)).reshape(len(G), -1).T @ G
        return total

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """b, (rows,): reduced forces, sample by sample."""
        return (self._target if samples is None else self._target[samples]).ravel()

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """Reduced forces of the elements `who`, (k, rows)."""
        chosen = slice(None) if samples is None else samples
        kept = self._kept[chosen]
        P = self._stresses.at(who, kept) * self._size[chosen]
        return np.reshape(P.transpose(0, 2, 1) @ self._gradients(who), (len(who), len(kept) * self.width))

    def gradient(self, residual: FloatArray) -> FloatArray:
        """Aᵀ r of all elements, (m,), in blocks: G times the residual, then a product with P in every row."""
        R = (residual.reshape(-1, self.width) * self._size[:, None]).T.astype(np.float32)
        out = np.empty(self.candidates)
        for block in blocks(self.candidates):
            G = self._gradients(block).astype(np.float32)
            P = self._stresses.at(block, self._kept)
            out[block] = np.einsum("eat,eat->e", (G.reshape(-1, self.width) @ R).reshape(P.shape), P)
        return out

    def norms(self, who: IntArray | None = None, samples: IntArray | None = None) -> FloatArray:
        """Lengths of columns from two 9 x 9 products an element, ⟨P Pᵀ, G Gᵀ⟩, (k,)."""
        who = np.arange(self.candidates) if who is None else np.asarray(who)
        chosen = slice(None) if samples is None else samples
        kept, size = self._kept[chosen], self._size[chosen].astype(np.float32)
        out = np.empty(len(who))
        for block in blocks(len(who)):
            G = self._gradients(who[block]).astype(np.float32)
            P = self._stresses.at(who[block], kept) * size
            out[block] = np.einsum("eab,eab->e", G @ G.transpose(0, 2, 1), P @ P.transpose(0, 2, 1))
        return np.sqrt(np.maximum(out, 0.0))
