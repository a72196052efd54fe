"""The hyper-reduced solver over rotation clusters."""

from dataclasses import replace

import numpy as np
import pytest
from projective_helpers import bar, reference_step, span
from scipy.spatial.transform import Rotation

from supple.constraint import TetVolume, tet_stencils
from supple.contact import ContactSettings, Plane
from supple.elastic import Pins
from supple.errors import SceneError
from supple.mesh import TetMesh
from supple.mesh.farthest import spread_points
from supple.mesh.geodesic import Geodesics
from supple.method import HyperReducedSolver, ProjectiveSolver, SpaceSizes, prepare_spaces
from supple.method.choose_spaces import choose_spaces
from supple.method.hyperreduced.model import HyperReducedModel
from supple.solve import Gravity, Inputs, Moment, SetStiffness, SetVolume
from supple.solve.placement import Placement
from supple.subspace.rotation_clusters import cluster_projections
from supple.subspace.skinning_space import skinning_space

FEW = SpaceSizes(handles=8, radius=1.5, clusters=20)  # few enough to iterate without positions
DOWN = np.array([0.0, 0.0, -9.81])


def bent(body) -> np.ndarray:
    x = body.vertices
    c, s = np.cos(x[:, 0]), np.sin(x[:, 0])
    y, z = x[:, 1] - 0.125, x[:, 2] - 0.125
    return np.stack([x[:, 0], c * y - s * z, s * y + c * z + 0.2 * x[:, 0] ** 2], 1)


def let_go(solver, steps: int, x=None, v=None, force=None, **rest):
    x = bent(solver.body) if x is None else x
    state = solver.from_full(x, np.zeros_like(x) if v is None else v, np.zeros_like(x))
    loads = () if force is None else (Gravity(force),)
    for k in range(steps):
        state, _ = solver.step(state, span(k, 0.01, loads, **rest))
    return state


@pytest.mark.parametrize("strained", [0.2, 1.0])
def test_an_element_a_cluster_is_projective_dynamics_in_the_subspace(strained: float) -> None:
    body = bar(4)
    graph = Geodesics.along(body.vertices, body.cells)
    space = skinning_space(graph, body.mass, spread_points(graph, 5), 5, multiplier=1.5)
    each = np.arange(len(body.cells))
    model = HyperReducedModel.build(
        space, (cluster_projections(body.constraints[0], space, body.vertices, each, strained),)
    )
    solver = HyperReducedSolver(body, model, iterations=5, convergence=0.0, precision="double")
    x = space.lift(space.project(bent(body)))
    state, v, push = solver.from_full(x, 0 * x, 0 * x), 0 * x, body.mass[:, None] * DOWN
    for k in range(3):
        state, _ = solver.step(state, span(k, 0.01, (Gravity(DOWN),)))
        x, v = reference_step(body, x, v, 0.01, push, 5, space)
    np.testing.assert_allclose(solver.positions(state), x, rtol=0, atol=1e-9)


@pytest.mark.parametrize("axes", ["", "xyz", "z"])
def test_iterations_with_and_without_positions_agree(monkeypatch, axes: str) -> None:
    ends = np.flatnonzero(bar().vertices[:, 0] == 0.0)
    body = bar(pins=Pins.of(ends, axes) if axes else None)
    targets = body.vertices[body.pins.vertices]
    floor, found = Plane((0.0, 0.0, 1.0)), []
    here = (Placement.still(),)
    for most in (1e9, 0.0):
        monkeypatch.setattr("supple.method.hyperreduced.model._DENSE", most)
        model = prepare_spaces(body, FEW)
        assert (model.alone is None) == (most == 0.0)
        solver = HyperReducedSolver(
            body, model, precision="double", colliders=(floor,), contact=ContactSettings(restitution=0.3)
        )
        x = bent(body) + [0.0, 0.0, 0.15]
        state, touched = solver.from_full(x, np.zeros_like(x) - [0, 0, 2.0], np.zeros_like(x)), 0
        for k in range(12):
            events = (SetStiffness(2.0),) if k == 5 else ()
            begin, end = (Moment(0.01 * time, targets, (Gravity(DOWN),), here) for time in (k, k + 1))
            state, report = solver.step(state, Inputs(begin, end, events))
            touched += report.contacts
        assert touched > 0
        found.append(solver.positions(state))
    np.testing.assert_allclose(found[0], found[1], rtol=0, atol=2e-5)  # contact works in single precision


