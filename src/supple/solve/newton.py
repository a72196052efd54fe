"""Newton's method with a line search on the potential of a step."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.overlay import Overlay
from supple.linalg.reused import ReusedFactor
from supple.solve.increment import Increment
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["NewtonFailure", "Solution", "minimise", "search_line"]

FloatArray = NDArray[np.float64]

_ARMIJO = 1e-4  # a step must bring this share of the decrease its slope promises
_SMALLEST_STEP = 2.0**-20
_OVERSHOT = 0.3  # a step of which less is left went much too far
_HALVED = 0.5  # share of the residual that a step with a stiffness of earlier must get below
_CLEAR = 0.1  # a full step that leaves so little of the residual needs no look at the energy
_ENERGY_ROUND_OFF = 1e-15  # energies closer than this share of their terms are equal
_FORCE_ROUND_OFF = 4e-15  # forces below this share of stiffness times position are noise
_FARTHEST = 8.0  # multiples of a step with a projected stiffness that are tried
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


class NewtonFailure(ArithmeticError):
    """No convergence; carries the last iterate."""

    def __init__(self, reason: str, x: FloatArray, residual: float) -> None:
        super().__init__(reason)
        self.reason, self.x, self.residual = reason, x, residual
        self.terms: dict[str, FloatArray] = {}
        """Forces by where they come from [N], filled in by who knows them."""


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
        direction, projected = _newton_direction(
            step, system, x, gradient, max(_INEXACT, 0.5 * goal / size), cautious, stale, bent > 0, watch
        )
        bent = (bent or _BENT + 1) - 1 if projected else 0
        linear_iterations += system.linear.iterations
        if iteration == 0:
            diagonal = system.matrix[system.map.pattern.diagonal]
            goal = max(goal, _FORCE_ROUND_OFF * float(np.linalg.norm(diagonal * x[free].ravel())))
        slope = float(gradient @ direction)
        if slope >= 0.0:
            raise NewtonFailure("the linear solver found no way down", x, size / reference)
        ahead = x.copy()
        ahead[free] += direction.reshape(-1, 3)
        with watch.phase("assembly"):
            there = step.gradient(ahead)
        left = float(np.linalg.norm(there))
        if left <= _CLEAR * size:  # False for NaN
            x, gradient, cautious, bent = ahead, there, False, 0
            stale = system.is_stiff and (step.contact is not None or left / size * left <= goal)
            continue
        with watch.phase("line search"):
            begin, (x, share) = x, search_line(step.energy, x, ahead, slope, size / reference)
            if projected and share == 1.0:
                x = _go_on(step.energy, begin, x)
        cautious = share < _OVERSHOT
        with watch.phase("assembly"):
            gradient = there if x is ahead else step.gradient(x)
        # Where contacts open, close and slide, residuals say little about the elements: every other stiffness will do
        fell = float(np.linalg.norm(gradient)) < _HALVED * size
        bent = 0 if fell else bent
        stale = system.is_stiff and (fell if stale else step.contact is not None)
    raise NewtonFailure(f"no convergence in {max_iterations} Newton iterations", x, size / reference)


def _newton_direction(
    step: Increment,
    system: System,
    x: FloatArray,
    gradient: FloatArray,
    tolerance: float,
    cautious: bool,
    stale: bool,
    is_bent: bool,
    watch: Stopwatch,
) -> tuple[FloatArray, bool]:
    """-H⁻¹ ∇Φ with the Hessian as it is where that is positive definite, since it converges best, else projected; and
    whether it was not. `is_bent`: it was not lately, so that trying would cost a factorisation for nothing.

    `cautious`, after a step that went much too far: sliding contacts, which do not resist as such, resist like springs.
    `stale`: all but the contacts is as it was.
    """
    with watch.phase("assembly"):
        overlay = step.join(x, cautious=cautious)
    if stale:
        with suppress(NotPositiveDefinite):
            return _solve(system, overlay, gradient, tolerance, watch, same=True), False
    for project in (False, True) if system.linear.notices_indefinite and not is_bent else (True,):
        with watch.phase("assembly"):
            step.stiffen(x, system.matrix, project=project)
        try:
            direction = _solve(system, overlay, gradient, tolerance, watch)
        except NotPositiveDefinite:
            continue
        system.is_stiff = True
        return direction, project
    system.is_stiff = False
    matrix, diagonal = system.matrix, system.map.pattern.diagonal
    shift = 1e-9 * float(matrix[diagonal].mean())
    for _ in range(7):
        matrix[diagonal] += shift  # a motion that costs nothing: give it a little stiffness
        shift *= 100.0
        try:
            return _solve(system, overlay, gradient, tolerance, watch), True
        except NotPositiveDefinite:
            continue
    raise NewtonFailure("the stiffness matrix is not positive definite", x, float("inf"))


def _solve(
    system: System,
    overlay: Overlay | None,
    gradient: FloatArray,
    tolerance: float,
    watch: Stopwatch,
    *,
    same: bool = False,
) -> FloatArray:
    with watch.phase("factorisation"):
        system.linear.prepare(system.matrix, overlay, same=same)
    with watch.phase("solve"):
        direction = -system.linear.solve(gradient, tolerance)
    direction[system.map.locked] = 0.0  # an iterative solver is right there to its tolerance only
    return direction


def search_line(
    energy: Callable[[FloatArray], tuple[float, float]],
    x: FloatArray,
    ahead: FloatArray,
    slope: float,
    residual: float,
) -> tuple[FloatArray, float]:
    """The first of `ahead`, half and quarter of the way to it ... that brings enough of the promised decrease; and
    that share of the way. `energy` tells its value and the size of the numbers that it is the sum of."""
    here, trial, t = energy(x)[0], ahead, 1.0
    while t >= _SMALLEST_STEP:
        value, size = energy(trial)
        if value <= here + _ARMIJO * t * slope + _ENERGY_ROUND_OFF * size:  # False for NaN
            return trial, t
        t *= 0.5
        trial = x + t * (ahead - x)
    raise NewtonFailure("no step of the line search lowers the energy", x, residual)


def _go_on(energy: Callable[[FloatArray], tuple[float, float]], x: FloatArray, ahead: FloatArray) -> FloatArray:
    """The end of the way from x to `ahead`, doubled as long as that lowers the energy: a stiffness that was made
    definite is too stiff where flesh folds, and steps with it are too short."""
    least, t, way, best = energy(ahead)[0], 2.0, ahead - x, ahead
    while t <= _FARTHEST:
        trial = x + t * way
        value = energy(trial)[0]
        if not value < least:  # True for NaN
            break
        best, least, t = trial, value, 2.0 * t
    return best
