"""Bordered systems that follow each other: conjugate gradients, and a direct solver once these have taken long."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, bsr_array, coo_array, csr_array

from supple.linalg.bordered import Bordered
from supple.linalg.direct import Factor, NotPositiveDefinite, direct_solver
from supple.linalg.pattern import UpperPattern

__all__ = ["BorderedSolver", "to_sparse"]

FloatArray = NDArray[np.float64]

# Measured on a static capsule, half of it full, one thread, to two digits. With 1,200 / 4,100 / 10,100 / 33,400
# unknowns a factorisation takes as long as 120 / 260 / 510 / 1,400 iterations of conjugate gradients, a solve with the
# factor as 13 to 40; five of these do for a matrix that has changed since. By that, over the eight systems of a step, a
# factor pays from 130 / 185 / 250 / 400 iterations a system on, 12 ∛n. The capsule takes 75 to 250 of them, fewer than
# that, with a Poisson's ratio of 0.4, and 330 with 0.49 and 4,100 unknowns; all this without a second level of the
# preconditioner, with which it takes 25 to 55, and a factor no longer pays there. The limit is cautious:
LONG = 16.0


class BorderedSolver:
    """Solves the slowly changing systems of one step.

    Once a system has taken more than `LONG` ∛n iterations, the next one is factorised, and its factor preconditions
    those that follow until they take more than `patience`.
    """

    patience = 8

    def __init__(self) -> None:
        self._slow = False
        self._factor: Factor | None = None
        self._pattern: UpperPattern | None = None
        self.solved = self.longest = 0
        """Systems so far, and the most iterations that one of them took."""

    def solve(self, matrix: Bordered, b: FloatArray, tolerance: float, *, bends: bool = False) -> FloatArray:
        """z with a residual of `tolerance` times that of zero, in the norm of the preconditioner; the matrix notes the
        iterations, none where it has been factorised, and whether it `bends`."""
        z = self._solve(matrix, b, tolerance, bends)
        self.solved, self.longest = self.solved + 1, max(self.longest, matrix.iterations)
        return z

    def _solve(self, matrix: Bordered, b: FloatArray, tolerance: float, bends: bool) -> FloatArray:
        if not self._slow:
            z = matrix.solve(b, tolerance, bends=bends)
            self._slow = matrix.iterations > LONG * np.cbrt(len(b))
            return z
        if self._factor is not None and self._pattern is not None and self._pattern.size == len(b):
            refined = self._refine(self._factor, matrix, b, tolerance)
            if refined is not None:
                return refined
        try:
            factor = self._factorise(matrix)
        except NotPositiveDefinite:  # perhaps along directions that do not matter: those are for the iteration to tell
            self._factor = None
            return matrix.solve(b, tolerance)
        matrix.iterations = 0
        return factor.solve(b)

    def _factorise(self, matrix: Bordered) -> Factor:
        pattern, data = UpperPattern.of(to_sparse(matrix))
        if self._factor is None or self._pattern is None or not pattern.is_like(self._pattern):
            self._factor, self._pattern = direct_solver(pattern), pattern
        self._factor.factor(data)
        return self._factor

    def _refine(self, factor: Factor, matrix: Bordered, b: FloatArray, tolerance: float) -> FloatArray | None:
        """Conjugate gradients preconditioned by an earlier factor; None when patience runs out."""
        z, r = np.zeros_like(b), b.copy()
        w = factor.solve(r)
        p, rw = w, float(r @ w)
        goal = tolerance * tolerance * rw
        for count in range(1, self.patience + 1):
            y = matrix.multiply(p)
            py = float(p @ y)
            if not py > 0.0:
                raise NotPositiveDefinite
            z += rw / py * p
            r -= rw / py * y
            w = factor.solve(r)
            new = float(r @ w)
            if new <= goal:
                matrix.iterations = count
                return z
            p, rw = w + new / rw * p, new
        return None


def to_sparse(matrix: Bordered) -> csr_array:
    """All of the matrix, border, springs and held motions included."""
    size, rank = 3 * matrix.count, len(matrix.B)
    lengths = matrix.stop - matrix.begin
    start = np.concatenate([[0], np.cumsum(lengths)])
    inside = np.arange(start[-1]) + np.repeat(matrix.begin - start[:-1], lengths)
    blocks = matrix.blocks[inside].astype(np.float64).reshape(-1, 3, 3)
    A = csr_array(bsr_array((blocks, matrix.columns[inside], start), shape=(size, size)))
    A.setdiag(A.diagonal() + np.repeat(matrix.extra, 3))
    rows = (3 * matrix.edge[:, None] + np.arange(3)).ravel()
    held, springs = matrix.held, matrix.springs
    free = np.eye(rank) - held @ held.T if held.shape[1] else np.eye(rank)
    C = _spread(rows, matrix.C.reshape(-1, rank) @ free, size)
    B = free @ matrix.B @ free + matrix.grip * (np.eye(rank) - free)
    if len(springs.rows):
        spring, corner = np.nonzero(springs.weights)
        gaps = (3 * spring[:, None] + np.arange(3)).ravel()
        places = (3 * springs.rows[spring, corner][:, None] + np.arange(3)).ravel()
        weights = np.repeat(springs.weights[spring, corner], 3)
        W = csr_array(coo_array((weights, (gaps, places)), shape=(3 * len(springs.rows), size)))
        K = csr_array(bsr_array((springs.curvature, np.arange(len(springs.rows)), np.arange(len(springs.rows) + 1))))
        mixed = np.flatnonzero(springs.places >= 0)
        gaps = (3 * mixed[:, None] + np.arange(3)).ravel()
        H = _spread(gaps, springs.H[springs.places[mixed]].reshape(-1, rank) @ free, 3 * len(springs.rows))
        A, C, B = A + W.T @ K @ W, C + W.T @ K @ H, B + (H.T @ K @ H).toarray()
    return csr_array(block_array([[A, C], [C.T, csr_array(B)]]))


def _spread(rows: NDArray[np.integer], values: FloatArray, count: int) -> csr_array:
    """A matrix of `count` rows that has dense ones, ascending, and is empty elsewhere."""
    lengths = np.zeros(count + 1, np.int64)
    lengths[1 + rows] = values.shape[1]
    columns = np.tile(np.arange(values.shape[1]), len(rows))
    return csr_array((values.ravel(), columns, np.cumsum(lengths)), shape=(count, values.shape[1]))
