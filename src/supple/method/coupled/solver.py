"""Several bodies stepped side by side, each by the solver of its own, that press on each other where they touch.

Partitioned coupling: all bodies take the step with the forces that are believed to act between them, contacts are
looked for where they arrive, and the forces follow from how deep these are; then all take the same step again, until
the forces stay. Every force acts on both sides alike, so that momentum is kept whatever the solvers do.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.contacts import Contacts
from supple.contact.sets import list_pairs
from supple.linalg.anderson import Anderson
from supple.method.coupled.coupling import Coupling
from supple.method.coupled.state import CoupledInputs, CoupledState, Member
from supple.method.coupled.steps import Steps, add_reports
from supple.method.measured import Measured, join_measured
from supple.method.solver import Report
from supple.solve import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["CoupledSolver"]

FloatArray = NDArray[np.float64]
_EXCHANGES = 40
_SETTLED = 3e-3  # by which share of them forces may still change
_SEARCHES = 12  # after which contacts stay where they are once forces have nearly settled
_NEARLY = 0.05
_HALVINGS = 3  # times that a step is halved where they have not


class CoupledSolver:
    """A solver of several bodies at once; what it gives are their vertices in turn, in the world."""

    def __init__(self, members: Sequence[Member], coupling: Coupling | None = None) -> None:
        """Without a `coupling` bodies pass through each other."""
        self.members = tuple(members)
        self.name = " + ".join(member.solver.name for member in members)
        self._coupling = coupling
        self._count = self.members[-1].vertices.stop

    def start(self, inputs: Inputs | None = None) -> CoupledState:
        parts = [None] * len(self.members) if inputs is None else self._share_out(inputs)
        states = tuple(one.solver.start(part) for one, part in zip(self.members, parts, strict=True))
        return self._begin(states)

    def step(self, state: CoupledState, inputs: Inputs) -> tuple[CoupledState, Report]:
        return self._advance(state, inputs, 0)

    def _advance(self, state: CoupledState, inputs: Inputs, depth: int) -> tuple[CoupledState, Report]:
        """The state after `inputs`, through halves of the step where forces are far from settled."""
        end, report, change = self._take(state, inputs)
        if change <= _NEARLY or depth == _HALVINGS:
            return end, report
        first, second = inputs.halves()
        middle, early = self._advance(state, first, depth + 1)
        end, late = self._advance(middle, second, depth + 1)
        return end, add_reports(early, late, wasted=report)

    def _take(self, state: CoupledState, inputs: Inputs) -> tuple[CoupledState, Report, float]:
        """The step at once; by which share forces still changed in the end."""
        watch, begin = Stopwatch(), self.positions(state)
        push, pressed, pairs, contacts = state.push, state.pressed, state.pairs, Contacts.none()
        mixer, taken = Anderson(), Steps(self.members, state.states, self._share_out(inputs))
        settled, rounds, change = self._coupling is None, 0, 0.0
        for exchange in range(_EXCHANGES if self._coupling is not None else 1):
            used = push
            taken.take(used)
            if self._coupling is None:
                break
            with watch.phase("between bodies"):
                x, between, rounds = self._place(taken.states), self._coupling.between, exchange + 1
                if not exchange:
                    contacts = between.foresee(begin, x, pairs)
                elif exchange < _SEARCHES or change > _NEARLY:  # on a ridge a vertex would change sides for ever
                    contacts = between.look(x, pairs)
                pairs = np.unique(np.concatenate([pairs, list_pairs(contacts)]), axis=0)  # which side each came from
                wanted, pressed = self._coupling.press(contacts, begin, x, used, pressed, inputs.duration)
            size = float(np.linalg.norm(wanted))
            change = float(np.linalg.norm(wanted - used)) / size if size else float(used.any())
            settled = change <= _SETTLED
            if settled:
                break
            push = mixer.mix(used, wanted) if wanted.any() else wanted
        state = CoupledState(taken.states, used, pressed, list_pairs(contacts))
        found = [] if self._coupling is None else [self._coupling.tell(contacts, self.positions(state), pressed)]
        return state, taken.report(watch, found, rounds, settled), change

    def positions(self, state: CoupledState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        x = self._place(state.states)
        return x if vertices is None else x[vertices]

    def to_full(self, state: CoupledState) -> tuple[FloatArray, FloatArray, FloatArray]:
        found = [one.solver.to_full(own) for one, own in zip(self.members, state.states, strict=True)]
        x = [one.place.move(own[0]) for one, own in zip(self.members, found, strict=True)]
        v, a = ([one.place.turn(own[k]) for one, own in zip(self.members, found, strict=True)] for k in (1, 2))
        return np.concatenate(x), np.concatenate(v), np.concatenate(a)

    def measure(self, state: CoupledState, inputs: Inputs) -> Measured:
        """Of all bodies; tets have the numbers that they have among those of all."""
        assert isinstance(inputs, CoupledInputs)
        parts = zip(self.members, state.states, inputs.parts, strict=True)
        found = [one.solver.measure(own, part) for one, own, part in parts]
        return join_measured(found, [len(one.body.mesh.tets) for one in self.members])

    def from_full(
        self, x: FloatArray, v: FloatArray, a: FloatArray, time: float = 0.0, *, pose: FloatArray | None = None
    ) -> CoupledState:
        """The poses of all bodies stand in one vector, in turn."""
        states, first = [], 0
        for one in self.members:
            last = first + one.controls
            own = None if pose is None or last == first else pose[first:last]
            here, (speed, gain) = one.place.localise(x[one.vertices]), (one.localise(field) for field in (v, a))
            states.append(one.solver.from_full(here, speed, gain, time, pose=own))
            first = last
        return self._begin(states)

    def pack(self, state: CoupledState) -> dict[str, NDArray[np.generic]]:
        return state.pack(self.members)

    def unpack(self, arrays: Mapping[str, NDArray[np.generic]]) -> CoupledState:
        return CoupledState.unpack(arrays, self.members)

    def describe(self) -> list[str]:
        lines = [f"{one.name}: {line}" for one in self.members for line in one.solver.describe()]
        if self._coupling is None:
            return [*lines, "bodies pass through each other"]
        return [*lines, f"bodies press on each other: {self._coupling.describe()}"]

    def _share_out(self, inputs: Inputs) -> list[Inputs]:
        """What each body is given: its own, and of the events in the world what concerns it."""
        assert isinstance(inputs, CoupledInputs)
        found = []
        for one, part in zip(self.members, inputs.parts, strict=True):
            heard = (one.hear(event) for event in inputs.events)
            found.append(replace(part, events=(*part.events, *(event for event in heard if event is not None))))
        return found

    def _begin(self, states: Sequence[Any]) -> CoupledState:
        return CoupledState(tuple(states), np.zeros((self._count, 3)), np.zeros((self._count, 3)))

    def _place(self, states: Sequence[Any]) -> FloatArray:
        pairs = zip(self.members, states, strict=True)
        return np.concatenate([one.place.move(one.solver.positions(own)) for one, own in pairs])
