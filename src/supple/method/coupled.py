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
from supple.contact.result import Touch, join_touches
from supple.contact.sets import list_pairs
from supple.linalg.anderson import Anderson
from supple.method.coupled_state import CoupledInputs, CoupledState, Member
from supple.method.coupling import Coupling
from supple.method.solver import Report
from supple.solve import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["CoupledSolver"]

FloatArray = NDArray[np.float64]
_EXCHANGES = 40
_SETTLED = 3e-3  # by which share of them forces may still change


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
        watch, begin = Stopwatch(), self.positions(state)
        push, pressed, pairs, contacts = state.push, state.pressed, state.pairs, Contacts.none()
        mixer, taken = Anderson(), _Steps(self.members, state.states, self._share_out(inputs))
        settled, rounds = self._coupling is None, 0
        for exchange in range(_EXCHANGES if self._coupling is not None else 1):
            used = push
            taken.take(used)
            if self._coupling is None:
                break
            with watch.phase("between bodies"):
                x, between, rounds = self._place(taken.states), self._coupling.between, exchange + 1
                contacts = between.look(x, pairs) if exchange else between.foresee(begin, x, pairs)
                pairs = np.unique(np.concatenate([pairs, list_pairs(contacts)]), axis=0)  # which side each came from
                wanted, pressed = self._coupling.press(contacts, begin, x, used, pressed, inputs.duration)
            settled = bool(np.linalg.norm(wanted - used) <= _SETTLED * np.linalg.norm(wanted))
            if settled:
                break
            push = mixer.mix(used, wanted) if wanted.any() else wanted
        state = CoupledState(taken.states, used, pressed, list_pairs(contacts))
        found = [] if self._coupling is None else [self._coupling.tell(contacts, self.positions(state), pressed)]
        return state, taken.report(watch, found, rounds, settled)

    def positions(self, state: CoupledState, vertices: NDArray[np.integer] | None = None) -> FloatArray:
        x = self._place(state.states)
        return x if vertices is None else x[vertices]

    def to_full(self, state: CoupledState) -> tuple[FloatArray, FloatArray, FloatArray]:
        found = [one.solver.to_full(own) for one, own in zip(self.members, state.states, strict=True)]
        x = [one.place.move(own[0]) for one, own in zip(self.members, found, strict=True)]
        v, a = ([one.place.turn(own[k]) for one, own in zip(self.members, found, strict=True)] for k in (1, 2))
        return np.concatenate(x), np.concatenate(v), np.concatenate(a)

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


class _Steps:
    """One step of all bodies, taken again where other forces act."""

    def __init__(self, members: Sequence[Member], states: Sequence[Any], parts: Sequence[Inputs]) -> None:
        self._members, self._begin, self._parts = members, states, parts
        self._pushes: list[FloatArray | None] = [None] * len(members)
        self._reports: list[Report] = [Report()] * len(members)
        self._spent = {member.name: 0.0 for member in members}
        self._newton = 0
        self.states: tuple[Any, ...] = tuple(states)

    def take(self, push: FloatArray) -> None:
        """Take it with forces on all vertices [N], (n, 3)."""
        ends = list(self.states)
        for number, member in enumerate(self._members):
            own = push[member.vertices]
            before = self._pushes[number]
            if before is not None and np.array_equal(before, own):
                continue
            ends[number], report = member.solver.step(self._begin[number], member.push(self._parts[number], own))
            self._pushes[number], self._reports[number] = own, report
            self._spent[member.name] += report.milliseconds.get("total", 0.0)
            self._newton += report.newton_iterations
        self.states = tuple(ends)

    def report(self, watch: Stopwatch, between: Sequence[Touch | None], rounds: int, settled: bool) -> Report:
        """How it went: milliseconds by body, and contacts of all."""
        reports = self._reports
        shown = [one.show(r.touching) for one, r in zip(self._members, reports, strict=True) if r.touching is not None]
        touching = join_touches([*shown, *(touch for touch in between if touch is not None)])
        errors = [report.estimated_error for report in reports if report.estimated_error is not None]
        vertices = np.array([len(member.body.mass) for member in self._members])
        spent = watch.finish()
        return Report(
            {**self._spent, "between bodies": spent.get("between bodies", 0.0), "total": spent["total"]},
            self._newton,
            sum(report.linear_iterations for report in reports),
            "full" if all(report.kind == "full" for report in reports) else "hybrid",
            float(vertices @ [report.full_share for report in reports] / vertices.sum()),
            0 if touching is None else len(touching),
            max(errors, default=None),
            max(report.residual for report in reports),
            max(report.halvings for report in reports),
            rounds + sum(report.contact_rounds for report in reports),
            settled and all(report.contact_settled for report in reports),
            touching,
            next((report.skip for report in reports if report.skip is not None), None),
            all(report.converged for report in reports),
        )
