"""The training problem of elastic forces: candidates are elements, a column is P_eᵀ G_e in the energy norm."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.element_map import ElementMap
from supple.cubature.problem import IntArray, unit_scales
from supple.cubature.snapshots import Snapshots
from supple.elastic import Body
from supple.errors import TrainingError
from supple.subspace import Basis

__all__ = ["ElementProblem", "energy_scales"]

FloatArray = NDArray[np.float64]
_STILL = 1e-9  # strains up to this are none


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
    """Reduced forces of snapshots in a diagonalised basis.

    Columns are made when they are asked for; what is stored grows with the elements only through the snapshots.
    """

    def __init__(self, body: Body, basis: Basis, snapshots: Snapshots) -> None:
        self._map = ElementMap(body)
        self._fields = basis.columns * energy_scales(basis)
        self._single = self._fields.astype(np.float32)
        self._snapshots = snapshots
        self.width = basis.rank
        total = self._sum_all()
        self._kept, self._scale = unit_scales(total, _STILL * _gross_force(body, basis))
        self._target = total[self._kept] * self._scale[:, None]

    @property
    def samples(self) -> int:
        """Number of snapshots that deform the body."""
        return len(self._kept)

    @property
    def candidates(self) -> int:
        """Number of elements."""
        return self._map.count

    def _sum_all(self) -> FloatArray:
        """Forces of all elements, (T, r): single precision within a block, double over the blocks."""
        total = np.zeros((self._snapshots.count, self.width))
        for block in blocks(self.candidates):
            G = self._map.gradients(self._single, block).reshape(-1, self.width)
            total += self._snapshots.stresses[block].reshape(-1, self._snapshots.count).T @ G
        return total

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """b, (rows,): reduced forces, sample by sample."""
        return (self._target if samples is None else self._target[samples]).ravel()

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """Reduced forces of the elements `who`, (k, rows)."""
        chosen = slice(None) if samples is None else samples
        kept, scale = self._kept[chosen], self._scale[chosen]
        G = self._map.gradients(self._fields, np.asarray(who))
        P = self._snapshots.stresses[who][:, :, kept] * scale
        return np.reshape(P.transpose(0, 2, 1) @ G, (len(who), len(kept) * self.width))

    def gradient(self, residual: FloatArray) -> FloatArray:
        """Aᵀ r of all elements, (m,), in blocks: G times the residual, then a product with P in every row."""
        R = np.zeros((self.width, self._snapshots.count), np.float32)
        R[:, self._kept] = (residual.reshape(-1, self.width) * self._scale[:, None]).T
        out = np.empty(self.candidates)
        for block in blocks(self.candidates):
            G = self._map.gradients(self._single, block)
            P = self._snapshots.stresses[block]
            out[block] = np.einsum("eat,eat->e", (G.reshape(-1, self.width) @ R).reshape(P.shape), P)
        return out

    def norms(self, who: IntArray | None = None) -> FloatArray:
        """Lengths of columns from two 9 x 9 products an element, ⟨P Pᵀ, G Gᵀ⟩, (k,)."""
        who = np.arange(self.candidates) if who is None else np.asarray(who)
        scale = np.zeros(self._snapshots.count, np.float32)
        scale[self._kept] = self._scale
        out = np.empty(len(who))
        for block in blocks(len(who)):
            G = self._map.gradients(self._single, who[block])
            P = self._snapshots.stresses[who[block]] * scale
            out[block] = np.einsum("eab,eab->e", G @ G.transpose(0, 2, 1), P @ P.transpose(0, 2, 1))
        return np.sqrt(np.maximum(out, 0.0))
