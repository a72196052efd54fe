"""The direction of a Newton step: a linear solve with the Hessian of a step's potential, or with one near it."""

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.overlay import Overlay
from supple.linalg.pcg import ConjugateGradients
from supple.solve.increment import Increment
from supple.solve.line_search import NewtonFailure
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["Direction", "find_direction"]

FloatArray = NDArray[np.float64]


class Direction(NamedTuple):
    """Where to go from an iterate."""

    d: FloatArray
    """-H⁻¹ ∇Φ over the unknowns [m]."""
    projected: bool = False
    """Whether H is not the Hessian as it is."""
    bent: FloatArray | None = None
    """Another way down [m], along which the Hessian is not positive: out of a saddle, where a projected one crawls."""
    iterations: int = 0
    """Of the linear solver."""


def find_direction(
    step: Increment,
    system: System,
    x: FloatArray,
    gradient: FloatArray,
    tolerance: float,
    cautious: bool,
    stale: bool,
    is_bent: bool,
    watch: Stopwatch,
) -> Direction:
    """-H⁻¹ ∇Φ with the Hessian as it is where that is positive definite, since it converges best, else projected.
    `is_bent`: it was not lately, so that trying would cost a factorisation for nothing.

    `cautious`, after a step that went much too far: sliding contacts, which do not resist as such, resist like springs.
    `stale`: all but the contacts is as it was.
    """
    with watch.phase("assembly"):
        overlay = step.join(x, cautious=cautious)
    if isinstance(system.linear, ConjugateGradients) and system.linear.follows_bends:
        with suppress(NotPositiveDefinite):
            return _find_both(step, system, system.linear, x, overlay, gradient, tolerance, watch)
    elif stale:
        with suppress(NotPositiveDefinite):
            d = _solve(system, overlay, gradient, tolerance, watch, same=True)
            return Direction(d, iterations=system.linear.iterations)
    for project in (False, True) if system.linear.notices_indefinite and not is_bent else (True,):
        with watch.phase("assembly"):
            step.stiffen(x, system.matrix, project=project)
        try:
            d = _solve(system, overlay, gradient, tolerance, watch)
        except NotPositiveDefinite:
            continue
        system.is_stiff = True
        return Direction(d, project, iterations=system.linear.iterations)
    system.is_stiff = False
    matrix, diagonal = system.matrix, system.map.pattern.diagonal
    shift = 1e-9 * float(matrix[diagonal].mean())
    for _ in range(7):
        matrix[diagonal] += shift  # a motion that costs nothing: give it a little stiffness
        shift *= 100.0
        try:
            d = _solve(system, overlay, gradient, tolerance, watch)
        except NotPositiveDefinite:
            continue
        return Direction(d, True, iterations=system.linear.iterations)
    raise NewtonFailure("the stiffness matrix is not positive definite", x, float("inf"))


def _find_both(
    step: Increment,
    system: System,
    linear: ConjugateGradients,
    x: FloatArray,
    overlay: Overlay | None,
    gradient: FloatArray,
    tolerance: float,
    watch: Stopwatch,
) -> Direction:
    """The same where solving costs little more than making the matrix: this is always that of x, and where it is not
    positive definite both ways are told, that of the projected one and that along which it is not."""
    spent, bent = 0, None
    with suppress(NotPositiveDefinite):  # blocks of the matrix may tell by themselves
        with watch.phase("assembly"):
            step.stiffen(x, system.matrix, project=False)
        d = _solve(system, overlay, gradient, tolerance, watch)
        if not linear.is_bent:
            return Direction(d, iterations=linear.iterations)
        spent, bent = linear.iterations, d if float(gradient @ d) < 0.0 else None
    with watch.phase("assembly"):
        step.stiffen(x, system.matrix, project=True)
    d = _solve(system, overlay, gradient, tolerance, watch)
    return Direction(d, True, bent, spent + linear.iterations)


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
