"""One step in full space, solved round by round while contacts change."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.method.halving import Tally
from supple.method.outer import Round
from supple.solve.increment import Increment, sum_fields
from supple.solve.newton import NewtonFailure, minimise
from supple.solve.stopwatch import Stopwatch
from supple.solve.system import System

__all__ = ["FullStep"]

FloatArray = NDArray[np.float64]
_ROUGH = 1e-2  # residual at which a rough round ends, but two digits short of the tolerance


class FullStep:
    """Newton's method on the increment of a step and the contacts of a round."""

    def __init__(
        self,
        increment: Increment,
        system: System,
        guesses: Sequence[FloatArray],
        standing: int,
        *,
        floor: float,
        tolerance: float,
        max_iterations: int,
        tally: Tally,
        watch: Stopwatch,
        note: Callable[[FloatArray], None] | None = None,
    ) -> None:
        """`guesses` are positions [m], (n, 3), near the end; floor [N] is noise.

        The first `standing` of them do not go on with the velocity: where the body is, and where a rig takes that.
        """
        self._increment, self._system, self._guesses, self._standing = increment, system, guesses, standing
        self._floor, self._tolerance, self._max_iterations = floor, tolerance, max_iterations
        self._tally, self._watch, self._note = tally, watch, note
        with watch.phase("assembly"):
            self._terms = [increment.terms(x) for x in guesses]
        # What acts on the body as the step begins; inertia is left out, for it depends on who looks
        terms = self._terms[standing - 1]  # a body that its rig has left behind is strained by nothing that acts
        acting = [terms[name] for name in ("elastic force", "external force", "grab", "attachment") if name in terms]
        self.reference = sum(float(np.linalg.norm(system.map.unknowns(force))) for force in acting)
        """Size of the forces that act [N]."""

    def solve(self, round: Round) -> tuple[FloatArray, float]:
        """Positions [m], (n, 3), and the size of forces that are taken for zero [N]."""
        reference = max(self.reference + round.impact, self._floor)
        increment = self._with(round.potential)
        x, gradient = self._begin(increment, round)
        look, rough = round.look, round.rough and round.look is None  # contacts that are looked at on the way stay
        tolerance = max(self._tolerance, min(1e2 * self._tolerance, _ROUGH)) if rough else self._tolerance
        try:
            found = minimise(
                increment, self._system, x, gradient, reference=reference, floor=self._floor,
                tolerance=tolerance, max_iterations=self._max_iterations, watch=self._watch,
                resume=round.start is not None, note=self._note,
                look=None if look is None else lambda at: self._with(look(at)),
            )  # fmt: skip
        except NewtonFailure as failure:
            failure.terms = increment.terms(failure.x)
            raise
        self._tally.newton += found.iterations
        self._tally.linear += found.linear_iterations
        if not rough:
            self._tally.residual = max(self._tally.residual, found.residual)
        return found.x, max(self._tolerance * reference, self._floor)

    def _with(self, potential: ContactPotential | None) -> Increment:
        return self._increment if potential is None else replace(self._increment, contact=potential)

    def _begin(self, increment: Increment, round: Round) -> tuple[FloatArray, FloatArray]:
        """Where Newton's method begins, and the gradient there over the unknowns [N]."""
        with self._watch.phase("assembly"):
            if round.start is not None:
                return round.start, increment.gradient(round.start)
            # Newton's method finds the way from sticking to sliding in few steps, but not the way back
            near = [
                k for k, x in enumerate(self._guesses)
                if k < self._standing or round.potential is None or round.potential.sticks(x)
            ]  # fmt: skip
            fields = [sum_fields(self._terms[k].values()) for k in near]
            if round.potential is not None:
                for field, k in zip(fields, near, strict=True):
                    field += round.potential.gradient(self._guesses[k])
            gradients = [self._system.map.unknowns(field) for field in fields]
        best = int(np.argmin([np.linalg.norm(gradient) for gradient in gradients]))
        return self._guesses[near[best]], gradients[best]
