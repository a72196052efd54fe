"""Condensation of skinned bodies: between the solver of skinned bodies and the full one, in any region."""

from dataclasses import replace

import numpy as np
import pytest
from condensation_helpers import Fixed, tip
from reduced_helpers import complete_model, modal_model
from rig_helpers import moment, skinned
from test_skinned import MODES, PUSH, H, bend, difference, loose_vertices, rod, run, skin

from supple.contact import ContactSettings
from supple.contact.sphere import Sphere
from supple.elastic import Damping
from supple.method import CondensationSolver, FullSolver
from supple.method.condensation.region import Ground
from supple.method.skinned.solver import SkinnedSolver
from supple.solve import Grab, Inputs, NodalForce, Placement, SetStiffness
from supple.subspace import diagonalise, principal_basis


def finger(mode: str, damping: Damping):
    """46 vertices beside its bones."""
    character, rig, held, body = skinned("finger", 8, mode)
    return character, rig, held, replace(body, damping=damping)


def curl(character, rig, steps: int) -> list[np.ndarray]:
    """Poses from rest to a curled one, with turns and shifts of all joints."""
    target = 0.5 * character.poses["curled"] + np.random.default_rng(1).normal(0.0, 0.02, len(rig.neutral))
    target[:3] *= 0.1
    return [rig.neutral + (k / steps) ** 2 * target for k in range(steps + 1)]


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_empty_region_is_the_skinned_solver(integrator: str) -> None:
    character, rig, held, body = rod(damping=Damping(mass=1.0, stiffness=0.003))
    model = skin(modal_model(body, 8), body)
    settings = {"integrator": integrator, "tolerance": 1e-8}
    solver = CondensationSolver(body, model, rig=rig, oracle=Fixed([]), **settings)
    skinned = SkinnedSolver(body, rig, model, **settings)
    poses = bend(character, rig, 5)
    one, other = (run(s, held, poses, PUSH)[-1] for s in (solver, skinned))
    np.testing.assert_array_equal(solver.positions(one), skinned.positions(other))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_with_a_complete_basis_any_region_is_the_full_solver(mode: str, integrator: str) -> None:
    """Bones bend while regions come and go, one of them all of the body; forces and a grab act everywhere."""
    character, rig, held, body = finger(mode, Damping(mass=1.0))
    model = skin(complete_model(body), body)
    ground, loose = Ground(body, model.basis), loose_vertices(body)
    regions = [tip(ground, n) for n in (1, 9, 3, len(loose), 14, 2, 20)]
    touch = NodalForce(np.array([5, 7], np.int32), np.array([0.3, 0.7]), np.array([0.0, 0.01, 0.005]))
    events = {2: (Grab("g", (9, 11), (0.5, 0.5), (0.02, 0.01, 0.03), 5.0),), 5: (SetStiffness(0.8),)}
    settings = {"integrator": integrator, "tolerance": 1e-7, "rig": rig}
    full, solver = FullSolver(body, **settings), CondensationSolver(body, model, oracle=Fixed(*regions), **settings)
    poses = curl(character, rig, 7)
    ones, others = (run(s, held, poses, PUSH, touch, events=events) for s in (solver, full))
    off = [difference(solver, full, one, other, loose)[0] for one, other in zip(ones[1:], others[1:], strict=True)]
    assert max(off) < 2e-5, off


def test_drag_by_stiffness_equals_that_of_the_full_solver() -> None:
    character, rig, held, body = finger("linear", Damping(stiffness=0.02))
    model = skin(complete_model(body), body)
    ground = Ground(body, model.basis)
    full = FullSolver(body, rig=rig, tolerance=1e-6)
    solver = CondensationSolver(body, model, rig=rig, oracle=Fixed(tip(ground, 12)), tolerance=1e-6)
    found, exact = (run(one, held, curl(character, rig, 8), PUSH)[-1] for one in (solver, full))
    assert difference(solver, full, found, exact, loose_vertices(body))[0] < 1e-4


@pytest.mark.parametrize("integrator", ["static", "implicit_euler"])
def test_a_ball_that_bones_bend_flesh_against_is_met_in_full_space(integrator: str, recwarn) -> None:
    """A subspace of bends locks against it; with a patch about what touches the error is a tenth of that."""
    character, rig, held, body = rod(resolution=10)
    place = Placement(np.eye(3), np.array([-0.0145, 0.297, 0.0]))
    touching = {"integrator": integrator, "colliders": (Sphere(0.1),), "contact": ContactSettings(self_contact=False)}
    poses = [k / 6 * 0.5 * character.poses["bent"] for k in range(7)]
    full = FullSolver(body, rig=rig, integrator=integrator)
    bends = zip(poses[1:], run(full, held, poses)[1:], strict=True)
    flesh = np.array([rig.pull_back(pose, state.x) - rig.rest for pose, state in bends])
    basis = diagonalise(principal_basis(flesh, body.mass, rank=4), body)
    model = skin(replace(modal_model(body, 1), basis=basis), body)

    def inputs(k: int) -> Inputs:
        ends = (replace(moment(H * j, held, poses[j]), colliders=(place,)) for j in (k, k + 1))
        return Inputs(*ends)

    solvers = {
        "full": FullSolver(body, rig=rig, **touching),
        "alone": SkinnedSolver(body, rig, model, **touching),
        "condensed": CondensationSolver(body, model, rig=rig, radius=0.25, **touching),
    }
    ends, reports = {}, {}
    for name, solver in solvers.items():
        state = solver.start(inputs(0))
        for k in range(6):
            state, reports[name] = solver.step(state, inputs(k))
        ends[name] = solver.positions(state)
    exact = ends.pop("full")
    off = {name: np.linalg.norm(x - exact, axis=1).max() for name, x in ends.items()}
    assert reports["full"].contacts > 0
    assert 0.0 < reports["condensed"].full_share < 0.9
    assert reports["condensed"].linear_iterations > 0
    assert off["condensed"] < 0.1 * off["alone"]
