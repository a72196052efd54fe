"""Newton's method with a line search on the potential of a step."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.reused import ReusedFactor
from supple.solve.direction import find_direction
from supple.solve.increment import Increment
from supple.solve.line_search import NewtonFailure, Way, go_down, search_line
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["NewtonFailure", "Solution", "minimise", "search_line"]

FloatArray = NDArray[np.float64]

_OVERSHOT = 0.3  # a step of which less is left went much too far
_HALVED = 0.5  # share of the residual that a step with a stiffness of earlier must get below
_CLEAR = 0.1  # a full step that leaves so little of the residual needs no look at the energy
_FORCE_ROUND_OFF = 4e-15  # forces below this share of stiffness times position are noise
_LOOKS = 30  # iterations in which contacts may still change
_BENT = 1  # iterations after one whose stiffness was not definite that do not try theirs as it is, for it will not be
_INEXACT = 1e-2  # digits asked of an iterative solver: Newton's own convergence makes the others


@dataclass(frozen=True, eq=False)
class Solution:
    """Where Newton's method arrived."""

    x: FloatArray
    iterations: int
    linear_iterations: int
    residual: float
    """|∇Φ| relative to the forces that act as the step begins."""


def minimise(
    step: Increment,
    system: System,
    x: FloatArray,
    gradient: FloatArray,
    *,
    reference: float,
    floor: float,
    tolerance: float,
    max_iterations: int,
    watch: Stopwatch,
    resume: bool = False,
    note: Callable[[FloatArray], None] | None = None,
    look: Callable[[FloatArray], Increment] | None = None,
) -> Solution:
    """The minimum of Φ from x on, where its gradient is given, until |∇Φ| <= max(tolerance reference, floor) [N].

    `resume`: this Φ differs in its contacts from that of the last call, so stiffness and factor kept from there may
    still serve as long as residuals halve. So does the stiffness of the last iteration where another one like it ends
    the step, or where contacts are what changes. `note` is told of every iterate. `look` gives Φ with the contacts that
    an iterate has, in the first `_LOOKS` of them.
    """
    free, goal = system.map.free, max(tolerance * reference, floor)
    if not resume:
        system.is_stiff = False
        if isinstance(system.linear, ReusedFactor):
            system.linear.restart()
    linear_iterations, cautious, bent = 0, False, 0
    stale = system.is_stiff
    for iteration in range(max_iterations + 1):
        if look is not None and 0 < iteration <= _LOOKS:
            step = look(x)
            with watch.phase("assembly"):
                gradient = step.gradient(x)
        size = float(np.linalg.norm(gradient))
        if not np.isfinite(size):
            raise NewtonFailure("the forces are not finite", x, size / reference)
        if note is not None:
            note(x)
        if size <= goal:
            return Solution(x, iteration, linear_iterations, size / max(reference, floor))
        if iteration == max_iterations:
            break
        found = find_direction(
            step, system, x, gradient, max(_INEXACT, 0.5 * goal / size), cautious, stale, bent > 0, watch
        )
        bent = (bent or _BENT + 1) - 1 if found.projected else 0
        linear_iterations += found.iterations
        if iteration == 0:
            diagonal = system.matrix[system.map.pattern.diagonal]
            goal = max(goal, _FORCE_ROUND_OFF * float(np.linalg.norm(diagonal * x[free].ravel())))
        ways = [
            Way(_move(x, free, d), float(gradient @ d), found.projected) for d in (found.d, found.bent) if d is not None
        ]
        ahead = ways[0].ahead
        if ways[0].slope >= 0.0:
            raise NewtonFailure("the linear solver found no way down", x, size / reference)
        with watch.phase("assembly"):
            there = step.gradient(ahead)
        left = float(np.linalg.norm(there))
        if left <= _CLEAR * size:  # False for NaN
            x, gradient, cautious, bent = ahead, there, False, 0
            stale = system.is_stiff and (step.contact is not None or left / size * left <= goal)
            continue
        with watch.phase("line search"):
            x, share = go_down(step.energy, x, ways, size / reference)
        cautious = share < _OVERSHOT
        with watch.phase("assembly"):
            gradient = there if x is ahead else step.gradient(x)
        # Where contacts open, close and slide, residuals say little about the elements: every other stiffness will do
        fell = float(np.linalg.norm(gradient)) < _HALVED * size
        bent = 0 if fell else bent
        stale = system.is_stiff and (fell if stale else step.contact is not None)
    raise NewtonFailure(f"no convergence in {max_iterations} Newton iterations", x, size / reference)


def _move(x: FloatArray, free: NDArray[np.integer], d: FloatArray) -> FloatArray:
    """Positions [m], (n, 3), of which the free ones have gone by d [m]."""
    moved = x.copy()
    moved[free] += d.reshape(-1, 3)
    return moved
