"""The full solver comes back from states no animator would wish for, and says why when it cannot go on."""

import numpy as np
import pytest
from helpers import DOWN, interval, simulate

from supple.elastic import Body, Damping, Pins
from supple.errors import ArgumentError, ConvergenceError, SceneError, SuppleWarning
from supple.material import MATERIALS, ArrudaBoyce, Material, StableNeoHookean
from supple.method import FullSolver
from supple.shape import make_shape
from supple.solve import Gravity, Inputs, Moment

INVERTIBLE = ["arruda_boyce", "neo_hookean", "stable_neo_hookean", "stvk"]


def make(name: str) -> Material:
    return ArrudaBoyce() if name == "arruda_boyce" else MATERIALS[name](young=2e4, poisson=0.35)  # type: ignore[call-arg]


def held_box(name: str, resolution: int = 2) -> Body:
    """A box held at its low x side."""
    mesh = make_shape("box", resolution=resolution)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    return Body.build(mesh, make(name), pins, Damping(mass=5.0))


def disorder(body: Body, kind: str) -> np.ndarray:
    """Positions with the free vertices flattened into the held side, mirrored behind it, poked through, or random."""
    rng = np.random.default_rng(0)
    low, high = body.mesh.bounds()
    x = body.mesh.vertices.copy()
    free = np.setdiff1d(np.arange(len(x)), body.pins.vertices)
    if kind == "flattened":
        x[free, 0] = low[0]
    elif kind == "mirrored":
        x[free, 0] = 2 * low[0] - x[free, 0]
    elif kind == "poked":
        top = np.argmax(x[:, 0] + 0.01 * x[:, 1])
        x[top, 0] = low[0] - 0.2
    else:
        x[free] = low + (high - low) * rng.random((len(free), 3))
    x[free] += 1e-6 * rng.normal(size=x[free].shape)
    return x


def check_recovery(body: Body, kind: str, seconds: float = 4.0) -> None:
    x = disorder(body, kind)
    assert body.jacobians(x).min() < 0.01, "nothing to recover from"
    solver, h = FullSolver(body), 0.05
    states, _ = simulate(solver, solver.from_full(x, 0 * x, 0 * x), h, round(seconds / h))
    assert np.abs(states[-1].x - body.mesh.vertices).max() < 0.01 * body.mesh.size()


@pytest.mark.parametrize("kind", ["flattened", "poked"])
@pytest.mark.parametrize("name", [*INVERTIBLE, "corotational"])
def test_every_invertible_material_recovers_from_flat_and_inverted_elements(name: str, kind: str) -> None:
    check_recovery(held_box(name), kind)


@pytest.mark.parametrize("resolution", [2, 4])
@pytest.mark.parametrize("kind", ["mirrored", "random"])
def test_stable_neo_hookean_recovers_from_total_disorder(kind: str, resolution: int) -> None:
    check_recovery(held_box("stable_neo_hookean", resolution), kind)


def test_step_that_fails_is_halved_and_reported() -> None:
    mesh = make_shape("box", resolution=2)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 1] < mesh.bounds()[0][1] + 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e4), pins)
    targets = mesh.vertices[pins.vertices]
    hard = FullSolver(body, max_iterations=2)
    inputs = Inputs(Moment(0.0, targets, (DOWN,)), Moment(0.4, targets + [0.3, 0.2, 0.0], (DOWN,)))
    state, report = hard.step(hard.start(), inputs)
    assert report.halvings > 0
    assert state.time == 0.4
    assert np.array_equal(state.x[pins.vertices], targets + [0.3, 0.2, 0.0])


def test_hopeless_step_names_time_element_term_and_cause() -> None:
    mesh = make_shape("box", resolution=2)
    body = Body.build(mesh, StableNeoHookean(young=1e3))
    solver = FullSolver(body, max_iterations=1, tolerance=1e-12)
    rng = np.random.default_rng(0)
    x = mesh.vertices + 0.3 * rng.normal(size=mesh.vertices.shape)
    with pytest.raises(ConvergenceError, match=r"0 s to .* tet \d+ .*volume ratio.*dominates") as caught:
        solver.step(solver.from_full(x, 0 * x, 0 * x), interval(body, 0.0, 1.0, DOWN))
    assert str(caught.value).count("\n") == 0


def test_forces_that_are_not_finite_stop_the_run() -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean())
    solver = FullSolver(body)
    pull = Gravity(np.zeros(3))
    pull.acceleration[1] = np.nan  # as what overflows on the way
    with pytest.raises(ConvergenceError, match="not finite"):
        solver.step(solver.start(), interval(body, 0.0, 0.01, pull))


def test_static_body_that_nothing_holds_is_refused_with_the_remedy() -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean())
    solver = FullSolver(body, integrator="static")
    with pytest.raises(SceneError, match="add a pin"):
        solver.step(solver.start(), interval(body, 0.0, 1.0, DOWN))


def test_free_static_body_without_load_relaxes() -> None:
    mesh = make_shape("box", resolution=2)
    body = Body.build(mesh, StableNeoHookean())
    solver = FullSolver(body, integrator="static")
    x = mesh.vertices + 0.02 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    state, _ = solver.step(solver.from_full(x, 0 * x, 0 * x), interval(body, 0.0, 1.0))
    assert body.energy(state.x) < 1e-8 * body.energy(x)


@pytest.mark.parametrize(
    ("option", "word"),
    [
        ({"integrator": "rk4"}, "integrator"),
        ({"linear_solver": "magic"}, "linear_solver"),
        ({"tolerance": 0.0}, "tolerance"),
    ],
)
def test_unknown_settings_are_refused(option: dict, word: str) -> None:
    body = Body.build(make_shape("box", resolution=2), StableNeoHookean())
    with pytest.raises((ArgumentError, SceneError), match=word):
        FullSolver(body, **option)


def test_loads_lost_in_round_off_are_admitted_once() -> None:
    mesh = make_shape("beam", resolution=8)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < mesh.bounds()[0][0] + 1e-9))
    body = Body.build(mesh, StableNeoHookean(young=1e17), pins)
    solver = FullSolver(body)
    with pytest.warns(SuppleWarning, match="round-off") as caught:
        simulate(solver, solver.start(), 0.02, 3, DOWN)
    assert len(caught) == 1
