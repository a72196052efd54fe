"""Subspaces of constraint projections: smooth changes of what constraints ask for at rest.

Section 5 and Appendix C of [BEH18], with two changes. Where the projections at rest are identity matrices, as for the
strain of tetrahedra, the columns of Eq. (16) repeat one scalar function for each row: V = W x I, and one works with W.
And what a rigid motion or one affine map of the whole rest shape needs is kept exactly, principal components are those
of the remainder: a body at rest stays at rest, a body that only turns does not bend.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from supple.constraint import Constraint
from supple.errors import TrainingError
from supple.linalg.jit import njit
from supple.subspace.position_space import PositionSpace
from supple.subspace.reduced_stencils import gather_functions

__all__ = ["ProjectionSpace", "carry_to_elements", "complete_space", "projection_space", "recorded_space"]

FloatArray = NDArray[np.float64]
_NOISE = 1e-10  # of the largest eigenvalue: below it a principal component is round-off


@dataclass(frozen=True, eq=False)
class ProjectionSpace:
    """Projections of e elements, p ≈ V c: V = (functions x frames) mix."""

    functions: sp.csr_array
    """Scalar functions over elements, (e, k)."""
    frames: FloatArray | None
    """What they multiply, (e, p, y); None stands for identity matrices, y = p."""
    mix: FloatArray
    """Most important first: of functions alone, (k, m), or of functions and the columns of frames, (k y, m)."""
    kept: int
    """How many of its columns, the first, are never dropped."""

    @property
    def is_scalar(self) -> bool:
        """Whether V = W x I with m scalar functions W."""
        return self.frames is None

    @property
    def rank(self) -> int:
        """m"""
        return int(self.mix.shape[1])

    def truncated(self, rank: int) -> "ProjectionSpace":
        """The same with its most important columns only."""
        return ProjectionSpace(self.functions, self.frames, self.mix[:, : max(rank, self.kept)], self.kept)

    def rows(self, members: NDArray[np.integer]) -> FloatArray:
        """W of chosen elements, (s, m), or with frames V of them, (s p, m)."""
        chosen = self.functions[members]
        if self.frames is None:
            return np.asarray(chosen @ self.mix)
        rows = self.frames.shape[1]
        raw = chosen.toarray()[:, None, :, None] * self.frames[members][:, :, None, :]
        return np.asarray(raw.reshape(len(members) * rows, -1) @ self.mix)

    def gather(self, constraint: Constraint, space: PositionSpace) -> FloatArray:
        """UᵀSᵀV with the constraint's weights, (c, columns of V); in scalar form columns run over W first: (p m)."""
        raw = gather_functions(constraint.stencils, constraint.weight, self.functions, self.frames, space)
        if self.frames is None:
            return np.asarray(np.einsum("cky,km->cym", raw, self.mix, optimize=True)).reshape(space.columns, -1)
        return np.asarray(raw.reshape(space.columns, -1) @ self.mix)


