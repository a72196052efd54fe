"""The factor of an earlier step's matrix, whose back-substitutions cost a tenth of a new one: by it, Newton's method in
full space becomes cheap, and the error of a reduced step is estimated."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.reused import ReusedFactor
from supple.solve.increment import Increment, sum_fields
from supple.solve.linear import DIRECT_AT_MOST, make_linear_solver
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["Corrected", "OldFactor"]

FloatArray = NDArray[np.float64]
_CONTRACTS = 0.4  # corrections that shrink less ask for a new factor
_MOST = 8  # corrections
_INEXACT = 1e-2  # digits of an iterative solver


class Corrected(NamedTuple):
    """A full step by an old factor."""

    x: FloatArray
    matrix: FloatArray
    """That the factor is of at the end."""
    corrections: int
    residual: float
    """Before the last correction, relative to the forces that act."""


class OldFactor:
    """Solves with a remembered matrix of a system; it is factorised when another one was used before."""

    def __init__(self, system: System, mass: FloatArray) -> None:
        self.system = system
        self._share = np.repeat(mass[system.map.free] / mass.sum(), 3)
        name = "direct" if system.unknowns <= DIRECT_AT_MOST else system.solver_name
        self._linear = make_linear_solver(name, system.map.pattern, system.points, system.reach)
        self._matrix: FloatArray | None = None

    def solve(self, matrix: FloatArray, b: FloatArray, turns: FloatArray | None = None) -> FloatArray:
        """A⁻¹ b over the unknowns; Q A⁻¹ Qᵀ b where vertices have turned by Q, (n, 3, 3), since the matrix was made."""
        if matrix is not self._matrix:
            if isinstance(self._linear, ReusedFactor):
                self._linear.restart()
            self._matrix = None  # should it fail, there is none
            self._linear.prepare(matrix)
            self._matrix = matrix
        Q = None if turns is None else turns[self.system.map.free]
        if Q is not None:
            b = np.einsum("nji,nj->ni", Q, b.reshape(-1, 3)).ravel()
        d = self._linear.solve(b, _INEXACT)
        if Q is not None:
            d = np.einsum("nij,nj->ni", Q, d.reshape(-1, 3)).ravel()
        d[self.system.map.locked] = 0.0
        return d

    def rms(self, d: FloatArray) -> float:
        """Root of the mean square, by mass, of a displacement over the unknowns [m]."""
        return float(np.sqrt(self._share @ (d * d)))

    def correct(
        self,
        step: Increment,
        x: FloatArray,
        matrix: FloatArray | None,
        goal: float,
        watch: Stopwatch,
        turns: FloatArray | None = None,
    ) -> Corrected | None:
        """The minimum of a step from x [m], (n, 3), on, until what is left is below `goal` [m] by the corrections' own
        rate; None where that does not come about. `turns`: as in `solve`."""
        free, fresh, before, acting = self.system.map.free, False, np.inf, 0.0
        for count in range(1, _MOST + 1):
            with watch.phase("assembly"):
                terms = step.terms(x)
                gradient = step.map.unknowns(sum_fields(terms.values()))
            size = float(np.linalg.norm(gradient))
            if not np.isfinite(size):
                return None
            acting = acting or _size_acting(step, terms)
            try:
                if matrix is None:
                    matrix, turns, fresh = self._stiffen(step, x, watch), None, True
                with watch.phase("solve"):
                    d = self.solve(matrix, gradient, turns)
            except NotPositiveDefinite:
                return None
            x = x.copy()
            x[free] -= d.reshape(-1, 3)
            length = self.rms(d)
            rate = length / before if np.isfinite(before) else 0.5
            if rate < 1.0 and rate / (1.0 - rate) * length <= goal:
                return Corrected(x, matrix, count, size / acting)
            if rate > _CONTRACTS and np.isfinite(before):
                if fresh and rate > 1.0:
                    return None
                matrix = None
            before = length
        return None

    def _stiffen(self, step: Increment, x: FloatArray, watch: Stopwatch) -> FloatArray:
        """A new matrix at x [m], (n, 3)."""
        with watch.phase("assembly"):
            matrix = np.empty(self.system.map.pattern.nonzeros)
            step.stiffen(x, matrix, project=False)
        return matrix


def _size_acting(step: Increment, terms: dict[str, FloatArray]) -> float:
    """Size of the elastic and the external forces [N]."""
    sizes = [float(np.linalg.norm(step.map.unknowns(terms[name]))) for name in ("elastic force", "external force")]
    return max(sum(sizes), 1e-300)
