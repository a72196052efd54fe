"""The factor of an earlier step's matrix, whose back-substitutions cost a tenth to a fiftieth of a new one: by it,
Newton's method in full space becomes cheap, and the error of a reduced step is estimated.

Where the body is far from where the factor was made, conjugate gradients with the matrix of the moment, which the
factor preconditions, still cost less than a new one.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.blocks import BlockRows
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.reused import ReusedFactor, conjugate
from supple.solve.increment import Increment, sum_fields
from supple.solve.linear import DIRECT_AT_MOST, make_linear_solver
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["Corrected", "OldFactor"]

FloatArray = NDArray[np.float64]
_CONTRACTS = 0.4  # corrections that shrink less ask for a new factor
_MOST = 8  # corrections
_INEXACT = 1e-2  # digits of an iterative solver
_ROUGH = 0.1  # digits of conjugate gradients within Newton's method
_PATIENCE = 2.5e-3  # of the unknowns: the square of iterations that take about a third of a factor's time
_PATIENCES = 3  # that all solutions together may take before there is a new one


class Old(NamedTuple):
    """A matrix whose factor is used again."""

    matrix: FloatArray | None
    turns: FloatArray | None = None
    """How vertices have turned since it was made, (n, 3, 3); None where they have not."""
    spent: int = 0
    """Iterations of conjugate gradients that another one would have saved."""


class Corrected(NamedTuple):
    """A full step by an old factor."""

    x: FloatArray
    old: Old
    """What the factor is of at the end."""
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

    def approach(
        self, current: FloatArray | None, old: Old, b: FloatArray, first: FloatArray | None = None
    ) -> tuple[FloatArray, Old]:
        """The same with the `current` matrix, to a digit, by conjugate gradients that the old factor preconditions, or
        by a new one where these take too long or have taken as long already; by the old one alone where there is no
        current one. `first` is what the old one makes of b, where that is known."""
        if current is None or current is old.matrix:
            assert old.matrix is not None
            return self.solve(old.matrix, b, old.turns), old
        if old.matrix is not None and isinstance(self._linear, ReusedFactor):
            rows, blocks, matrix = self._rows, self._rows.fill(current), old.matrix
            patience = int(np.sqrt(_PATIENCE * len(b)))
            d, spent = conjugate(
                lambda p: rows.multiply(blocks, p.reshape(-1, 3)).ravel(),
                lambda r: self.solve(matrix, r, old.turns),
                b, _ROUGH, min(patience, _PATIENCES * patience - old.spent), first,
            )  # fmt: skip
            if d is not None:
                return d, old._replace(spent=old.spent + spent)
        return self.solve(current, b), Old(current)

    @cached_property
    def _rows(self) -> BlockRows:
        return BlockRows.build(self.system.map.pattern)

    def rms(self, d: FloatArray) -> float:
        """Root of the mean square, by mass, of a displacement over the unknowns [m]."""
        return float(np.sqrt(self._share @ (d * d)))

    def correct(
        self, step: Increment, x: FloatArray, old: Old, goal: float, watch: Stopwatch, share: float = 0.0
    ) -> Corrected | None:
        """The minimum of a step from x [m], (n, 3), on, until what is left is below `goal` [m], or that share of all
        the way, by the corrections' own rate; None where that does not come about."""
        free, before, acting, start = self.system.map.free, np.inf, 0.0, x
        current = None if old.matrix is not None else self._stiffen(step, x, watch)
        for count in range(1, _MOST + 1):
            with watch.phase("assembly"):
                terms = step.terms(x)
                gradient = step.map.unknowns(sum_fields(terms.values()))
            size = float(np.linalg.norm(gradient))
            if not np.isfinite(size):
                return None
            acting = acting or _size_acting(step, terms)
            try:
                with watch.phase("solve"):
                    d, old = self.approach(current, old, gradient)
            except NotPositiveDefinite:
                return None
            x = x.copy()
            x[free] -= d.reshape(-1, 3)
            length = self.rms(d)
            rate = length / before if np.isfinite(before) else 0.5
            known = current is not None or np.isfinite(before)  # one answer of an old factor tells nothing of the next
            most = max(goal, share * self.rms((x - start)[free].ravel())) if share else goal
            if known and rate < 1.0 and rate / (1.0 - rate) * length <= most:
                return Corrected(x, old, count, size / acting)
            if rate > _CONTRACTS and np.isfinite(before):
                if current is not None and rate > 1.0:
                    return None
                current, length = self._stiffen(step, x, watch), np.inf if current is None else length
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
