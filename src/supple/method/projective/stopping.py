"""When local and global steps have brought a time step near enough to its minimum.

Steps of projective dynamics converge linearly, of stiff bodies by a hundredth an iteration: a small last change says
little. What is left is the last change continued at the rate of the last few, δ ρ / (1 - ρ). `change` is that beside
the way of the step, which iterations have come from where inertia and loads alone lead.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError
from supple.linalg.jit import njit

__all__ = ["CONVERGENCE", "MOST", "ONCE", "Stopping", "find_change"]

CONVERGENCE, MOST = 0.02, 200  #: the usual change at which a step ends, and the usual most iterations
_BACK = 8  # iterations over which the rate is found: quasi-Newton changes rise now and then
# Rates that are believed: stiff parts come to rest in few iterations and slow ones follow; none is slower than the last
_FASTEST, _SLOWEST = 0.9, 0.99


class Stopping(NamedTuple):
    """When iterations end."""

    least: int
    most: int
    convergence: float
    """A change up to which steps are converged; 0: a step takes `least` iterations."""

    @classmethod
    def of(cls, iterations: int, max_iterations: int | None, convergence: float) -> "Stopping":
        """From what a user sets; without `max_iterations` there are at most 200, or `iterations` if these are more."""
        if iterations < 1:
            raise SceneError(f"iterations = {iterations} does nothing: give at least 1; 10 are usual.")
        if not 0.0 <= convergence < 1.0:
            raise SceneError(
                f"convergence = {convergence:g} must lie between 0 and 1: {CONVERGENCE:g} is usual, and 0 takes "
                "exactly `iterations`."
            )
        if max_iterations is not None and max_iterations < iterations:
            raise SceneError(
                f"max_iterations = {max_iterations} is below iterations = {iterations}, the least of a step: raise it."
            )
        most = max(iterations, MOST) if max_iterations is None else max_iterations
        return cls(iterations, most if convergence > 0.0 else iterations, convergence)

    def is_enough(self, done: int, change: float) -> bool:
        """Whether a step may end after so many iterations, with so much of its way left."""
        return done >= self.least and change <= self.convergence

    def is_met(self, change: float) -> bool:
        """Whether a step that ended with so much of its way left is converged; a fixed number of iterations is held to
        the usual measure."""
        return change <= (self.convergence or CONVERGENCE)

    def describe(self) -> str:
        """In a user's words."""
        if self.most == self.least:
            return f"{self.least} iterations a step"
        return f"{self.least} to {self.most} iterations a step, until {100 * self.convergence:g} % of its way is left"


ONCE = Stopping(1, 1, 0.0)


@njit(cache=True)
def find_change(changes: NDArray[np.float64], count: int, way: float, nothing: float) -> float:
    """Share of its way that a step still has to go after `count` iterations with their changes [m].

    `way` [m] is how far these have come; changes up to `nothing` [m] are round-off.
    """
    last = changes[count - 1]
    if last <= nothing:
        return 0.0
    back = min(_BACK, count - 1)
    rate = _SLOWEST
    if back > 0:
        rate = (last / max(changes[count - 1 - back], last)) ** (1.0 / back)
    rate = min(max(rate, _FASTEST), _SLOWEST)
    return float(last * rate / ((1.0 - rate) * max(way, last)))
