"""Responses to even pushes about shapes: each in balance with its push, orthonormal beside a basis."""

import numpy as np
import pytest

from supple.elastic import Body, Pins, elastic_gradient
from supple.material import StVK
from supple.mesh import fill_box
from supple.subspace import Basis, RestStiffness
from supple.subspace.responses import even_responses, extend


@pytest.fixture(scope="module")
def body() -> Body:
    mesh = fill_box((0.0, 0.0, 0.0), (0.6, 0.1, 0.1), resolution=6)
    pins = Pins.of(np.flatnonzero(mesh.vertices[:, 0] < 1e-9))
    return Body.build(mesh, StVK(young=1e4, poisson=0.3, density=500.0), pins)


def bend(body: Body, angle: float) -> np.ndarray:
    """Displacements of a beam bent to an arc, and stretched so that it is pressed nowhere."""
    x, y, z = body.mesh.vertices.T
    turn, radius = angle * x / 0.6, 0.72 / angle
    return np.stack([(radius - y) * np.sin(turn) - x, radius - (radius - y) * np.cos(turn) - y, 0.0 * z], axis=1)


def test_a_response_is_in_balance_with_its_push_about_a_bent_shape(body):
    u = bend(body, 0.5)
    columns = even_responses(body, u)
    assert columns.shape == (3 * len(body.mass), 3)
    about = RestStiffness(body, body.mesh.vertices + u)
    for axis, column in zip(np.eye(3), columns.T, strict=True):
        step = 1e-6 * column.reshape(-1, 3) / np.abs(column).max()
        change = [elastic_gradient(body.parts, about.x + s * step) for s in (1.0, -1.0)]
        force = (change[0] - change[1])[about.map.free] / 2e-6 * np.abs(column).max()
        push = body.mass[about.map.free][:, None] * axis
        assert np.abs(force - push).max() < 1e-5 * np.abs(push).max()


def test_shapes_that_give_way_by_themselves_have_none(body):
    pressed = body.mesh.vertices * [-0.4, 0.0, 0.0]
    assert even_responses(body, pressed).shape[1] == 0


def test_a_basis_is_extended_by_what_is_new_and_no_further_than_asked(body):
    rng = np.random.default_rng(0)
    metric = np.repeat(body.mass, 3)
    raw = rng.standard_normal((len(metric), 4))
    first = np.linalg.qr(np.sqrt(metric)[:, None] * raw)[0] / np.sqrt(metric)[:, None]
    basis = Basis(first, body.mass, "random", np.ones(4))
    columns = np.column_stack([first @ rng.standard_normal(4), 1e3 * rng.standard_normal((len(metric), 2))])
    wider = extend(basis, columns, 10)
    assert wider.rank == 6
    assert np.abs(wider.columns.T @ (metric[:, None] * wider.columns) - np.eye(6)).max() < 1e-12
    assert np.array_equal(wider.columns[:, :4], first)
    left = columns - wider.columns @ (wider.columns.T @ (metric[:, None] * columns))
    assert np.abs(left).max() < 1e-9 * np.abs(columns).max()
    assert extend(basis, columns, 5).rank == 5
    assert extend(basis, columns[:, :1], 10) is basis
