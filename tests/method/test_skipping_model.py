"""A learned subspace: with every coordinate and every element its steps are those of full space, damping and all."""

import numpy as np
import pytest
from helpers import DOWN

from supple.cubature import Rule
from supple.elastic import Body, Damping, Pins
from supple.material import StVK
from supple.mesh import fill_box
from supple.method import FullSolver
from supple.method.skipping.model import Learned, LearnedModel
from supple.solve import Inputs, Moment
from supple.solve.forces import external_force
from supple.subspace import Basis, linear_modes

H = 0.01


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_with_a_complete_basis_a_damped_step_is_the_full_one(integrator):
    mesh = fill_box((0.0, 0.0, 0.0), (0.3, 0.1, 0.1), resolution=3)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StVK(young=1e4, poisson=0.3, density=500.0), pins, Damping(0.3, 5e-3))
    solver = FullSolver(body, integrator=integrator, tolerance=1e-10)
    targets = mesh.vertices[pins.vertices]

    def inputs(k: int) -> Inputs:
        begin, end = (Moment(H * j, targets, (DOWN,)) for j in (k, k + 1))
        return Inputs(begin, end)

    state = solver.start(inputs(0))
    for k in range(8):
        state, _ = solver.step(state, inputs(k))
    free = np.setdiff1d(np.arange(len(mesh.vertices)), pins.vertices)
    columns = np.zeros((3 * len(mesh.vertices), 3 * len(free)))
    rows = (3 * free[:, None] + np.arange(3)).ravel()
    columns[rows, np.arange(len(rows))] = 1.0 / np.sqrt(np.repeat(body.mass[free], 3))
    basis = Basis(columns, body.mass, "everything", np.ones(len(rows)))
    rule = Rule(np.arange(len(mesh.tets)), np.ones(len(mesh.tets)), 0.0, trainer="pool")
    model = LearnedModel(body, Learned(basis, rule, np.zeros_like(mesh.vertices), 1.0), integrator, 1e-9)
    motion = model.project(state.x, state.v, state.a)
    end = model.step(motion, external_force((DOWN,), body.mass), H, model.elastic(motion[0]))
    exact, _ = solver.step(state, inputs(8))
    moved = np.abs(exact.x - state.x).max()
    assert np.abs(model.positions(end.motion[0]) - exact.x).max() < 1e-7 * moved


@pytest.mark.parametrize("integrator", ["implicit_euler", "newmark"])
def test_a_step_ends_where_all_elements_have_it_whatever_the_rule_lacks(integrator):
    mesh = fill_box((0.0, 0.0, 0.0), (0.6, 0.1, 0.1), resolution=6)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    body = Body.build(mesh, StVK(young=1e4, poisson=0.3, density=500.0), pins, Damping(0.3, 0.0))
    basis, rng = linear_modes(body, 8), np.random.default_rng(0)
    every = np.arange(len(mesh.tets))
    poor = np.sort(rng.choice(every, len(every) // 2, replace=False))
    load, still = external_force((DOWN,), body.mass), np.zeros_like(mesh.vertices)
    all_elements, ruled = (
        LearnedModel(body, Learned(basis, Rule(who, np.full(len(who), weight), 0.0), still, 1.0), integrator, 1e-9)
        for who, weight in ((every, 1.0), (poor, 2.0))
    )
    assert ruled.is_ruled
    assert not all_elements.is_ruled
    motion = np.zeros((3, 8))
    excess, ends = np.zeros(8), []
    for _ in range(12):
        exact = all_elements.step(motion, load, H, all_elements.elastic(motion[0]))
        alone = ruled.step(motion, load, H, ruled.elastic(motion[0]))
        corrected = ruled.step(motion, load, H, ruled.elastic(motion[0]), excess=excess)
        ends.append([np.abs(end.motion - exact.motion).max(axis=1) for end in (alone, corrected)])
        motion, excess = exact.motion, corrected.excess
    alone, corrected = np.array(ends).max(axis=0)
    assert (corrected < 0.05 * alone).all()
    assert np.abs(excess - ruled.excess(motion[0])).max() < 0.05 * np.abs(excess).max()
