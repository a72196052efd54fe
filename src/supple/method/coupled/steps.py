"""One step of several bodies, taken as often as it needs, and how it went."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from supple.contact.result import Touch, join_touches
from supple.method.coupled.state import Member
from supple.method.solver import Report, largest
from supple.solve import Inputs
from supple.solve.stopwatch import Stopwatch

__all__ = ["Steps", "add_reports"]

FloatArray = NDArray[np.float64]


class Steps:
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
        vertices = np.array([len(member.body.mass) for member in self._members])
        spent = watch.finish()
        return Report(
            {**self._spent, "between bodies": spent.get("between bodies", 0.0), "total": spent["total"]},
            self._newton,
            sum(report.linear_iterations for report in reports),
            "full" if all(report.kind == "full" for report in reports) else "hybrid",
            float(vertices @ [report.full_share for report in reports] / vertices.sum()),
            0 if touching is None else len(touching),
            largest(report.estimated_error for report in reports),
            largest(report.residual for report in reports),
            max(report.halvings for report in reports),
            rounds + sum(report.contact_rounds for report in reports),
            settled and all(report.contact_settled for report in reports),
            touching,
            next((report.skip for report in reports if report.skip is not None), None),
            all(report.converged for report in reports),
            trained_error=largest(report.trained_error for report in reports),
        )


def add_reports(first: Report, second: Report, wasted: Report) -> Report:
    """How a step went that was taken in halves, after what was spent on taking it at once."""
    reports = (first, second, wasted)
    return replace(
        second,
        milliseconds={name: sum(one.milliseconds[name] for one in reports) for name in second.milliseconds},
        newton_iterations=sum(one.newton_iterations for one in reports),
        linear_iterations=sum(one.linear_iterations for one in reports),
        residual=largest((first.residual, second.residual)),
        halvings=1 + max(first.halvings, second.halvings),
        contact_rounds=sum(one.contact_rounds for one in reports),
        contact_settled=first.contact_settled and second.contact_settled,
        converged=first.converged and second.converged,
    )
