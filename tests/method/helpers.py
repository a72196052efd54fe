"""Bodies and loads that several tests of the full solver share."""

import numpy as np

from supple.elastic import Body
from supple.method import FullSolver, FullState, Report
from supple.solve import Force, Gravity, Inputs, Moment

DOWN = Gravity(np.array([0.0, -9.81, 0.0]))


def interval(body: Body, begin: float, end: float, *forces: Force, **options) -> Inputs:
    """A step with pins where they rest."""
    targets = body.mesh.vertices[body.pins.vertices]
    return Inputs(Moment(begin, targets, forces), Moment(end, targets, forces), **options)


def simulate(solver: FullSolver, state: FullState, h: float, steps: int, *forces: Force):
    """States and reports of a run with constant forces."""
    states: list[FullState] = [state]
    reports: list[Report] = []
    for k in range(steps):
        time = state.time + h * k
        new, report = solver.step(states[-1], interval(solver.body, time, time + h, *forces))
        states.append(new)
        reports.append(report)
    return states, reports


def total_energy(body: Body, state: FullState) -> float:
    """Kinetic and elastic energy [J]."""
    return 0.5 * float(body.mass @ (state.v**2).sum(axis=1)) + body.energy(state.x)
