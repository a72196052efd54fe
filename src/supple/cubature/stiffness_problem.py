"""The reduced stiffness at rest as a training problem: one sample, whose rows are the entries of a symmetric matrix."""

import numpy as np
from numpy.typing import NDArray

from supple.cubature.blocks import blocks
from supple.cubature.element_map import ElementMap
from supple.cubature.element_problem import energy_scales
from supple.cubature.problem import IntArray
from supple.elastic import Body
from supple.subspace import Basis

__all__ = ["StiffnessProblem", "rest_stiffness"]

FloatArray = NDArray[np.float64]


class RestFactors:
    """L_e with K_e = L_eᵀ L_e for the reduced stiffness K_e of every element at rest."""

    def __init__(self, body: Body, fields: FloatArray) -> None:
        self.elements = ElementMap(body)
        self._fields = fields
        roots = []
        for part in body.parts:
            H = part.material.hessian(np.eye(3)).reshape(9, 9)
            values, vectors = np.linalg.eigh(H)
            roots.append((vectors * np.sqrt(np.maximum(values, 0.0))).T)
        self._root = np.array(roots)  # at rest the Hessian is the same for all elements of a material

    def of(self, who: slice | IntArray) -> FloatArray:
        """L_e of the elements `who`, (k, 9, r)."""
        G = self.elements.gradients(self._fields, who)
        root = self._root[self.elements.part[who]] * np.sqrt(self.elements.volume[who])[:, None, None]
        return np.asarray(root @ G)


def rest_stiffness(body: Body, basis: Basis, members: IntArray, weights: FloatArray) -> FloatArray:
    """The reduced stiffness at rest [1/s²] that weighted elements give, (r, r)."""
    rows = RestFactors(body, basis.columns).of(members) * np.sqrt(weights)[:, None, None]
    flat = rows.reshape(-1, basis.rank)
    return np.asarray(flat.T @ flat)


class StiffnessProblem:
    """D^-1/2 K D^-1/2 of all elements is the identity, D the diagonal of eigenvalues; scaled to length one.

    Of a domain that would float alone, soft motions count by the stiffness they have in the body.
    """

    samples = 1

    def __init__(self, body: Body, basis: Basis, stiffness: FloatArray | None = None) -> None:
        """`stiffness` (r, r) [1/s²] is that of all elements, where it is not the diagonal of the basis' importance."""
        rank = basis.rank
        scales = energy_scales(basis) / np.sqrt(basis.importance.min())
        self._factors = RestFactors(body, basis.columns * (scales / rank**0.25))
        self._upper = np.triu_indices(rank)
        self._twice = np.where(self._upper[0] == self._upper[1], 1.0, np.sqrt(2.0))
        whole = np.eye(rank) if stiffness is None else stiffness / np.sqrt(np.outer(basis.importance, basis.importance))
        self._target = whole[self._upper] * self._twice / np.sqrt(rank)
        self.candidates = self._factors.elements.count

    def target(self, samples: IntArray | None = None) -> FloatArray:
        """The upper triangle, (r (r + 1) / 2,), entries beside the diagonal times √2."""
        return np.asarray(self._target if samples is None or len(samples) else self._target[:0])

    def columns(self, who: IntArray, samples: IntArray | None = None) -> FloatArray:
        """The elements' stiffness matrices, upper triangles with the entries beside the diagonal times √2."""
        L = self._factors.of(who)
        K = L.transpose(0, 2, 1) @ L
        lines = np.asarray(K[:, self._upper[0], self._upper[1]] * self._twice)
        return lines if samples is None or len(samples) else lines[:, :0]

    def gradient(self, residual: FloatArray) -> FloatArray:
        """⟨K_e, R⟩ of all elements, (m,)."""
        rank = self._upper[0][-1] + 1
        R = np.zeros((rank, rank))
        R[self._upper] = residual / self._twice
        R = R + R.T - np.diag(np.diag(R))
        out = np.empty(self.candidates)
        for block in blocks(self.candidates):
            L = self._factors.of(block)
            out[block] = np.einsum("ear,ear->e", L @ R, L)
        return out

    def norms(self, who: IntArray | None = None, samples: IntArray | None = None) -> FloatArray:
        """Frobenius norms of the elements' stiffness matrices, (k,)."""
        who = np.arange(self.candidates) if who is None else who
        out = np.zeros(len(who))
        for block in blocks(len(who)) if samples is None or len(samples) else ():
            L = self._factors.of(who[block])
            out[block] = np.linalg.norm(L @ L.transpose(0, 2, 1), axis=(1, 2))
        return out
