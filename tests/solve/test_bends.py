"""Statics by conjugate gradients: the answers of a direct solver, and the way out of saddles."""

from itertools import pairwise
from typing import Any

import numba
import numpy as np
import pytest

from supple.contact import ContactSettings, Sphere
from supple.elastic import Body, Pins
from supple.material import StableNeoHookean
from supple.mesh.grid import fill_box
from supple.method import FullSolver, Report
from supple.solve import Gravity, Inputs, Moment, Placement

SIZE = 0.1


def make_pad() -> Body:
    """A pad that its ground holds."""
    mesh = fill_box((0.0, 0.0, 0.0), (SIZE, 0.4 * SIZE, SIZE), elements=4000)
    return Body.build(mesh, StableNeoHookean(young=1e4, poisson=0.4), Pins.of(np.flatnonzero(mesh.vertices[:, 1] == 0)))


def press(body: Body, name: str, friction: float = 0.0) -> tuple[np.ndarray, Report]:
    """A ball pressed into the pad, then dragged along."""
    ball = Sphere(0.03)
    solver = FullSolver(
        body, integrator="static", linear_solver=name, tolerance=1e-6, colliders=[ball],
        contact=ContactSettings(friction=friction, self_contact=False),
    )  # fmt: skip
    held, load = body.mesh.vertices[body.pins.vertices], (Gravity(np.array([0.0, -9.81, 0.0])),)

    def moment(time: float, place: tuple[float, float, float]) -> Moment:
        return Moment(time, held, load, (Placement(np.eye(3), np.array(place)),))

    way = [(0.05, 0.08, 0.05), (0.05, 0.062, 0.05), (0.055, 0.06, 0.05)]
    moments = [moment(float(k), place) for k, place in enumerate(way)]
    state = solver.start(Inputs(moments[0], moments[1]))
    for begin, end in pairwise(moments):
        state, report = solver.step(state, Inputs(begin, end))
    return state.x, report


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_conjugate_gradients_settle_where_a_direct_solver_does(friction: float) -> None:
    body = make_pad()
    (expected, told), (x, report) = (press(body, name, friction) for name in ("direct", "pcg"))
    assert report.contacts == told.contacts > 10
    assert report.contact_settled
    assert report.residual <= 1e-6
    way = np.abs(expected - body.mesh.vertices).max()
    assert way > 0.05 * SIZE
    assert np.abs(x - expected).max() < 1e-3 * way


def test_the_same_bytes_come_from_every_run_and_any_number_of_threads() -> None:
    body, threads, found = make_pad(), numba.get_num_threads(), []
    try:
        for count in (1, numba.config.NUMBA_NUM_THREADS, 1):
            numba.set_num_threads(count)
            found.append(press(body, "pcg")[0].tobytes())
    finally:
        numba.set_num_threads(threads)
    assert found[0] == found[1] == found[2]


def squeeze(name: str) -> tuple[Body, np.ndarray, Report]:
    """A slender column, pressed together by a tenth along its axis, and pushed aside by next to nothing."""
    mesh = fill_box((0.0, 0.0, 0.0), (1.0, 0.06, 0.08), elements=1500)
    x = mesh.vertices[:, 0]
    pins = Pins.of(np.flatnonzero((x == 0.0) | (x == 1.0)))
    body = Body.build(mesh, StableNeoHookean(young=1e4, poisson=0.3), pins)
    solver = FullSolver(body, integrator="static", linear_solver=name, tolerance=1e-6)
    push = (Gravity(np.array([0.0, -1e-6, 0.0])),)
    targets = [mesh.vertices[pins.vertices] * np.array([share, 1.0, 1.0]) for share in (1.0, 0.9)]
    step = Inputs(Moment(0.0, targets[0], push), Moment(1.0, targets[1], push))
    state: Any = solver.start(step)
    state, report = solver.step(state, step)
    return body, state.x, report


def test_a_column_that_buckles_leaves_its_saddle() -> None:
    (body, first, slow), (_, second, quick) = squeeze("direct"), squeeze("pcg")
    aside = [np.abs(x[:, 1] - body.mesh.vertices[:, 1]).max() for x in (first, second)]
    assert min(aside) > 0.1
    assert body.energy(second) <= body.energy(first) * (1.0 + 1e-6)
    assert quick.newton_iterations <= slow.newton_iterations
