"""Full steps and checks of static flesh that bones hold everywhere, by conjugate gradients: they need no factor, which
would cost as much as hundreds of iterations.

A look at the error of a step takes eight of them with the matrix of an earlier one. They find a quarter of the error,
or a third; how much it was is known from when more of them were taken last.
"""

import numpy as np
from numpy.typing import NDArray

from supple.linalg.pcg import ConjugateGradients
from supple.method.skipping.newton import SMALL, Found, FullNewton, Old, spread, stretch
from supple.solve.increment import Increment
from supple.solve.system import System

__all__ = ["OldMatrix"]

FloatArray = NDArray[np.float64]
_LOOK = 8  # iterations of a look
_NEARLY = 0.03  # digits of others: what they miss is smooth, and up to a fifth of the answer
_SHARE = 0.2  # of what a correction may leave, relative to its length: digits that leave so much
_DIGITS = 0.01, 0.1  # their bounds
_GAIN = 1.0, 10.0  # bounds of what a look may miss
_DIVERGES = 3.0  # corrections that grow more lead astray
_MOST = 8  # corrections


class OldMatrix(FullNewton):
    """Solves with remembered matrices of a system by conjugate gradients on two levels."""

    keeps = False

    def __init__(self, system: System, mass: FloatArray) -> None:
        super().__init__(system, mass)
        self._linear = ConjugateGradients(system.map.pattern, system.points)
        self._matrix: FloatArray | None = None

    def approach(self, current: FloatArray | None, old: Old, b: FloatArray) -> tuple[FloatArray, Old]:
        if current is None:
            return self._solve(old, b), old
        old = Old(current, gain=old.gain)
        return self._solve(old, b), old

    def find(self, step: Increment, old: Old, x: FloatArray, r: FloatArray, goal: float) -> Found:
        """A look first; where it finds too much, or nothing is known of what it misses, all of the error with the
        matrix of the moment."""
        d = self._solve(old, r, most=_LOOK)
        wrong = stretch(d, r, step.gradient(x - spread(d, x, self.system)))
        size = old.gain * wrong * self.rms(d)
        if 0.0 < size <= SMALL * goal:
            return Found(spread(old.gain * wrong * d, x, self.system), None, old)
        old = Old(self.stiffen(step, x), gain=old.gain)
        go = self._solve(old, r, _digits(goal, size))
        error, end, before = spread(go, x, self.system), x, np.inf
        old = old._replace(gain=float(np.clip(self.rms(go) / max(wrong * self.rms(d), 1e-300), *_GAIN)))
        if self.rms(go) <= SMALL * goal:
            return Found(error, None, old)
        for _ in range(_MOST):
            if not self.rms(go) < _DIVERGES * before:
                break
            before, end = self.rms(go), end - spread(go, x, self.system)
            left = step.gradient(end)
            size = old.gain * self.rms(self._solve(old, left, most=_LOOK))
            if size <= goal:
                return Found(x - end, end, old)
            go = self._solve(old, left, _digits(goal, size))
        return Found(error, None, old)

    def _solve(self, old: Old, b: FloatArray, digits: float = _NEARLY, most: int | None = None) -> FloatArray:
        """A⁻¹ b over the unknowns to some digits, or as far as so many iterations go."""
        assert old.matrix is not None
        if old.matrix is not self._matrix:
            self._matrix = None  # should it fail, there is none
            self._linear.prepare(old.matrix)
            self._matrix = old.matrix
        return self.turned(lambda r: self._linear.solve(r, digits, most), b, old.turns)


def _digits(goal: float, size: float) -> float:
    """Digits to which a correction of about this size [m] is found, so that `goal` [m] is left of it."""
    return float(np.clip(_SHARE * goal / size, *_DIGITS)) if size > 0.0 else _NEARLY
