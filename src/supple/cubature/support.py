"""Some candidates with their columns, on all equations or on sketched ones: weights fitted, rules made of them."""

import warnings
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from supple.cubature.blocks import column_blocks, sample_blocks
from supple.cubature.problem import IntArray, Problem, fit_error
from supple.cubature.rule import Rule
from supple.cubature.sketch import Sketch
from supple.errors import SuppleWarning
from supple.linalg.nnls import PIVOT, nnls

__all__ = ["Fit", "Support", "Trainer", "make_rule"]

FloatArray = NDArray[np.float64]
_NOTHING = 1e-12  # weights up to this are left out


class Trainer(Protocol):
    """What all trainers are: a problem, the relative error wanted and a seeded generator in, a rule out.

    A rule that misses the tolerance comes with a warning. `warm` is a rule whose members are tried first.
    """

    def __call__(
        self, problem: Problem, tolerance: float, rng: np.random.Generator, warm: Rule | None = None
    ) -> Rule: ...


class Fit:
    """Candidates with the Gram matrix of their columns on all equations; the columns never exist all at once.

    Of a soft body they would take gigabytes, and the system more time to hand them out than the sums need.
    """

    def __init__(self, problem: Problem, members: IntArray) -> None:
        self.problem, self.target = problem, problem.target()
        self.square = float(self.target @ self.target)
        self.members = np.asarray(members, np.int64)
        count = len(members)
        self.gram, self.right, self.weights = np.zeros((count, count)), np.zeros(count), np.zeros(count)
        for block in sample_blocks(problem, count):
            some = np.arange(problem.samples)[block]
            columns = problem.columns(self.members, some)
            self.gram += columns @ columns.T
            self.right += columns @ problem.target(some)

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Leave the other candidates out."""
        if which.all():
            return
        self.members, self.right, self.weights = self.members[which], self.right[which], self.weights[which]
        self.gram = self.gram[np.ix_(which, which)]

    def fit(self) -> None:
        """Give the candidates the weights that suit the equations best, and let go of those that come out zero."""
        weights = _solve(self.gram, self.right)
        self.weights = nnls(self.gram, self.right, self.square).weights if weights is None else weights
        self.keep(self.weights > _NOTHING)

    def residual(self) -> FloatArray:
        """b - A w, (equations,)."""
        left = self.target.copy()
        for block in column_blocks(self.problem, len(self.members)):
            left -= self.weights[block] @ self.problem.columns(self.members[block])
        return left

    def error(self) -> float:
        """|A w - b| / |b|."""
        return float(np.linalg.norm(self.residual()) / np.sqrt(self.square))


class Support(Fit):
    """Candidates with their columns, on all equations or on sketched ones; grows and shrinks without making a column
    twice."""

    def __init__(self, problem: Problem, members: IntArray, sketch: Sketch | None = None) -> None:
        self.problem = problem
        self._sketch = sketch
        self.target = problem.target() if sketch is None else sketch.apply(problem.target()[None])[0]
        self.square = float(self.target @ self.target)
        self.members = np.asarray(members, np.int64)
        self.columns = self._make_columns(members)
        self.gram = self.columns @ self.columns.T
        self.right = self.columns @ self.target
        self.weights = np.zeros(len(members))

    def _make_columns(self, members: IntArray) -> FloatArray:
        """Columns, (k, equations); those to be sketched never exist all at once."""
        if self._sketch is None:
            return self.problem.columns(members)
        out = np.empty((len(members), self._sketch.size))
        for block in column_blocks(self.problem, len(members)):
            out[block] = self._sketch.apply(self.problem.columns(members[block]))
        return out

    def add(self, members: IntArray) -> None:
        """Put candidates in, with weight zero."""
        new = self._make_columns(members)
        cross = self.columns @ new.T
        self.gram = np.block([[self.gram, cross], [cross.T, new @ new.T]])
        self.columns = np.concatenate([self.columns, new])
        self.members = np.concatenate([self.members, members])
        self.right = np.concatenate([self.right, new @ self.target])
        self.weights = np.concatenate([self.weights, np.zeros(len(members))])

    def keep(self, which: NDArray[np.bool_]) -> None:
        """Leave the other candidates out."""
        if which.all():
            return
        super().keep(which)
        self.columns = self.columns[which]

    def residual(self) -> FloatArray:
        return np.asarray(self.target - self.weights @ self.columns)


def _solve(gram: FloatArray, right: FloatArray) -> FloatArray | None:
    """Least-squares weights without regard to their signs, which are the best non-negative ones where none is negative;
    None where some are, or columns depend on each other."""
    if not len(right):
        return None
    scale = 1.0 / np.sqrt(np.maximum(np.diag(gram), 1e-300))
    factor, failed = lapack.dpotrf(gram * scale[:, None] * scale, lower=1)
    if failed or np.diag(factor).min() ** 2 <= PIVOT:
        return None
    weights = scale * lapack.dpotrs(factor, scale * right, lower=1)[0]
    return np.asarray(weights) if (weights >= 0.0).all() else None


def make_rule(support: Fit, trainer: str, tolerance: float) -> Rule:
    """The rule of a fitted support with its error recomputed; a warning when that is above the tolerance."""
    order = np.argsort(support.members)
    members, weights = support.members[order], support.weights[order]
    error = fit_error(support.problem, members, weights)
    if error > tolerance:
        warnings.warn(
            f"the rule of {len(members)} candidates leaves {100 * error:.2g} % of the {support.problem.samples} "
            f"training samples unexplained where {100 * tolerance:.2g} % was asked for: allow more or offer "
            f"more candidates than {support.problem.candidates}.",
            SuppleWarning,
            stacklevel=3,
        )
    return Rule(members, weights, error, trainer=trainer)
