"""Contact of bodies in domains: one domain is the undivided body, stiff springs lead to the full solver."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from articulated_helpers import all_coordinates, cut, every, exact_model
from reduced_helpers import FAR, modal_model
from rig_helpers import moment, skinned

from supple.contact import SelfContact
from supple.contact.settings import ContactSettings
from supple.contact.sphere import Sphere
from supple.elastic import Damping
from supple.method import ArticulatedSolver, FullSolver, SkinnedModel, SkinnedSolver
from supple.method.articulated.model import ArticulatedModel
from supple.method.solver import Report, Solver
from supple.solve import Gravity, Inputs, Placement
from supple.subspace import DomainBases, Domains, Interface

DOWN = Gravity(np.array([1.0, -9.81, 2.0]))
BELOW = (Placement(np.eye(3), np.array([0.45, -0.3, 0.0])),)
ON_A_BALL = {"colliders": (Sphere(0.2),), "contact": ContactSettings(friction=0.4)}
H = 0.02


@cache
def rod() -> tuple:
    """A capsule of two bones: its character, rig, pins and body."""
    character, rig, held, body = skinned("capsule", 8)
    return character, rig, held, replace(body, damping=Damping(mass=1.0))


def run(solver: Solver, name: str, bent: float, places=BELOW, steps: int = 6) -> tuple[list, list[Report]]:
    """States and reports of a run into a share of a pose."""
    character, rig, held, _ = rod()
    poses = [rig.neutral + (k / steps) ** 2 * bent * character.poses[name] for k in range(steps + 1)]
    moments = [replace(moment(H * k, held, pose, DOWN), colliders=places) for k, pose in enumerate(poses)]
    states, reports = [solver.start(Inputs(*moments[:2]))], []
    for k in range(steps):
        state, report = solver.step(states[-1], Inputs(*moments[k : k + 2]))
        states.append(state)
        reports.append(report)
    return states, reports


@pytest.mark.parametrize("integrator", ["static", "implicit_euler", "newmark"])
def test_one_domain_on_a_ball_is_the_undivided_body(integrator: str) -> None:
    _, rig, _, body = rod()
    rule, particles = every(len(body.mesh.tets)), every(len(body.mass))
    whole = SkinnedModel(modal_model(body, 10).basis, rule, particles, FAR)
    one = Domains.of(body, np.zeros(len(body.mesh.tets), int))
    model = ArticulatedModel(DomainBases(one, (whole.basis,)), Interface.of(one), rule, particles, FAR)
    settings = {"integrator": integrator, "tolerance": 1e-10, **ON_A_BALL}
    solvers = ArticulatedSolver(body, rig, model, **settings), SkinnedSolver(body, rig, whole, **settings)
    (found, reports), (expected, others) = (run(solver, "bent", 0.3) for solver in solvers)
    assert max(report.contacts for report in reports) > 0
    assert [report.contacts for report in reports] == [report.contacts for report in others]
    np.testing.assert_allclose(solvers[0].positions(found[-1]), solvers[1].positions(expected[-1]), atol=1e-9)


def test_complete_domains_on_a_ball_come_to_the_full_solver_as_their_springs_stiffen() -> None:
    _, rig, _, body = rod()
    settings = {"tolerance": 1e-8, "colliders": ON_A_BALL["colliders"], "contact": ContactSettings(friction=0.0)}
    full, domains, off = FullSolver(body, rig=rig, **settings), cut(body, rig), []
    states, told = run(full, "bent", 0.3)
    for bond in (100.0, 1000.0):
        solver = ArticulatedSolver(
            body, rig, exact_model(all_coordinates(domains), Interface.of(domains, bond=bond)), **settings
        )
        found, reports = run(solver, "bent", 0.3)
        assert [report.contacts for report in reports] == [report.contacts for report in told]
        off.append(np.abs(solver.positions(found[-1]) - states[-1].x).max() / body.mesh.size())
    assert max(report.contacts for report in told) > 0
    assert off[0] < 1e-3
    assert off[0] / off[1] == pytest.approx(10.0, rel=0.1)  # first order in 1/k, as without contact


def test_a_fold_stops_one_domain_at_the_other() -> None:
    """With all coordinates, for a few low modes cannot be dented: they go where bones take them."""
    _, rig, _, body = rod()
    domains = cut(body, rig)
    model = exact_model(all_coordinates(domains), Interface.of(domains, bond=1000.0))
    depths = []
    for contact in (None, ContactSettings(self_contact=True, friction=0.0)):
        solver = ArticulatedSolver(body, rig, model, contact=contact)
        end = run(solver, "folded", 0.9, (), 12)[0][-1]
        depths.append(float(SelfContact(body.mesh).find(solver.positions(end)).depth.max()))
    assert depths[1] < 0.3 * depths[0]