def projection_space(
    constraint: Constraint, rest: FloatArray, weights: sp.csr_array, rank: int | None = None
) -> ProjectionSpace:
    """The space of one type from weights of handles (n, k) and the projections at rest positions [m], (n, 3).

    `rank` columns are kept, by default half of Eq. (16)'s: of 4 k columns 2 k, which are 2 k / 3 scalar functions.
    """
    functions = carry_to_elements(weights, constraint.stencils.vertices, constraint.stencils.operator)
    values, measure = constraint.rest(rest), constraint.stencils.measure
    rows = values.shape[1]
    if rows == 3 and np.allclose(values, np.eye(3), rtol=0.0, atol=1e-9):
        gram = _weighted_gram(functions.indptr, functions.indices, functions.data, measure, functions.shape[1])
        exact = np.ones((functions.shape[1], 1))
        mix, kept = _principal(gram, exact, (2 * functions.shape[1] + 2) // 3 if rank is None else rank)
        return ProjectionSpace(functions, None, mix, kept)
    frames = np.concatenate([np.ones((len(values), rows, 1)), values], axis=2)
    gram = _framed_gram(functions, frames, measure)
    exact = np.tile(np.eye(4)[:, 1:], (functions.shape[1], 1))  # one map of the whole rest shape
    mix, kept = _principal(gram, exact, len(gram) // 2 if rank is None else rank)
    return ProjectionSpace(functions, frames, mix, kept)


def complete_space(constraint: Constraint) -> ProjectionSpace:
    """The space of all projections: a function for each element, nothing is fitted."""
    count = len(constraint.stencils)
    return ProjectionSpace(sp.csr_array(sp.eye_array(count)), None, np.eye(count), count)


def recorded_space(constraint: Constraint, recorded: FloatArray, rank: int) -> ProjectionSpace:
    """The scalar functions that hold most of the projections at recorded positions [m], (k, n, 3)."""
    if recorded.ndim != 3 or len(recorded) == 0 or not np.isfinite(recorded).all():
        raise TrainingError("a projection space needs at least one recorded frame of finite positions: record some.")
    measure = constraint.stencils.measure
    frames = [constraint.project_at(x).reshape(len(measure), -1) for x in recorded]
    columns = np.column_stack([np.ones(len(measure)), *frames])
    gram = columns.T @ (measure[:, None] * columns)
    mix, kept = _principal(gram, np.eye(len(gram))[:, :1], rank)
    return ProjectionSpace(sp.csr_array(columns @ mix), None, np.eye(mix.shape[1]), kept)


def carry_to_elements(weights: sp.csr_array, vertices: NDArray[np.int32], operator: FloatArray) -> sp.csr_array:
    """Weights of vertices (n, k) carried to elements by the mean over their vertices; again they add up to 1."""
    used = np.abs(operator).max(axis=1) > 0.0  # padding has operator 0
    starts, which, amount = _carry(
        weights.indptr.astype(np.int64),
        weights.indices.astype(np.int32),
        weights.data,
        vertices,
        used,
        weights.shape[1],
    )
    return sp.csr_array((amount, which, starts), shape=(len(vertices), weights.shape[1]))


def _framed_gram(functions: sp.csr_array, frames: FloatArray, measure: FloatArray) -> FloatArray:
    """VᵀV of functions times frames, weighted by the elements' measures, (k y, k y)."""
    k, y = functions.shape[1], frames.shape[2]
    square = np.einsum("e,epa,epb->eab", measure, frames, frames, optimize=True)
    gram = np.empty((k, y, k, y))
    for a in range(y):
        for b in range(a, y):
            part = _weighted_gram(functions.indptr, functions.indices, functions.data, square[:, a, b], k)
            gram[:, a, :, b] = part
            gram[:, b, :, a] = part.T
    return gram.reshape(k * y, k * y)


def _principal(gram: FloatArray, exact: FloatArray, rank: int) -> tuple[FloatArray, int]:
    """Combinations (k, m) of columns with this Gram matrix, and how many of them span the exact ones (k, x).

    These come first; then principal components of what they leave, largest first, `rank` in all.
    """
    chosen = _orthonormal(exact, gram)
    remainder = np.eye(len(gram)) - chosen @ (chosen.T @ gram)
    left = remainder.T @ gram @ remainder
    values, vectors = np.linalg.eigh(0.5 * (left + left.T))
    order = np.argsort(values)[::-1]
    order = order[values[order] > _NOISE * np.trace(gram) / len(gram)][: max(rank - chosen.shape[1], 0)]
    return np.column_stack([chosen, remainder @ vectors[:, order] / np.sqrt(values[order])]), chosen.shape[1]


def _orthonormal(columns: FloatArray, gram: FloatArray) -> FloatArray:
    """Combinations that span the same and are orthonormal under a Gram matrix; dependent ones are left out."""
    own = columns.T @ gram @ columns
    values, vectors = np.linalg.eigh(0.5 * (own + own.T))
    good = values > _NOISE * values[-1]
    return np.asarray(columns @ vectors[:, good] / np.sqrt(values[good]))


@njit(cache=True, error_model="numpy")
def _weighted_gram(starts, columns, data, weight, count):
    """FᵀDF of sparse functions F (e, k) and a diagonal D, dense (k, k)."""
    gram = np.zeros((count, count))
    for e in range(len(starts) - 1):
        for i in range(starts[e], starts[e + 1]):
            share = weight[e] * data[i]
            for j in range(starts[e], starts[e + 1]):
                gram[columns[i], columns[j]] += share * data[j]
    return gram


@njit(cache=True, error_model="numpy")
def _carry(starts, handles, weights, vertices, used, count):
    slot, most = np.full(count, -1, np.int64), 0
    for e in range(len(vertices)):
        for a in range(vertices.shape[1]):
            most += starts[vertices[e, a] + 1] - starts[vertices[e, a]]
    begin, which, amount = np.zeros(len(vertices) + 1, np.int64), np.empty(most, np.int32), np.empty(most)
    filled = 0
    for e in range(len(vertices)):
        first, total = filled, 0.0
        for a in range(vertices.shape[1]):
            if not used[e, a]:
                continue
            v = vertices[e, a]
            for k in range(starts[v], starts[v + 1]):
                h = handles[k]
                if slot[h] < 0:
                    slot[h] = filled
                    which[filled], amount[filled] = h, 0.0
                    filled += 1
                amount[slot[h]] += weights[k]
                total += weights[k]
        for k in range(first, filled):
            slot[which[k]] = -1
            amount[k] /= total
        begin[e + 1] = filled
    return begin, which[:filled].copy(), amount[:filled].copy()
