"""Local and global steps go on until they are near their minimum, and say how near."""

import numpy as np
import pytest

from supple.constraint import ProjectiveBody
from supple.elastic import Body, Damping, Pins
from supple.errors import SceneError
from supple.material import Corotational
from supple.method import FullSolver, HyperReducedSolver, ProjectiveSolver, SpaceSizes, prepare_spaces
from supple.method.hyperreduced import solver as hyperreduced
from supple.method.projective.objective import StepObjective
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment

DOWN = (Gravity(np.array([0.0, -9.81, 0.0])),)
H = 0.01


@pytest.fixture(scope="module")
def body() -> ProjectiveBody:
    """A beam of 1 MPa that is held at one end."""
    mesh = make_shape("beam", elements=300)
    held = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    return ProjectiveBody.from_body(Body.build(mesh, Corotational(young=1e6, poisson=0.45), held))


def step_inputs(solver, k: int, h: float = H) -> Inputs:
    targets = solver.body.vertices[solver.body.pins.vertices]
    return Inputs(*(Moment(h * j, targets, DOWN) for j in (k, k + 1)))


def swing(solver, steps: int = 40):
    """Displacements of a body that is let go, (steps, n, 3), and reports."""
    state, moved, reports = solver.start(), [], []
    for k in range(steps):
        state, report = solver.step(state, step_inputs(solver, k))
        moved.append(solver.positions(state) - solver.body.vertices)
        reports.append(report)
    return np.array(moved), reports


def distance(moved, exact) -> float:
    return float(np.linalg.norm(moved - exact) / np.linalg.norm(exact))


@pytest.fixture(scope="module", params=["projective", "clusters", "fit"])
def make(request, body):
    if request.param == "projective":
        return lambda **settings: ProjectiveSolver(body, **settings)
    model = prepare_spaces(
        body, SpaceSizes(handles=20, clusters=60, functions=10, samples=200, projection=request.param)
    )
    return lambda **settings: HyperReducedSolver(body, model, **settings)


def test_steps_converge_by_default_and_say_so_where_they_do_not(make):
    exact, _ = swing(make(convergence=1e-4, max_iterations=2000))
    usual, reports = swing(make())
    assert distance(usual, exact) < 0.02
    assert all(report.converged == (report.change <= 0.02) for report in reports)
    assert all(report.converged or report.local_global_iterations == 200 for report in reports)
    assert all(10 <= report.local_global_iterations <= 200 and report.newton_iterations == 0 for report in reports)
    few, reports = swing(make(convergence=0.0))
    assert distance(few, exact) > 0.08
    assert {report.local_global_iterations for report in reports} == {10}
    assert np.median([report.change for report in reports]) > 0.05
    assert np.mean([report.converged for report in reports]) < 0.2


def test_the_change_is_the_share_of_its_way_that_a_step_has_left(body):
    moving = ProjectiveSolver(body, convergence=1e-6, max_iterations=3000)
    state, ratios = moving.start(), []
    for k in range(12):
        inputs = step_inputs(moving, k)
        exact, _ = moving.step(state, inputs)
        goal = moving._objective(state, inputs)[1][moving._number]
        for settings in ({"iterations": 40, "convergence": 0.0}, {"convergence": 0.05, "history": 0}):
            found, report = ProjectiveSolver(body, **settings).step(state, inputs)
            left = np.abs(found.x - exact.x).max() / np.abs(exact.x - goal).max()
            ratios.append(report.change / left)
        state = exact
    assert 0.5 < np.median(ratios) < 2.0
    assert min(ratios) > 0.2


def test_a_body_at_rest_converges_at_once(make):
    solver = make()
    targets = solver.body.vertices[solver.body.pins.vertices]
    state = solver.start()
    for k in range(3):
        state, report = solver.step(state, Inputs(*(Moment(H * j, targets) for j in (k, k + 1))))
        assert report.converged
        assert report.local_global_iterations <= 10


def test_most_iterations_end_a_step_that_is_not_converged(make):
    solver = make(iterations=3, max_iterations=5)
    _, report = solver.step(solver.start(), step_inputs(solver, 0))
    assert report.local_global_iterations == 5
    assert not report.converged


