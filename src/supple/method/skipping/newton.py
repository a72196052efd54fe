"""Newton's method in full space with matrices of earlier steps, where a full step ends near its prediction.

How nearly a linear system is solved, and with which matrix, is for those who do it: a factor of an earlier step
(`OldFactor`), or conjugate gradients (`OldMatrix`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.overlay import Merger
from supple.linalg.turns import turn, turn_back
from supple.solve.increment import Increment, sum_fields
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["SMALL", "Corrected", "Found", "FullNewton", "Old", "spread", "stretch"]

FloatArray = NDArray[np.float64]
SMALL = 5.0  #: goals: an error of a static step up to this has nothing to teach
_CONTRACTS = 0.4  # corrections that shrink less ask for a new matrix
_MOST = 8  # corrections
_STRETCH = 0.3, 10.0  # bounds of what a matrix may be wrong by


class Old(NamedTuple):
    """A matrix that is used again."""

    matrix: FloatArray | None
    turns: FloatArray | None = None
    """How vertices have turned since it was made, (n, 3, 3); None where they have not."""
    spent: int = 0
    """Iterations of conjugate gradients that another one would have saved."""
    gain: float = 0.0
    """How many times as long as a look's answer the whole one was, when both were known last; 0 where none were."""


class Corrected(NamedTuple):
    """A full step by corrections."""

    x: FloatArray
    old: Old
    """What the matrix is of at the end."""
    corrections: int
    residual: float
    """Before the last correction, relative to the forces that act."""


class Found(NamedTuple):
    """How far a static step is from the full one."""

    error: FloatArray
    """[m], (n, 3)"""
    end: FloatArray | None
    """Positions at the end of the full step [m], (n, 3), where they differ by more than a little."""
    old: Old


class FullNewton(ABC):
    """Newton's method over the unknowns of a system."""

    keeps = True
    """Whether the matrix of an earlier step begins the next full one, for a new one is dear."""

    def __init__(self, system: System, mass: FloatArray) -> None:
        self.system = system
        self._share = np.repeat(mass[system.map.free] / mass.sum(), 3)

    @abstractmethod
    def approach(self, current: FloatArray | None, old: Old, b: FloatArray) -> tuple[FloatArray, Old]:
        """A⁻¹ b, nearly, with the `current` matrix, or the old one where there is none; and what is old after it."""

    @abstractmethod
    def find(self, step: Increment, old: Old, x: FloatArray, r: FloatArray, goal: float) -> Found:
        """How far a static step that ends at x [m], (n, 3), with the residual r over the unknowns, is from the full
        one; and where that ends, to `goal` [m], if that is far enough to teach anything."""

    def turned(self, solve: Callable[[FloatArray], FloatArray], b: FloatArray, turns: FloatArray | None) -> FloatArray:
        """A⁻¹ b over the unknowns; Q A⁻¹ Qᵀ b where vertices have turned by Q, (n, 3, 3), since A was made."""
        Q = None if turns is None else turns[self.system.map.free]
        if Q is not None:
            b = turn_back(Q, b.reshape(-1, 3)).ravel()
        d = solve(b)
        if Q is not None:
            d = turn(Q, d.reshape(-1, 3)).ravel()
        d[self.system.map.locked] = 0.0
        return d

    def rms(self, d: FloatArray) -> float:
        """Root of the mean square, by mass, of a displacement over the unknowns [m]."""
        return float(np.sqrt(self._share @ (d * d)))

    def correct(
        self, step: Increment, x: FloatArray, old: Old, goal: float, watch: Stopwatch, share: float = 0.0
    ) -> Corrected | None:
        """The minimum of a step from x [m], (n, 3), on, until what is left is below `goal` [m], or that share of all
        the way, by the corrections' own rate; None where that does not come about."""
        free, before, acting, start = self.system.map.free, np.inf, 0.0, x
        current = None if self.keeps and old.matrix is not None else self._stiffen(step, x, watch)
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
            known = current is not None or np.isfinite(before)  # one answer of an old matrix tells nothing of the next
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

    def stiffen(self, step: Increment, x: FloatArray) -> FloatArray:
        """The matrix of a step at x [m], (n, 3), which is definite, contacts among it."""
        matrix = np.empty(self.system.map.pattern.nonzeros)
        step.stiffen(x, matrix, project=True)
        return Merger(self.system.map.pattern).merge(matrix, step.join(x))[1]


def spread(d: FloatArray, x: FloatArray, system: System) -> FloatArray:
    """A displacement over the unknowns at all vertices, (n, 3) as positions x."""
    out = np.zeros_like(x)
    out[system.map.free] = d.reshape(-1, 3)
    return out


def stretch(d: FloatArray, before: FloatArray, after: FloatArray) -> float:
    """By what to multiply a correction so that it is right along itself, from the residuals before and after it; at
    most ten, which is to say that the matrix it came from knows nothing of the body."""
    bend = float((before - after) @ d)
    return float(np.clip(float(before @ d) / bend, *_STRETCH)) if bend > 0.0 else _STRETCH[1]


def _size_acting(step: Increment, terms: dict[str, FloatArray]) -> float:
    """Size of the elastic and the external forces [N]."""
    sizes = [float(np.linalg.norm(step.map.unknowns(terms[name]))) for name in ("elastic force", "external force")]
    return max(sum(sizes), 1e-300)
