"""Newton's method on the potential of a condensed step; its matrix is made anew in every iteration.

Contacts change the stiffness more than anything else does, and the region is small: a matrix that is kept for a whole
step takes more iterations than it saves.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.elastic import EXACT, PROJECTED
from supple.linalg.bordered import Bordered
from supple.linalg.bordered_solver import BorderedSolver
from supple.linalg.direct import NotPositiveDefinite
from supple.linalg.jit import njit
from supple.method.condensation.footing import Footing
from supple.method.condensation.potential import Condensed
from supple.method.condensation.region import Region
from supple.solve.line_search import NewtonFailure, Way, go_down
from supple.solve.stopwatch import Stopwatch

__all__ = ["Found", "lean", "measure", "minimise"]

FloatArray = NDArray[np.float64]
_CLEAR = 0.1  # a full step that leaves so little of the residual needs no look at the energy
_OVERSHOT = 0.3  # a step of which less is left went much too far
_NEAR = 1e3  # goals from which on residuals may decide where energies cannot
_INEXACT = 1e-2  # digits asked of conjugate gradients: Newton's own convergence makes the others
_FORCE_ROUND_OFF = 4e-15  # forces below this share of stiffness times position are noise
_LOOKS = 30  # iterations in which contacts may still change
_LAST = 10.0  # goals from which on one more step ends, whatever elements have strained since they were asked
_HALVED = 0.5  # a residual that falls to this share goes on with the stiffness of before
_AGAIN = 3.0  # times the share that a step left of a residual, which the next leaves with the matrix of before


class Found(NamedTuple):
    """Where Newton's method arrived."""

    z: FloatArray
    iterations: int
    linear: int
    """Iterations of conjugate gradients."""
    residual: float
    """|∇Φ| relative to the forces that act as the step begins."""
    cramped: bool = False
    """Whether it stopped because what touches needs a larger region."""


def measure(region: Region, g: FloatArray) -> float:
    """Size of forces on z = (x_f, q), in the metric in which those on the coordinates of a subspace have theirs."""
    return float(_measure(g, region.scale))


@njit(cache=True)
def _measure(g: FloatArray, scale: FloatArray) -> float:
    total = 0.0
    for i in range(len(g)):
        part = g[i] * scale[i] if i < len(scale) else g[i]
        total += part * part
    return math.sqrt(total)


def lean(footing: Footing, g: FloatArray) -> float:
    """Size of forces on z as the subspace alone would see them: Uᵀ f of the whole body.

    Forces in a patch are many times those that move the body. A residual that is small beside the former may still be
    large beside the latter.
    """
    seen = g[footing.size :] + footing.rows.gather_full(g[: footing.size])
    return math.sqrt(float(seen @ seen))


def minimise(
    step: Condensed,
    z: FloatArray,
    gradient: FloatArray,
    *,
    reference: float,
    leaning: float,
    floor: float,
    tolerance: float,
    still: float,
    max_iterations: int,
    linear_solver: BorderedSolver,
    watch: Stopwatch,
    look: Callable[[FloatArray], Condensed | None] | None = None,
    slack: float = 0.0,
) -> Found:
    """The minimum of Φ from z on, where its gradient is given, until |∇Φ| <= max(tolerance reference, floor), and so as
    the subspace sees it, beside what acts on that, `leaning`. Without any iteration only where both are a share `still`
    of that. `look` gives Φ with the contacts that an iterate has, in the first `_LOOKS` of them, or None where those
    reach beyond the region; pressed flesh that it begins with may be askew, so that it goes out of saddles, too. Where
    flesh is pressed and equilibria are many, it also ends after a step that lowers the energy by less than a share
    `slack`, and stays with projected Hessians once one was not definite: another saddle leads to another equilibrium,
    not to a nearer one."""
    region, goal, linear, cautious = step.region, max(tolerance * reference, floor), 0, False
    crawls, last, askew = False, math.inf, False
    nearly, stale, touches = False, False, look is None and bool(step.joints)
    with watch.phase("assembly"):
        leaning = max(tolerance * (leaning + lean(step.footing, step.press(z))), floor)
    for iteration in range(max_iterations + 1):
        if look is not None and 0 < iteration <= _LOOKS:
            seen = look(z)
            if seen is None:
                return Found(z, iteration, linear, measure(region, gradient) / max(reference, floor), True)
            with watch.phase("assembly"):
                step, gradient = seen, seen.gradient(z)
        size = measure(region, gradient)
        if not np.isfinite(size):
            raise NewtonFailure("the forces are not finite", z, size / reference)
        if crawls and size <= last:  # not where a look has found more
            return Found(z, iteration, linear, size / max(reference, floor))
        share = 1.0 if iteration else still
        if size <= max(share * goal, floor) and lean(step.footing, gradient) <= max(share * leaning, floor):
            return Found(z, iteration, linear, size / max(reference, floor))
        if iteration == max_iterations:
            break
        # One more step with what is known ends it, unless the last one did not
        ends = size <= _LAST * goal or (iteration > 0 and _AGAIN * size / last * size <= goal)
        nearly = stale or (ends and not (nearly and size > _HALVED * last))
        found = _find_direction(
            step, z, gradient, max(_INEXACT, min(0.1, 0.5 * goal / size)), cautious, nearly,
            look is not None, askew, linear_solver, watch,
        )  # fmt: skip
        askew |= slack > 0.0 and found.projected
        linear += found.iterations
        before, last, promised = z, size, -0.5 * float(gradient @ found.d)
        if iteration == 0:
            unheard = _find_noise(region, found.matrix, z)
            goal, leaning = max(goal, unheard), max(leaning, unheard)
        ways = [Way(z + found.d, float(gradient @ found.d), found.projected)]
        if found.bent is not None:
            ways.append(Way(z + found.bent, float(gradient @ found.bent), False))
        ahead = ways[0].ahead
        if ways[0].slope >= 0.0:
            raise NewtonFailure("the linear solver found no way down", z, size / reference)
        with watch.phase("assembly"):
            there = step.gradient(ahead)
        if measure(region, there) <= _CLEAR * size:  # False for NaN
            z, gradient, cautious, stale = ahead, there, False, touches
            crawls = slack > 0.0 and _is_little(step, before, z, promised, slack)
            continue
        try:
            with watch.phase("line search"):
                z, share = go_down(step.energy, z, ways, size / reference)
        except NewtonFailure:
            if not (size <= _NEAR * goal and measure(region, there) < size):
                raise
            z, share = ahead, 1.0  # energies too close to tell apart: the residual decides
        cautious, crawls = share < _OVERSHOT, slack > 0.0 and _is_little(step, before, z, promised, slack)
        with watch.phase("assembly"):
            gradient = there if z is ahead else step.gradient(z)
        # As in full space: where contacts open and close residuals say little about elements
        stale = touches and (not stale or measure(region, gradient) < _HALVED * size)
    raise NewtonFailure(f"no convergence in {max_iterations} Newton iterations", z, size / reference)


