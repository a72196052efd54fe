"""A step, or two of half the length where one fails, and what the parts of a step add up to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeVar

from supple.contact.result import Touch
from supple.elastic import Body
from supple.errors import ConvergenceError
from supple.method.diagnosis import diagnose
from supple.method.outer import Outcome
from supple.method.solver import Report
from supple.solve.inputs import Inputs
from supple.solve.newton import NewtonFailure

__all__ = ["MOST_HALVINGS", "Tally", "advance"]

State = TypeVar("State")
MOST_HALVINGS = 6  #: times that a step is halved


@dataclass
class Tally:
    """What the parts of a step add up to."""

    newton: int = 0
    linear: int = 0
    systems: int = 0
    longest: int = 0
    """Iterations that a linear system took at most, where systems are counted."""
    residual: float = 0.0
    converged: bool = True
    halvings: int = 0
    rounds: int = 0
    settled: bool = True
    touching: Touch | None = None
    """At the end of the last part."""

    def note(self, outcome: Outcome) -> None:
        """Take in how the contacts of a part ended."""
        self.rounds += outcome.rounds
        self.settled &= outcome.settled
        self.touching = outcome.touching

    def report(
        self,
        milliseconds: dict[str, float],
        kind: Literal["full", "reduced", "hybrid"],
        full_share: float,
        trained_error: float | None = None,
    ) -> Report:
        """How the step went."""
        contacts = 0 if self.touching is None else len(self.touching)
        return Report(
            milliseconds, self.newton, self.linear, kind, full_share, contacts, None, self.residual,
            self.halvings, self.rounds, self.settled, self.touching, converged=self.converged,
            linear_systems=self.systems, linear_longest=self.longest, trained_error=trained_error,
        )  # fmt: skip


def advance(
    single: Callable[[State, Inputs, Tally], State],
    state: State,
    inputs: Inputs,
    tally: Tally,
    body: Body,
    static: bool,
    depth: int = 0,
) -> State:
    """The state after `inputs`, through as many halvings as it takes."""
    try:
        return single(state, inputs, tally)
    except NewtonFailure as failure:
        if depth == MOST_HALVINGS:
            raise failure.refusal or ConvergenceError(diagnose(body, failure, inputs, static)) from failure
        tally.halvings = max(tally.halvings, depth + 1)
        first, second = inputs.halves()
        state = advance(single, state, first, tally, body, static, depth + 1)
        return advance(single, state, second, tally, body, static, depth + 1)