def test_the_objective_falls_in_every_iteration() -> None:
    body, h = bar(), 0.02
    model = prepare_spaces(body, FEW)
    assert model.alone is not None
    values = []
    for iterations in range(1, 9):
        settings = {"time_step": h, "iterations": iterations, "convergence": 0.0, "precision": "double"}
        solver = HyperReducedSolver(body, model, **settings)
        state = solver.from_full(bent(body), 0 * body.vertices, 0 * body.vertices)
        begin, (after, _) = state.q, solver.step(state, span(0, h))
        values.append(objective(model, after.q, begin, h))
    assert (np.diff(values) < 0.0).all()


def objective(model, q, s, h: float) -> float:
    """1/2 |q - s|² in the masses over h² + the clusters' energy, its second sum being what A has beyond ḠᵀΛḠ."""
    clusters, gap = model.alone, q - s
    few = clusters.constraint
    G = clusters.seen.matrix(len(q))
    means = np.asarray(G @ q).reshape(-1, 3, 3)
    inertia = 0.5 * np.vdot(gap, model.mass @ gap) / h**2
    fluctuation = 0.5 * np.vdot(q, clusters.stiffness @ q) - 0.5 * few.weight @ np.einsum("epi->e", means**2)
    return inertia + fluctuation + 0.5 * few.weight @ few.distances(means)


def test_a_turned_body_moves_as_the_body_turned() -> None:
    body = bar()
    solver = HyperReducedSolver(body, prepare_spaces(body, FEW), precision="double")
    turn = Rotation.from_rotvec([1.0, 2.0, -0.5]).as_matrix()
    v = np.random.default_rng(0).normal(size=body.vertices.shape)
    one = solver.positions(let_go(solver, 10, v=v, force=DOWN))
    two = solver.positions(let_go(solver, 10, bent(body) @ turn, v @ turn, DOWN @ turn))
    np.testing.assert_allclose(two, one @ turn, rtol=0, atol=1e-11)


def test_momentum_is_kept_as_the_unreduced_solver_keeps_it() -> None:
    body = bar(8)
    v = np.cross([3.0, 1.0, 2.0], body.vertices - body.vertices.mean(axis=0)) + [1.0, 0.0, 4.0]
    lost = []
    for make in (ProjectiveSolver, lambda body: HyperReducedSolver(body, prepare_spaces(body, FEW))):
        solver = make(body)
        spins, pushes = [], []
        for steps in (0, 20):
            x, speed, _ = solver.to_full(let_go(solver, steps, v=v))
            spins.append(body.mass @ np.cross(x - body.mass @ x / body.mass.sum(), speed))
            pushes.append(body.mass @ speed)
        np.testing.assert_allclose(pushes[1], pushes[0], rtol=0, atol=1e-11)
        lost.append(np.linalg.norm(spins[1] - spins[0]) / np.linalg.norm(spins[0]))
    assert lost[1] < 1.2 * lost[0] < 0.1


def test_a_released_bar_moves_like_the_unreduced_one() -> None:
    body = bar(24)
    sizes = SpaceSizes(handles=60, clusters=200)
    clusters, fit = (choose_spaces(body, 0.99, sizes=replace(sizes, projection=kind)) for kind in ("clusters", "fit"))
    assert clusters.error < 0.05
    assert clusters.error < 0.2 * fit.error
    assert "200 clusters" in clusters.describe()
    body = bar(4)
    every = choose_spaces(body, 0.99, sizes=SpaceSizes(handles=10_000, clusters=10_000))
    assert every.error < 1e-4  # single precision


def test_a_target_volume_is_reached_by_clusters_alone() -> None:
    body = bar()
    mesh = TetMesh.clean(body.vertices, body.cells)
    body = replace(body, constraints=(TetVolume.build(tet_stencils(mesh), 1e5),))
    solver = HyperReducedSolver(body, prepare_spaces(body, FEW))
    state = let_go(solver, 1, body.vertices, events=(SetVolume(1.3),))
    for k in range(60):
        state, _ = solver.step(state, span(k, 0.01))
    grown = TetMesh.clean(solver.positions(state), body.cells).volumes().sum() / mesh.volumes().sum()
    assert grown == pytest.approx(1.3, rel=0.05)


def test_nonsense_is_named_and_what_was_chosen_is_told() -> None:
    with pytest.raises(SceneError, match="clusters = 0"):
        SpaceSizes(clusters=0)
    body = bar()
    assert "in 20 clusters" in HyperReducedSolver(body, prepare_spaces(body, FEW)).describe()[1]
