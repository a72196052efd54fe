"""Which linear solver serves a system, by rules measured once."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from supple.linalg.multigrid import Multigrid
from supple.linalg.pattern import BlockPattern
from supple.linalg.pcg import ConjugateGradients
from supple.linalg.reused import ReusedFactor

__all__ = ["LINEAR_SOLVERS", "LinearSolver", "choose_linear_solver", "make_linear_solver"]

FloatArray = NDArray[np.float64]
LINEAR_SOLVERS = ("auto", "direct", "pcg", "amg")

# Measured on two cores with stable neo-Hookean beams (supple bench full): a factorisation grows with the power
# 1.5 to 2 of the unknowns, a conjugate-gradient solve with 1.1; they cross here for steps of a hundredth second.
DIRECT_BELOW_DYNAMIC = 30_000
# Statics has no inertia to help the iteration; multigrid wins by time and memory only here.
DIRECT_BELOW_STATIC = 120_000


class LinearSolver(Protocol):
    """Solves the systems of Newton's method."""

    name: str
    iterations: int

    def prepare(self, data: FloatArray) -> None:
        """Take the matrix whose upper triangle is `data`."""

    def solve(self, b: FloatArray, tolerance: float) -> FloatArray:
        """x with |A x - b| <= tolerance |b|."""

    @property
    def memory(self) -> int:
        """Bytes held."""


def choose_linear_solver(unknowns: int, *, static: bool) -> tuple[str, str]:
    """The solver's short name and the reason in a user's words."""
    limit = DIRECT_BELOW_STATIC if static else DIRECT_BELOW_DYNAMIC
    kind = "static" if static else "dynamic"
    if unknowns <= limit:
        return "direct", f"{unknowns:,} unknowns, at most {limit:,} in a {kind} problem"
    return ("amg" if static else "pcg"), f"{unknowns:,} unknowns, more than {limit:,} in a {kind} problem"


def make_linear_solver(name: str, pattern: BlockPattern, points: FloatArray) -> LinearSolver:
    """The solver `name` for a pattern whose block rows lie at `points` [m], (n, 3)."""
    if name == "direct":
        return ReusedFactor(pattern)
    if name == "pcg":
        return ConjugateGradients(pattern)
    return Multigrid(pattern, points)