def _find_noise(region: Region, matrix: Bordered, z: FloatArray) -> float:
    """Size of what is round-off among forces on z = (x_f, q), as `measure` has it."""
    forces = matrix.diagonal[:, ::4] * z[: region.size].reshape(-1, 3)
    return _FORCE_ROUND_OFF * measure(region, np.concatenate([forces.ravel(), np.zeros(len(z) - region.size)]))


def _is_little(step: Condensed, z: FloatArray, there: FloatArray, promised: float, slack: float) -> bool:
    """Whether neither a step from z that `promised` to lower the energy by so much [J] nor where it ended has more than
    a share of that to gain."""
    energy = step.energy(z)[0]
    return max(promised, energy - step.energy(there)[0]) <= slack * abs(energy)


class _Direction(NamedTuple):
    """Where to go from an iterate."""

    d: FloatArray
    """-H⁻¹ ∇Φ, (3 f + r,)."""
    matrix: Bordered
    """H"""
    iterations: int
    projected: bool = False
    """Whether H is not the Hessian as it is."""
    bent: FloatArray | None = None
    """Another way down, along which the Hessian as it is is not positive."""


def _find_direction(
    step: Condensed,
    z: FloatArray,
    gradient: FloatArray,
    tolerance: float,
    cautious: bool,
    nearly: bool,
    bends: bool,
    askew: bool,
    linear_solver: BorderedSolver,
    watch: Stopwatch,
) -> _Direction:
    """-H⁻¹ ∇Φ with the Hessian as it is where that is positive definite, else projected, else with a little more.
    `nearly`: with that of before, if there is one. `bends`: where it is not definite, the way along which it is not is
    told, too. `askew`: it is known not to be."""
    bent, spent = None, 0
    for form, whole in ((EXACT, True), (PROJECTED, False))[askew:]:
        with watch.phase("assembly"):
            matrix = step.stiffen(z, form, exact=whole, lagged=True, cautious=cautious, nearly=nearly)
        try:
            with watch.phase("solve"):
                d = -linear_solver.solve(matrix, gradient, tolerance, bends=whole and bends)
        except NotPositiveDefinite:
            continue
        spent += matrix.iterations
        if not matrix.is_bent:
            return _Direction(d, matrix, spent, not whole, bent)
        bent = d if float(gradient @ d) < 0.0 else None
    share = 1e-9
    for _ in range(7):
        matrix.shift(share)
        share *= 100.0
        try:
            with watch.phase("solve"):
                d = -linear_solver.solve(matrix, gradient, tolerance)
        except NotPositiveDefinite:
            continue
        return _Direction(d, matrix, spent + matrix.iterations, True, bent)
    raise NewtonFailure("the stiffness matrix is not positive definite", z, float("inf"))