def test_equal_steps_at_summed_times_factorise_once(body, monkeypatch):
    made = []
    original = hyperreduced.HyperReducedSystem

    def counted(*given):
        made.append(given[2])
        return original(*given)

    monkeypatch.setattr(hyperreduced, "HyperReducedSystem", counted)
    model = prepare_spaces(body, SpaceSizes(handles=5, clusters=10))
    rate = 48.0 * 3
    solver = HyperReducedSolver(body, model, time_step=1.0 / rate)
    targets = body.vertices[body.pins.vertices]
    lengths = set()
    for k in range(400):
        inputs = Inputs(*(Moment(j / rate, targets, DOWN) for j in (k, k + 1)))
        lengths.add(inputs.duration)
        solver.system(inputs.duration, solver.start().live)
    assert len(lengths) > 5
    assert len(made) == 1


def test_fixed_iterations_evaluate_no_more_than_they_did(body, monkeypatch):
    calls = []
    evaluate = StepObjective.evaluate
    monkeypatch.setattr(StepObjective, "evaluate", lambda self, x: calls.append(1) or evaluate(self, x))
    solver = ProjectiveSolver(body, convergence=0.0)
    solver.step(solver.start(), step_inputs(solver, 0))
    assert len(calls) == 10


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"iterations": 0}, "iterations = 0"),
        ({"convergence": -0.1}, "convergence = -0.1 must lie between 0 and 1"),
        ({"convergence": float("nan")}, "convergence = nan"),
        ({"iterations": 20, "max_iterations": 5}, "max_iterations = 5 is below iterations = 20"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, settings, said):
    with pytest.raises(SceneError, match=said):
        make(**settings)


@pytest.mark.parametrize("stiffness", [0.002, 0.02])
def test_stiffness_damping_is_that_of_the_full_solver_also_where_elements_turn(stiffness):
    mesh = make_shape("beam", elements=300)
    held = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    body = Body.build(mesh, Corotational(young=1e6, poisson=0.45), held, Damping(stiffness=stiffness))
    full, solver = FullSolver(body), ProjectiveSolver(ProjectiveBody.from_body(body))
    exact, state, gaps, ways = full.start(), solver.start(), [], []
    for k in range(40):
        inputs = step_inputs(solver, k)
        (exact, _), (state, _) = full.step(exact, inputs), solver.step(state, inputs)
        gaps.append(state.x - exact.x)
        ways.append(exact.x - mesh.vertices)
    assert np.abs(ways).max() > 0.2  # the beam bends far
    assert np.linalg.norm(gaps) < 0.02 * np.linalg.norm(ways)


def test_stiffness_damping_leaves_spin_and_takes_wobble():
    mesh = make_shape("beam", elements=300)
    X, spins = mesh.vertices, []
    for stiffness in (0.0, 0.02):
        body = Body.build(mesh, Corotational(young=1e5, poisson=0.4), None, Damping(stiffness=stiffness))
        solver = ProjectiveSolver(ProjectiveBody.from_body(body), convergence=1e-3)
        wobble = np.zeros_like(X)
        wobble[:, 1] = 2.0 * np.cos(2.0 * np.pi * X[:, 0])
        v = np.cross([0.0, 0.0, 2.0], X - body.mass @ X / body.mass.sum()) + wobble
        state, energies = solver.from_full(X, v, np.zeros_like(X)), []
        for k in range(60):
            state, _ = solver.step(state, Inputs(*(Moment(H * j, np.zeros((0, 3))) for j in (k, k + 1))))
            energies.append(0.5 * float(body.mass @ (state.v**2).sum(axis=1)) + body.energy(state.x))
        assert (np.diff(energies) < 1e-6 * energies[0]).all()
        arms = state.x - body.mass @ state.x / body.mass.sum()
        spins.append(float(body.mass @ np.cross(arms, state.v)[:, 2]))
    assert spins[1] == pytest.approx(spins[0], rel=0.02)
