"""One step of a body with a frame: Newton's compiled method, with or without contacts."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.method.halving import Tally
from supple.method.reduced_frame import FRAMED
from supple.method.reduced_framed import Step
from supple.method.reduced_newton import CONVERGED, Scratch, is_large, newton_kernel
from supple.method.reduced_touch import TOUCHING, FrozenContacts
from supple.solve.newton import NewtonFailure

__all__ = ["FramedStep"]

FloatArray = NDArray[np.float64]
_ROUGH = 1e-2  # residual at which a rough round ends, but two digits short of the tolerance


class FramedStep:
    """Solves a step as often as its contacts change."""

    def __init__(
        self,
        step: Step,
        elements: ReducedElements,
        rest: FloatArray,
        scratch: Scratch,
        *,
        reference: float,
        floor: float,
        tolerance: float,
        max_iterations: float,
        tally: Tally,
        fail: Callable[[FloatArray, float, int], NewtonFailure],
    ) -> None:
        """`rest`: the elements' deformation gradients without q. `reference`: size of what acts on the coordinates,
        `floor`: that of round-off. `fail` makes the failure at z with a residual and a status."""
        self.step = step
        self._elements, self._rest, self._scratch = elements, rest, scratch
        self._reference, self._floor, self._tolerance, self._most = reference, floor, tolerance, max_iterations
        self._tally, self._fail = tally, fail
        self.z = step.begin
        """Where the last solution is: q, R and c."""
        self.elastic = 0.0
        """Size of the elastic force there."""

    def solve(
        self,
        begin: FloatArray,
        guess: FloatArray,
        contacts: FrozenContacts | None = None,
        impact: float = 0.0,
        noise: float = 0.0,
        *,
        rough: bool = False,
    ) -> float:
        """Move z to the minimum with these contacts; the size of forces on the coordinates that is taken for zero.

        From `guess`, or with care from `begin`. `impact`: size of what stops the body, `noise`: that of the contacts'
        round-off, both on the coordinates. `rough`: two digits are enough.
        """
        elements, s = self._elements, self._scratch
        loops, data = (FRAMED, self.step.loads) if contacts is None else (TOUCHING, (self.step.loads, contacts))
        reference, floor = self._reference + impact, self._floor + noise
        tolerance = max(self._tolerance, min(1e2 * self._tolerance, _ROUGH)) if rough else self._tolerance
        settings = np.array((tolerance, reference, floor, self._most))
        kernel = newton_kernel(elements.loops, loops, is_large(elements))
        self.z, iterations, _, residual, self.elastic, status = kernel(
            s.address, elements.gradient, elements.single, self._rest, elements.table, elements.bounds, data, begin,
            guess, settings, s.L, s.signs, s.stack, s.halves, s.K,
        )  # fmt: skip
        self._tally.newton += iterations
        if status != CONVERGED:
            raise self._fail(self.z, residual, status)
        if not rough:
            self._tally.residual = max(self._tally.residual, residual)
        return float(max(self._tolerance * reference, floor))
