"""The rounds of contact of a step in a subspace: what is looked at is lifted, what is frozen is projected."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from supple.contact.potential import ContactPotential
from supple.method.frozen_contacts import FrozenContacts
from supple.method.outer import Approach, ContactLoop, Outcome, Round
from supple.method.placed_contacts import PlacedContacts
from supple.method.reduced.step import ReducedStep
from supple.solve.newton import NewtonFailure
from supple.solve.stopwatch import Stopwatch

__all__ = ["View", "settle_step"]

FloatArray = NDArray[np.float64]
_ROUND_OFF = 4e-16  # share of positions by which gaps cannot be told apart


class View(NamedTuple):
    """How coordinates and the vertices of a body see each other in a step."""

    lift: Callable[[FloatArray], FloatArray]
    """Positions [m], (n, 3), where Newton's method is."""
    freeze: Callable[[ContactPotential], FrozenContacts | PlacedContacts]
    gather: Callable[[Any, FloatArray], FloatArray]
    """What forces of contacts [N], (m, 3), do to the coordinates."""
    unit: float
    """A force of 1 N on one vertex, in the coordinates of a complete basis, is 1 over this."""


def settle_step(
    loop: ContactLoop,
    approach: Approach,
    solver: ReducedStep[Any],
    view: View,
    watch: Stopwatch,
    reference: float = 0.0,
) -> Outcome:
    """Solve a step, through as many rounds as it takes; the solver keeps where it ends.

    `reference`: size, on the coordinates, of loads that only contacts can bear.
    """

    def solve(round: Round) -> tuple[FloatArray, float]:
        start = solver.step.begin if round.start is None else solver.z
        # From sticking to sliding the way is short, but not back
        guess = solver.step.guess if round.start is None and not round.rubs else start
        if round.potential is None:
            resolution = solver.solve(start, guess)
        else:
            contacts, size = view.freeze(round.potential), reference
            if round.impact > 0.0:
                size += round.impact * _project_share(round.potential, contacts, approach.predicted, view)
            noise = _find_noise(contacts, approach.x) / view.unit
            try:
                resolution = solver.solve(start, guess, contacts, size, noise, rough=round.rough)
            except NewtonFailure as failure:
                failure.terms |= round.potential.terms(failure.x)
                raise
        return view.lift(solver.z), view.unit * resolution

    return loop.settle(approach, solve, watch)


def _project_share(
    potential: ContactPotential, contacts: FrozenContacts | PlacedContacts, x: FloatArray, view: View
) -> float:
    """How large contact forces at positions x are in the coordinates, relative to their size on the vertices."""
    whole = float(np.linalg.norm(potential.gradient(x)))
    return float(np.linalg.norm(view.gather(contacts, potential.forces(x)))) / max(whole, 1e-300)


def _find_noise(contacts: FrozenContacts | PlacedContacts, x: FloatArray) -> float:
    """Size that round-off in the positions leaves of contact forces [N]."""
    stiffness = contacts.along + contacts.across + 2.0 / contacts.slip * contacts.limit
    return _ROUND_OFF * float(np.linalg.norm(stiffness)) * float(np.abs(x).max())
