"""The factor of an earlier step's matrix, whose back-substitutions cost a tenth to a fiftieth of a new one: by it,
Newton's method in full space becomes cheap, and the error of a reduced step is estimated.

Where the body is far from where the factor was made, conjugate gradients with the matrix of the moment, which the
factor preconditions, still cost less than a new one.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from supple.linalg.blocks import BlockRows
from supple.linalg.reused import ReusedFactor, conjugate
from supple.method.skipping.newton import SMALL, Found, FullNewton, Old, spread, stretch
from supple.solve.increment import Increment
from supple.solve.linear import DIRECT_AT_MOST, make_linear_solver
from supple.solve.system import System

__all__ = ["OldFactor"]

FloatArray = NDArray[np.float64]
_CONTRACTS = 0.5  # corrections that shrink less ask for the matrix of the moment
_DIVERGES = 3.0  # corrections that grow more lead astray
_WRONG = 10.0  # times that a factor is wrong which knows nothing of the body
_MOST = 8  # corrections after a check's own
_INEXACT = 1e-2  # digits of an iterative solver
_ROUGH = 0.1  # digits of conjugate gradients within Newton's method
_PATIENCE = 2.5e-3  # of the unknowns: the square of iterations that take about a third of a factor's time
_PATIENCES = 3  # that all solutions together may take before there is a new one


class OldFactor(FullNewton):
    """Solves with a remembered matrix of a system; it is factorised when another one was used before."""

    def __init__(self, system: System, mass: FloatArray) -> None:
        super().__init__(system, mass)
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
        return self.turned(lambda r: self._linear.solve(r, _INEXACT), b, turns)

    def approach(
        self, current: FloatArray | None, old: Old, b: FloatArray, first: FloatArray | None = None
    ) -> tuple[FloatArray, Old]:
        """A⁻¹ b with the `current` matrix, to a digit, by conjugate gradients that the old factor preconditions, or
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

    def find(self, step: Increment, old: Old, x: FloatArray, r: FloatArray, goal: float) -> Found:
        """A second residual tells how far the factor is wrong along its own answer, for it may be old."""
        d, _ = self.approach(None, old, r)
        end = x - spread(d, x, self.system)
        left = step.gradient(end)
        wrong, fallback = stretch(d, r, left), old
        before, error = self.rms(wrong * d), spread(wrong * d, x, self.system)
        if wrong >= _WRONG:  # nor would a full step by such a factor know anything
            error, fallback = np.full_like(x, np.inf), Old(None)
        elif before <= SMALL * goal:
            return Found(error, None, old)
        elif not old.spent:
            found = self._correct_alone(step, old, (end, left, before), goal)
            if found is not None:
                return Found(x - found, found, old)
        end, left, before, current = x, r, np.inf, self.stiffen(step, x)
        for _ in range(_MOST):
            go, old = self.approach(current, old, left, d)
            length, end = self.rms(go), end - spread(go, x, self.system)
            if not length < _DIVERGES * before:
                break
            before, left = length, step.gradient(end)
            d, _ = self.approach(None, old, left)
            if (1.0 if old.matrix is current else max(1.0, wrong)) * self.rms(d) <= goal:
                return Found(x - end, end, old)
        return Found(error, None, fallback)  # a matrix from where corrections went astray is none to go on with

    def _correct_alone(
        self, step: Increment, old: Old, corrected: tuple[FloatArray, FloatArray, float], goal: float
    ) -> FloatArray | None:
        """Positions [m], (n, 3), within `goal` [m] of a step's end by the old factor alone, on from where a correction
        of some length [m] has left a residual; None where it leads elsewhere."""
        end, left, before = corrected
        for _ in range(_MOST):
            d, _ = self.approach(None, old, left)
            length = self.rms(d)
            if not length < _CONTRACTS * before:
                return None
            end = end - spread(d, end, self.system)
            if length * length <= goal * before:
                return end  # what is left shrinks on at this rate
            before, left = length, step.gradient(end)
        return None
