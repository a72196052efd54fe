"""One step of a body in a subspace: Newton's compiled method, with or without contacts."""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from supple.method.frozen_contacts import FrozenContacts
from supple.method.halving import Tally
from supple.method.placed_contacts import PlacedContacts
from supple.method.reduced.newton import CAPPED, CONVERGED, Found, Given, LoadLoops
from supple.method.selfcontact.newton import Settled, View
from supple.solve.increment import Motion
from supple.solve.newton import NewtonFailure

__all__ = ["Limits", "ReducedStep", "Step"]

FloatArray = NDArray[np.float64]
_ROUGH = 1e-2  # residual at which a rough round ends, but two digits short of the tolerance


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
        minimise: Callable[[LoadLoops, Given], Found],
        limits: Limits,
        tally: Tally,
        fail: Callable[[FloatArray, float, int], NewtonFailure],
        search: Callable[[Any], Any] | None = None,
    ) -> None:
        """`loops` of its loads without and with contacts; `minimise` is Newton's method on its elements. `fail` makes
        the failure at z with a residual and a status, `search` is Newton's method that looks at contacts on its way."""
        self.step = step
        self._loops, self._minimise = loops, minimise
        self._limits, self._tally, self._fail, self._search = limits, tally, fail, search
        self.z = step.begin
        """Where the last solution is."""
        self.elastic = 0.0
        """Size of the elastic force there."""
        self._made = False

    def solve(
        self,
        begin: FloatArray,
        guess: FloatArray,
        contacts: FrozenContacts | PlacedContacts | None = None,
        impact: float = 0.0,
        noise: float = 0.0,
        *,
        rough: bool = False,
        resume: bool = False,
    ) -> float:
        """Move z to the minimum with these contacts; the size of forces on the coordinates that is taken for zero.

        Newton's method goes from `guess`, or with care from `begin`. `impact`: size of what stops the body, `noise`:
        that of the contacts' round-off, both on the coordinates. `rough`: two digits are enough. `resume`: only
        contacts have changed a little, so that the stiffness of the last call is tried first.
        """
        limits, (free, touching) = self._limits, self._loops
        loops, data = (free, self.step.loads) if contacts is None else (touching, (self.step.loads, contacts))
        reference, floor = limits.reference + impact, limits.floor + noise
        tolerance = max(limits.tolerance, min(1e2 * limits.tolerance, _ROUGH)) if rough else limits.tolerance
        settings = np.array((tolerance, reference, floor, limits.iterations))
        status = CAPPED
        if resume and self._made:  # of this step: a state knows nothing of the steps before
            again = np.append(settings, (1.0, 1.0))
            self.z, iterations, _, residual, self.elastic, status = self._minimise(loops, (data, guess, guess, again))
            self._tally.newton += iterations
        if status != CONVERGED:
            given = data, begin, guess, settings
            self.z, iterations, made, residual, self.elastic, status = self._minimise(loops, given)
            self._tally.newton += iterations
            self._made |= made > 0
        if status != CONVERGED:
            raise self._fail(self.z, residual, status)
        if not rough:
            self._tally.residual = max(self._tally.residual, residual)
        return float(max(limits.tolerance * reference, floor))

    def settle(self, view: View, z: FloatArray, ahead: FloatArray) -> Settled:
        """Move z to the minimum, contacts looked for at `ahead` and after every iteration."""
        assert self._search is not None
        settings = np.array((self._limits.tolerance, *self._limits[:2], self._limits.iterations))
        found = Settled(*self._search((self.step.loads, view, z, ahead, settings)))
        self.z, self.elastic = found.z, found.elastic
        self._tally.newton += found.iterations
        if found.status != CONVERGED:
            raise self._fail(found.z, found.residual, found.status)
        self._tally.residual = max(self._tally.residual, found.residual)
        return found
