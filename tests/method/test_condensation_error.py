"""The oracle that finds where full space is missing by the balance of forces alone."""

import numpy as np
import pytest
from test_condensation_contact import bar

from supple.method import FullSolver
from supple.method.condensation.solver import CondensationSolver
from supple.method.reduced.solver import ReducedSolver
from supple.solve import Inputs, Moment, NodalForce


def squeeze() -> NodalForce:
    """A hard push on a few vertices of the upper side, and the same from below: no contact, and no single point."""
    rest = bar()[0].mesh.vertices
    near = (np.hypot(rest[:, 0] - 0.1, rest[:, 2]) < 0.08) & (np.abs(rest[:, 1]) > 0.0999)
    vertices, side = np.flatnonzero(near).astype(np.int32), np.sign(rest[near, 1])
    assert len(vertices) > 8
    return NodalForce(vertices, side, np.array([0.0, -150.0, 0.0]))


def run(solver, steps: int, *forces) -> tuple[np.ndarray, list]:
    body = solver.body
    held, state, reports = body.mesh.vertices[body.pins.vertices], solver.start(), []
    for k in range(steps):
        state, report = solver.step(state, Inputs(*(Moment(0.01 * j, held, forces) for j in (k, k + 1))))
        reports.append(report)
    return solver.to_full(state)[0], reports


@pytest.mark.parametrize(("integrator", "steps"), [("static", 1), ("implicit_euler", 6)])
def test_a_novel_load_that_no_contact_announces_is_found(integrator: str, steps: int) -> None:
    body, model = bar()
    load, settings = squeeze(), {"integrator": integrator}
    exact = run(FullSolver(body, **settings), steps, load)[0]
    reduced = run(ReducedSolver(body, model, **settings), steps, load)[0]
    errors, shares = [], []
    for accuracy in (0.2, 0.02):
        solver = CondensationSolver(body, model, oracle="error", accuracy=accuracy, **settings)
        x, reports = run(solver, steps, load)
        errors.append(np.abs(x - exact)[load.vertices].max())
        shares.append(reports[-1].full_share)
    before = np.abs(reduced - exact)[load.vertices].max()
    assert errors[0] < 0.7 * before
    assert errors[1] < 0.1 * before
    assert errors[1] < 0.02 * np.abs(exact - body.mesh.vertices).max()
    assert 0.0 < shares[0] < shares[1] < 1.0


def test_a_load_that_the_subspace_knows_needs_no_full_space() -> None:
    """Bending by a pull at the whole tip."""
    body, model = bar()
    rest = body.mesh.vertices
    tip = np.flatnonzero(rest[:, 0] > 0.499).astype(np.int32)
    pull = NodalForce(tip, np.full(len(tip), 1.0 / len(tip)), np.array([0.0, -20.0, 0.0]))
    solver = CondensationSolver(body, model, oracle="error", accuracy=0.1)
    reports = run(solver, 8, pull)[1]
    assert {report.kind for report in reports} == {"reduced"}
