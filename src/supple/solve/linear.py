"""Which linear solver serves a system, by rules measured once."""

from math import isqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.linalg.multigrid import Multigrid
from supple.linalg.overlay import Overlay
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.linalg.reused import ReusedFactor

__all__ = ["LINEAR_SOLVERS", "LinearSolver", "choose_linear_solver", "make_linear_solver", "most_trial_iterations"]

FloatArray = NDArray[np.float64]
LINEAR_SOLVERS = ("auto", "direct", "pcg", "amg")

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
# Where the trial takes longer, multigrid wins by time and memory only above this.
DIRECT_BELOW_STATIC = 120_000


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


def most_trial_iterations(unknowns: int) -> int:
    """Iterations of the trial up to which conjugate gradients serve statics."""
    return isqrt(unknowns)


def choose_linear_solver(unknowns: int, reach: float | None, tried: int | None = None) -> tuple[str, str]:
    """The solver's short name and the reason in a user's words; `reach` is None in statics, for which `tried` are the
    iterations of a trial at rest, None where there was none or it failed."""
    if reach is None:
        most = most_trial_iterations(unknowns)
        if tried is not None and unknowns >= TRIED_FROM_STATIC and tried <= most:
            return "pcg", f"static, {unknowns:,} unknowns, {tried} iterations in a trial at rest, limit {most}"
        name = "direct" if unknowns <= DIRECT_BELOW_STATIC else "amg"
        return name, f"static, {unknowns:,} unknowns, limit {DIRECT_BELOW_STATIC:,}"
    limit = round(min(max(DIRECT_PER_REACH * reach, DIRECT_AT_LEAST), DIRECT_AT_MOST))
    name = "direct" if unknowns <= limit else "pcg"
    return name, f"{unknowns:,} unknowns, limit {limit:,} where a wave crosses {reach:.3g} elements a step"


def make_linear_solver(name: str, pattern: BlockPattern, points: FloatArray, reach: float | None) -> LinearSolver:
    """The solver `name` for a pattern whose block rows lie at `points` [m], (n, 3); `reach` is None in statics."""
    if name == "direct":
        return ReusedFactor(pattern)
    if name == "pcg":
        two_levels = reach is None or reach > TWO_LEVELS_FROM
        return ConjugateGradients(pattern, points, two_levels=two_levels, follows_bends=reach is None)
    return Multigrid(pattern, points)
