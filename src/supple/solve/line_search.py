"""How far along a direction: searches on the energy of a step."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.errors import SceneError

__all__ = ["NewtonFailure", "Way", "go_down", "search_line"]

FloatArray = NDArray[np.float64]
Energy = Callable[[FloatArray], tuple[float, float]]

_ARMIJO = 1e-4  # a step must bring this share of the decrease its slope promises
_SMALLEST_STEP = 2.0**-20
_ENERGY_ROUND_OFF = 1e-15  # energies closer than this share of their terms are equal
_FARTHEST = 8.0  # multiples of a step with a projected stiffness that are tried


class NewtonFailure(ArithmeticError):
    """No convergence; carries the last iterate."""

    def __init__(self, reason: str, x: FloatArray, residual: float) -> None:
        super().__init__(reason)
        self.reason, self.x, self.residual = reason, x, residual
        self.terms: dict[str, FloatArray] = {}
        """Forces by where they come from [N], filled in by who knows them."""
        self.refusal: SceneError | None = None
        """What the step lacks, where its contacts tell: then smaller steps fail as well, and this is why."""


class Way(NamedTuple):
    """A way down from where a step is."""

    ahead: FloatArray
    """Where it leads [m], (n, 3)."""
    slope: float
    """Of the energy along it [J]."""
    goes_on: bool
    """Whether it may lead farther, because the stiffness that told its length is not that of the step."""


def go_down(energy: Energy, x: FloatArray, ways: Sequence[Way], residual: float) -> tuple[FloatArray, float]:
    """The lowest of the points that searches along some ways from x find, and what share of its way was gone."""
    energy, found, failure = _remember(energy), [], None
    for way in ways:
        try:
            end, share = search_line(energy, x, way.ahead, way.slope, residual)
        except NewtonFailure as reason:
            failure = failure or reason
            continue
        found.append((_go_on(energy, x, end) if way.goes_on and share == 1.0 else end, share))
    if not found:
        assert failure is not None
        raise failure
    return found[0] if len(found) == 1 else min(found, key=lambda one: energy(one[0])[0])


def _remember(energy: Energy) -> Energy:
    """The same, without asking twice for a point: several searches begin at one, and go on where others ended."""
    known: list[tuple[FloatArray, tuple[float, float]]] = []

    def recall(x: FloatArray) -> tuple[float, float]:
        for point, value in known:
            if point is x:
                return value
        known.append((x, energy(x)))
        return known[-1][1]

    return recall


def search_line(
    energy: Energy,
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


def _go_on(energy: Energy, x: FloatArray, ahead: FloatArray) -> FloatArray:
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
