"""Which linear solver serves a system, by rules measured once."""

from math import isqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import load_mkl
from supple.linalg.overlay import Overlay
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.linalg.reused import ReusedFactor

__all__ = [
    "LINEAR_SOLVERS",
    "LinearSolver",
    "choose_linear_solver",
    "is_worth_a_trial",
    "make_linear_solver",
    "most_trial_iterations",
]

FloatArray = NDArray[np.float64]
LINEAR_SOLVERS = ("auto", "direct", "pcg")

# Measured on two cores with stable neo-Hookean bodies of 2k to 160k tets and Young's moduli of 1e4 to 1e8 Pa (supple
# bench full): a factorisation grows with the square of the unknowns, a conjugate-gradient solve with little more than
# the unknowns. `reach`, the number of elements that a pressure wave crosses in a step, says how little inertia helps
# the iteration; up to 170 it did not lose to the direct solver above two thousand unknowns. The limit is cautious:
DIRECT_PER_REACH = 25.0
DIRECT_AT_LEAST, DIRECT_AT_MOST = 2_000, 150_000
# A coarse level pays where waves cross more elements a step than a cluster of vertices has across.
TWO_LEVELS_FROM = 8.0
# Statics has no inertia to help the iteration, but flesh that bones hold everywhere needs none. So a trial at rest, a
# uniform load to two digits, decides by its iterations: a factor of 20,000 to 70,000 unknowns takes as long as two to
# four times the root of their number of them (two cores, soft bodies with bones, 30k to 120k tets).
TRIED_FROM_STATIC = 15_000
# SuperLU, which serves where MKL is not installed, took 5.1 s for a factor of 21,500 unknowns, PARDISO 0.34 s.
SUPERLU_COST = 10


class LinearSolver(Protocol):
    """Solves the systems of Newton's method."""

    name: str
    iterations: int
    notices_indefinite: bool
    """Whether it raises NotPositiveDefinite for matrices that are not."""

    def prepare(self, data: FloatArray, overlay: Overlay | None = None, *, same: bool = False) -> None:
        """Take the matrix whose upper triangle is `data`, plus the overlay; `same`: only that has changed."""

    def solve(self, b: FloatArray, tolerance: float) -> FloatArray:
        """x with |A x - b| <= tolerance |b|."""

    @property
    def memory(self) -> int:
        """Bytes held."""


def _factor_cost() -> int:
    """How many times as long a factor takes as one of PARDISO."""
    return SUPERLU_COST if load_mkl() is None else 1


def is_worth_a_trial(unknowns: int) -> bool:
    """Whether statics of so many unknowns are tried with conjugate gradients."""
    return unknowns * _factor_cost() >= TRIED_FROM_STATIC


def most_trial_iterations(unknowns: int) -> int:
    """Iterations of the trial up to which conjugate gradients serve statics."""
    return isqrt(unknowns) * _factor_cost()


def choose_linear_solver(unknowns: int, reach: float | None, tried: int | None = None) -> tuple[str, str]:
    """The solver's short name and the reason in a user's words; `reach` is None in statics, for which `tried` are the
    iterations of a trial at rest, None where there was none or it failed."""
    if reach is None:
        most = most_trial_iterations(unknowns)
        if tried is not None and is_worth_a_trial(unknowns) and tried <= most:
            return "pcg", f"static, {unknowns:,} unknowns, {tried} iterations in a trial at rest, limit {most}"
        slow = "" if tried is None else f", more than {most} iterations in a trial at rest"
        return "direct", f"static, {unknowns:,} unknowns{slow}"
    limit = round(min(max(DIRECT_PER_REACH * reach / _factor_cost(), DIRECT_AT_LEAST), DIRECT_AT_MOST))
    name = "direct" if unknowns <= limit else "pcg"
    return name, f"{unknowns:,} unknowns, limit {limit:,} where a wave crosses {reach:.3g} elements a step"


def make_linear_solver(
    name: str, pattern: BlockPattern, points: FloatArray, reach: float | None, *, follows_bends: bool = False
) -> LinearSolver:
    """The solver `name` for a pattern whose block rows lie at `points` [m], (n, 3); `reach` is None in statics.

    `follows_bends`: conjugate gradients answer for matrices that are not positive definite, too."""
    if name == "direct":
        return ReusedFactor(pattern)
    two_levels = reach is None or reach > TWO_LEVELS_FROM
    return ConjugateGradients(pattern, points, two_levels=two_levels, follows_bends=follows_bends)
