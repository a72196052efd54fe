"""A direct solver that factorises the first matrix of a sequence and lets its factor precondition the next ones."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.linalg.blocks import BlockRows
from supple.linalg.direct import NotPositiveDefinite, direct_solver
from supple.linalg.overlay import Merger, Overlay
from supple.linalg.pattern import BlockPattern

__all__ = ["ReusedFactor", "conjugate"]

FloatArray = NDArray[np.float64]
Map = Callable[[FloatArray], FloatArray]


class ReusedFactor:
    """Solves the slowly changing systems of one Newton solve.

    A triangular solve costs a tenth to a thirtieth of a factorisation, and the matrices of one time step differ
    little, also where contacts come or go: conjugate gradients preconditioned by the first factor need a few
    iterations. Once they need more than `patience`, this and every later matrix of the sequence is factorised.
    """

    patience = 6
    notices_indefinite = True

    def __init__(self, pattern: BlockPattern) -> None:
        self._merger = Merger(pattern)
        self._factor = direct_solver(pattern)
        self._pattern = self._factor_pattern = pattern
        self._rows: BlockRows | None = None
        self.name = self._factor.name
        self.restart()

    def restart(self) -> None:
        """Begin a new sequence: the next matrix is factorised."""
        self._exact = self._has_factor = self._impatient = False
        self.iterations = 0
        self.factorisations = 0

    def prepare(self, data: FloatArray, overlay: Overlay | None = None, *, same: bool = False) -> None:
        """Take the matrix whose upper triangle is `data`, plus the overlay."""
        pattern, self._data = self._merger.merge(data, overlay)
        if pattern is not self._pattern:
            self._pattern, self._rows = pattern, None
        self._exact = False
        if not self._has_factor or self._impatient:
            self._factorise()

    def _factorise(self) -> None:
        self._has_factor = False  # should it fail, there is none to go on with
        if self._factor_pattern is not self._pattern:
            del self._factor  # let it go before the new one comes
            self._factor = direct_solver(self._pattern)
            self._factor_pattern = self._pattern
        self._factor.factor(self._data)
        self._exact = self._has_factor = True
        self.factorisations += 1

    def solve(self, b: FloatArray, tolerance: float) -> FloatArray:
        """x with |A x - b| <= tolerance |b|; to round-off when the factor is of this matrix."""
        if not self._exact:
            x = self._refine(b, tolerance)
            if x is not None:
                return x
            self._factorise()
        self.iterations = 1
        return self._factor.solve(b)

    def _refine(self, b: FloatArray, tolerance: float) -> FloatArray | None:
        """Conjugate gradients preconditioned by the old factor; None when patience runs out."""
        if self._rows is None:
            self._rows = BlockRows.build(self._pattern)
        rows, blocks = self._rows, self._rows.fill(self._data)

        def multiply(p: FloatArray) -> FloatArray:
            return rows.multiply(blocks, p.reshape(-1, 3)).ravel()

        x, count = conjugate(multiply, self._factor.solve, b, tolerance, self.patience)
        self._impatient = x is None
        if x is not None:
            self.iterations = count
        return x

    @property
    def memory(self) -> int:
        """Bytes of the factor."""
        return self._factor.memory


def conjugate(
    multiply: Map, precondition: Map, b: FloatArray, tolerance: float, patience: int, first: FloatArray | None = None
) -> tuple[FloatArray | None, int]:
    """x with |A x - b| <= tolerance |b| by preconditioned conjugate gradients, and their iterations; None where more
    than `patience` were needed. `first` is the preconditioned b where that is known."""
    x, r = np.zeros_like(b), b.copy()
    z = precondition(r) if first is None else first
    p, rz = z.copy(), float(r @ z)
    goal = tolerance * float(np.linalg.norm(b))
    for count in range(1, patience + 1):
        q = multiply(p)
        pq = float(p @ q)
        if pq <= 0.0:
            raise NotPositiveDefinite
        alpha = rz / pq
        x += alpha * p
        r -= alpha * q
        if float(np.linalg.norm(r)) <= goal:
            return x, count
        z = precondition(r)
        new = float(r @ z)
        p *= new / rz
        p += z
        rz = new
    return None, patience
