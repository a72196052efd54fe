"""One step of a body in a subspace: Newton's compiled method, with or without contacts."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.cubature.reduced_elements import ReducedElements
from supple.method.frozen_contacts import FrozenContacts
from supple.method.halving import Tally
from supple.method.reduced_newton import CONVERGED, LoadLoops, Scratch, is_large, newton_kernel
from supple.solve.increment import Motion
from supple.solve.newton import NewtonFailure

__all__ = ["Limits", "ReducedStep", "Step"]

FloatArray = NDArray[np.float64]
_ROUGH = 1e-2  # tolerance while friction only looks for its normal forces


class Step(Protocol):
    """What a step asks Newton's method for."""

    @property
    def loads(self) -> Any:
        """What its loops take."""

    @property
    def begin(self) -> FloatArray:
        """Where to start with care."""

    @property
    def guess(self) -> FloatArray:
        """Where the end may be."""

    @property
    def motion(self) -> Motion:
        """Of the integrator."""


class Limits(NamedTuple):
    """When Newton's method ends."""

    reference: float
    """Size of what acts on the coordinates."""
    floor: float
    """Size of round-off."""
    tolerance: float
    iterations: float
    """At most."""


S = TypeVar("S", bound=Step)


class ReducedStep(Generic[S]):
    """Solves a step as often as its contacts change."""

    def __init__(
        self,
        step: S,
        loops: tuple[LoadLoops, LoadLoops],
        elements: ReducedElements,
        rest: FloatArray,
        scratch: Scratch,
        limits: Limits,
        tally: Tally,
        fail: Callable[[FloatArray, float, int], NewtonFailure],
    ) -> None:
        """`loops` of its loads without and with contacts; `rest`: the elements' deformation gradients without q. `fail`
        makes the failure at z with a residual and a status."""
        self.step = step
        self._loops, self._elements, self._rest, self._scratch = loops, elements, rest, scratch
        self._limits, self._tally, self._fail = limits, tally, fail
        self.z = step.begin
        """Where the last solution is."""
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

        Newton's method goes from `guess`, or with care from `begin`. `impact`: size of what stops the body, `noise`:
        that of the contacts' round-off, both on the coordinates. `rough`: two digits are enough.
        """
        elements, s, limits = self._elements, self._scratch, self._limits
        free, touching = self._loops
        loops, data = (free, self.step.loads) if contacts is None else (touching, (self.step.loads, contacts))
        reference, floor = limits.reference + impact, limits.floor + noise
        tolerance = max(limits.tolerance, _ROUGH) if rough else limits.tolerance
        settings = np.array((tolerance, reference, floor, limits.iterations))
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
        return float(max(limits.tolerance * reference, floor))
