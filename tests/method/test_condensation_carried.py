"""Condensation of bodies whose pins move: any region goes along with them as in full space."""

import numpy as np
import pytest
from condensation_helpers import Fixed, sparse_model, tip
from helpers import DOWN
from reduced_helpers import beam, complete_model, modal_model

from supple.elastic import Damping
from supple.method import CondensationSolver, FullSolver, ReducedSolver
from supple.method.condensation.region import Ground
from supple.solve import Inputs, Moment, SetStiffness

H, STEPS = 0.01, 7


def play(solver, body) -> list[np.ndarray]:
    """Positions of a run whose clamp stands, then travels and turns."""
    held = body.mesh.vertices[body.pins.vertices]
    moments = []
    for k in range(STEPS + 1):
        angle = 0.05 * max(k - 1, 0)
        turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
        moments.append(Moment(H * k, held @ turn.T + np.array([0.0, 0.2 * angle, 0.1 * angle]), (DOWN,)))
    state, found = solver.start(Inputs(moments[0], moments[1])), []
    for k in range(STEPS):
        events = (SetStiffness(0.8),) if k == 3 else ()
        state, _ = solver.step(state, Inputs(moments[k], moments[k + 1], events))
        found.append(solver.positions(state))
    return found


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_empty_region_is_the_reduced_solver(integrator: str) -> None:
    body = beam(damping=Damping(mass=1.0))
    model = sparse_model(body)
    solver = CondensationSolver(body, model, oracle=Fixed([]), integrator=integrator)
    reduced = ReducedSolver(body, model, integrator=integrator)
    np.testing.assert_array_equal(play(solver, body)[-1], play(reduced, body)[-1])


@pytest.mark.parametrize("damping", [Damping(mass=1.0), Damping(stiffness=0.005)])
@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_with_a_complete_basis_any_region_is_the_full_solver(integrator: str, damping: Damping) -> None:
    """Regions come and go, one of them all of the body, while the clamp moves."""
    body = beam(damping=damping)
    ground = Ground(body, modal_model(body, 1).basis)
    regions = [tip(ground, n) for n in (0, 4, 9, 3, ground.most, 14, 2)]
    settings = {"integrator": integrator, "tolerance": 1e-6}
    solver = CondensationSolver(body, complete_model(body), oracle=Fixed(*regions), **settings)
    ones, others = play(solver, body), play(FullSolver(body, **settings), body)
    way = np.abs(others[-1] - body.mesh.vertices).max()
    off = [np.abs(one - other).max() / way for one, other in zip(ones, others, strict=True)]
    assert max(off) < 1e-4, off
