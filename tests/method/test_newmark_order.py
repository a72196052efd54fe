"""Newmark's method is of second order whatever carries the body: bones or pins that accelerate, damped or not."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from articulated_helpers import cut, exact_model
from reduced_helpers import FAR, beam, modal_model, turn
from reduced_helpers import run as run_pinned
from rig_helpers import moment, skinned

from supple.cubature import Rule
from supple.elastic import Body, Damping
from supple.material import StableNeoHookean
from supple.method import ArticulatedSolver, FullSolver, ReducedSolver
from supple.method.skinned.model import SkinnedModel
from supple.method.skinned.solver import SkinnedSolver
from supple.method.solver import Solver
from supple.rig import SkinnedRig
from supple.solve import Gravity, Inputs
from supple.subspace import DomainBases, Interface

PUSH = Gravity(np.array([1.0, -9.81, 2.0]))
COUNTS = (20, 40, 80, 160, 320)  # four halvings
DAMPED, UNDAMPED = Damping(mass=1.0, stiffness=0.02), Damping()


def observe(ends: list[np.ndarray]) -> float:
    """The order that the last differences between runs with more and more steps tell."""
    errors = [np.abs(a - b).max() for a, b in pairwise(ends)]
    assert errors[-1] < errors[0] / 40
    return float(np.log2(errors[-2] / errors[-1]))


def make_skinned(body: Body, rig: SkinnedRig) -> Solver:
    modes = modal_model(body, 10)
    everyone = Rule(np.arange(len(body.mass)), np.ones(len(body.mass)), 0.0)
    model = SkinnedModel(modes.basis, modes.rule, everyone, FAR)
    return SkinnedSolver(body, rig, model, integrator="newmark", tolerance=1e-9)


def make_domains(body: Body, rig: SkinnedRig) -> Solver:
    domains = cut(body, rig)
    tied = Interface.of(domains)
    bases = DomainBases.cut(domains, modal_model(body, 4).basis, np.eye(4)).diagonalised(tied)
    return ArticulatedSolver(body, rig, exact_model(bases, tied), integrator="newmark", tolerance=1e-9)


def make_full(body: Body, rig: SkinnedRig) -> Solver:
    return FullSolver(body, rig=rig, integrator="newmark", tolerance=1e-9)


# Not the undamped body in full space: modes of a millisecond ring on, and it takes far smaller steps to see its order.
# Not a damped one that begins with a velocity: it begins with an acceleration that knows nothing of damping.
@pytest.mark.parametrize(
    ("make", "damping", "moves"),
    [(make_full, DAMPED, False), (make_skinned, DAMPED, False), (make_skinned, UNDAMPED, False)]
    + [(make_skinned, UNDAMPED, True), (make_domains, DAMPED, False)],
)
def test_body_that_bones_bend(make, damping: Damping, moves: bool) -> None:
    character, rig, held, body = skinned("capsule", 8)
    body = replace(body, damping=damping)
    target = 0.5 * character.poses["bent"] + np.random.default_rng(1).normal(0.0, 0.1, len(rig.neutral))

    def pose(time: float) -> np.ndarray:
        return rig.neutral + (np.sin(5.0 * time + 0.3) if moves else np.sin(6.0 * time) ** 2) * target

    def end(steps: int) -> np.ndarray:
        h, solver = 0.2 / steps, make(body, rig)
        moments = [moment(h * k, held, pose(h * k), PUSH) for k in range(steps + 1)]
        state = solver.start(Inputs(moments[0], moments[1]))
        if moves:
            x, _, a = solver.to_full(state)
            v = (rig.positions(pose(1e-5)) - rig.positions(pose(-1e-5))) / 2e-5
            state = solver.from_full(x, v, a, pose=pose(0.0))
        for ends in pairwise(moments):
            state, _ = solver.step(state, Inputs(*ends))
        return solver.positions(state)

    finer = 2 if make is make_domains else 1  # springs between domains are fast
    assert abs(observe([end(finer * steps) for steps in COUNTS]) - 2) < 0.1


@pytest.mark.parametrize("damping", [DAMPED, UNDAMPED])
@pytest.mark.parametrize("method", ["full", "reduced"])
def test_body_whose_pins_travel_and_turn(method: str, damping: Damping) -> None:
    body = beam(material=StableNeoHookean(young=2e4), damping=damping)
    rest = body.mesh.vertices[body.pins.vertices]
    centre = rest.mean(axis=0)

    def targets(time: float) -> np.ndarray:
        turned = (rest - centre) @ turn(2, 0.5 - 0.5 * np.cos(8.0 * time)).T + centre
        return turned + np.array([0.1, 0.3, 0.0]) * np.sin(7.0 * time) ** 2

    settings = {"integrator": "newmark", "tolerance": 1e-9}
    model = modal_model(body, 8)
    ends = []
    for steps in COUNTS:
        solver = FullSolver(body, **settings) if method == "full" else ReducedSolver(body, model, **settings)
        ends.append(solver.positions(run_pinned(solver, 0.2 / steps, steps, targets=targets)[-1]))
    assert abs(observe(ends) - 2) < 0.1
